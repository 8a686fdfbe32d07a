// The function that libFuzzer calls; compiled once a target.
#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trainscope::fuzz::TRAINSCOPE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
