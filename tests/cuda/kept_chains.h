// The chains of real models whose kernels' texts are kept (kept_texts.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/device/compiled_chains.h"
#include "cuda/kept_texts.h"

namespace trainscope::test {

// Small enough for the emulator, and as they are by default.
const std::vector<std::vector<std::string>>& kept_trainings();

// The texts of all chains of these trainings, each once, in their order.
std::vector<std::string> texts_of_trainings();

// "Compiles" the texts that are kept, and throws an Error for others.
class KeptCompiler : public cuda::ChainCompiler {
 public:
  std::unique_ptr<cuda::ChainModule> compile(const std::string& text) override;
};

}  // namespace trainscope::test
