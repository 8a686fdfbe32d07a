// The texts of chains' kernels that kept_chains.inc keeps, and those kernels, compiled for the
// emulator: they stand in for what NVRTC makes of a text.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cuda/device/compiled_chains.h"

namespace trainscope::test {

// As the file has them.
std::vector<std::string> kept_texts();
// Writes the file anew.
void keep_texts(const std::vector<std::string>& texts);

// What was compiled from the text of this number. Null: there is none.
std::unique_ptr<cuda::ChainModule> kept_module(std::size_t number);

}  // namespace trainscope::test
