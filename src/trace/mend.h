// What is put right in a text before it is read as JSON, so that a small fault does not cost all.
#pragma once

#include <cstdint>

#include "trace/padded_bytes.h"

namespace trainscope::trace {

// Bytes that are not UTF-8, as some profilers write them within names, become '?': as many as are
// returned. A list of events that is not closed is: Chrome's trace format asks for no "]", so that
// a program can write one until it ends. A text that does not begin as JSON stays as it is.
std::int64_t mend(PaddedBytes& text);

}  // namespace trainscope::trace
