// A test that cannot run here says so: it is counted and printed as skipped, never as passed.
//
//   TEST_CASE("a real trace loads") {
//     if (!real_traces_present()) TRAINSCOPE_SKIP("no recorded traces on this machine");
//     ...
//   }
#pragma once

#include <string_view>

namespace trainscope::test {

// Counts the current test case as skipped, once, and prints the reason. The test must then return.
void skip(std::string_view reason);

}  // namespace trainscope::test

// Skips the current test case and returns from the function that it stands in.
#define TRAINSCOPE_SKIP(reason)       \
  do {                                \
    ::trainscope::test::skip(reason); \
    return;                           \
  } while (false)
