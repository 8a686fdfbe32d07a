// A call of a library that may never return, and that nobody can stop: it is made on a thread of
// its own, which goes on without whoever has waited long enough.
//
// The process can end while such a thread is in the library, so long as nothing is taken down under
// it: then it ends without what others do at exit, with the code and all that was printed.
#pragma once

#include <functional>
#include <string>

namespace trainscope::cuda {

// Calls `body` so, and returns once it is over, with nothing. While it is not, `why` is asked every
// few milliseconds: a sentence of it is returned at once, and what it throws is thrown, after
// `give_up`. The thread is left behind then: all that the body uses must be its own. The body
// throws nothing.
std::string leave_behind_when(const std::function<std::string()>& why, std::function<void()> body,
                              const std::function<void()>& give_up);

// Whether one that was left behind is still under way: what it put on a GPU may never end.
bool is_anything_left_behind();

}  // namespace trainscope::cuda
