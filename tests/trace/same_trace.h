// Whether two traces hold the same: lanes, spans, flows, samples, details, origin; and, apart,
// because Chrome traces do not carry them, what the allocator did and how training went.
#pragma once

#include <string>

#include "trace/trace.h"

namespace trainscope::test {

// The first difference in words, or "".
std::string difference(const trace::Trace& a, const trace::Trace& b);
std::string allocator_difference(const trace::Trace& a, const trace::Trace& b);
std::string training_difference(const trace::Trace& a, const trace::Trace& b);

}  // namespace trainscope::test
