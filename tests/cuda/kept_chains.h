// The chains of real models whose kernels' texts are kept in kept_chains.inc, and those kernels,
// compiled for the emulator: they stand in for what NVRTC makes of a text.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cuda/device/compiled_chains.h"

namespace trainscope::test {

// Small enough for the emulator, and as they are by default.
const std::vector<std::vector<std::string>>& kept_trainings();

// The texts of all chains of these trainings, each once, in their order.
std::vector<std::string> texts_of_trainings();

// As the file has them.
std::vector<std::string> kept_texts();
// Writes the file anew.
void keep_texts(const std::vector<std::string>& texts);

// "Compiles" the texts that are kept, and throws an Error for others.
class KeptCompiler : public cuda::ChainCompiler {
 public:
  std::unique_ptr<cuda::ChainModule> compile(const std::string& text) override;
};

}  // namespace trainscope::test
