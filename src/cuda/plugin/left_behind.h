// A call of a library that may never return, and that nobody can stop: it is made on a thread of
// its own, which goes on without whoever has waited long enough.
#pragma once

#include <functional>
#include <string>

namespace trainscope::cuda {

// Calls `body` so, and returns once it is over, with nothing. While it is not, `why` is asked every
// few milliseconds: a sentence of it is returned at once, and what it throws is thrown. The thread
// is left behind then: all that the body uses must be its own. The body throws nothing.
std::string leave_behind_when(const std::function<std::string()>& why, std::function<void()> body);

}  // namespace trainscope::cuda
