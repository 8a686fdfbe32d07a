#include "analysis/metrics/number_types.h"

namespace trainscope::analysis {

bool trains_narrow(const program::Config& config) {
  return config.word("autocast.dtype") != "none" || config.word("model.dtype") != "fp32";
}

bool is_narrow(const Run& run) {
  if (!run.program) return false;
  const std::string& product = run.config.word("gemm.type");
  if (run.config.word("workload") == "gemm") return product == "fp16" || product == "bf16";
  const bool gathers_narrow = run.config.word("parallel.strategy") == "fsdp" &&
                              run.config.word("fsdp.param_dtype") == "bf16";
  return gathers_narrow || trains_narrow(run.config);
}

bool multiplies_in_tf32(const Run& run) {
  return run.program && run.config.flag("matmul.allow_tf32");
}

bool has_bf16(const Run& run) {
  constexpr double kFirst = 8.0;
  return !run.machine || run.machine->gpu.compute_capability >= kFirst;
}

bool has_tf32(const Run& run) {
  return !run.machine || run.machine->gpu.tf32_flops_per_s > 0;
}

}  // namespace trainscope::analysis
