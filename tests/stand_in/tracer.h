// CUPTI's part: activity records of calls and of what the GPUs did, in buffers that the client
// gives, and external correlations.
#pragma once

#include <cstdint>

#include "stand_in/queue.h"

namespace trainscope::stand_in {

// What was carried out; on the queue's thread.
void tell_tracer(const Op& op);

// A call begins: its number. It has ended.
std::uint32_t begin_traced_call(const char* name);
void end_traced_call(const char* name, std::uint32_t correlation, Nanos begun);

}  // namespace trainscope::stand_in
