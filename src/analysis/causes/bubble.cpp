#include "analysis/causes/bubble.h"

namespace trainscope::analysis {

std::optional<double> pipeline_bubble(const Measured& measured) {
  if (!measured.program || measured.program->stages < 2 || measured.steps == 0) return std::nullopt;
  const std::map<std::int32_t, std::int32_t> gpus = gpus_of_ranks(*measured.trace);
  double busy = 0, all = 0;
  for (const auto& [rank, device] : gpus) {
    const Measured one = of_gpu(measured, rank, device);
    busy += static_cast<double>(one.kernels.length());
    all += static_cast<double>(one.window.end - one.window.start);
  }
  if (busy == 0) return std::nullopt;
  return all / busy - 1;
}

}  // namespace trainscope::analysis
