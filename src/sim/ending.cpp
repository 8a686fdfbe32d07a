#include "sim/ending.h"

#include <cmath>

namespace trainscope::sim {

std::string_view name_of(const Ending& why) {
  return std::holds_alternative<OutOfMemory>(why) ? "out_of_memory" : "diverged";
}

std::string_view title_of(const Ending& why) {
  return std::holds_alternative<OutOfMemory>(why) ? "Out of memory" : "Training diverged";
}

std::string sentence(const Diverged& why) {
  std::string text = "training diverged at line " + std::to_string(why.line) +
                     ": the loss of step " + std::to_string(why.step) +
                     (std::isnan(why.loss) ? " is NaN" : " is infinite") +
                     "; what is shown ends there: try a lower optimizer.lr";
  if (why.half && !why.scaled)
    text +=
        ", or, because FP16 holds nothing above 65504, scaler.enabled = true or precision = bf16";
  return text;
}

std::string sentence(const Ending& why) {
  return std::visit([](const auto& one) { return sentence(one); }, why);
}

}  // namespace trainscope::sim
