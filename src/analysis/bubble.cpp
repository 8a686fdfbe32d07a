#include "analysis/bubble.h"

namespace trainscope::analysis {

std::optional<double> pipeline_bubble(const Measured& measured) {
  if (!measured.program || measured.program->stages < 2 || measured.steps == 0) return std::nullopt;
  const std::map<std::int32_t, std::int32_t> gpus = gpus_of_ranks(*measured.trace);
  double busy = 0;
  for (const auto& [rank, device] : gpus)
    busy += static_cast<double>(of_gpu(measured, rank, device).kernels.length());
  if (busy == 0) return std::nullopt;
  const auto window = static_cast<double>(measured.window.end - measured.window.start);
  return window * static_cast<double>(gpus.size()) / busy - 1;
}

}  // namespace trainscope::analysis
