// On a real GPU: how near kernels that move memory come to a copy, what training steps take, what
// tracing adds to them. tests/bench/gpu_vs_torch.py puts PyTorch's steps beside these.
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "bench/bench.h"
#include "bench/device_measures.h"
#include "bench/step_cases.h"
#include "cuda/calibration/bench.h"
#include "cuda/plugin_loader.h"
#include "support/config.h"
#include "train/build.h"

namespace trainscope::bench {
namespace {

using test::config_of;

// Tensors of 100 MB and more, so that nothing stays in L2.
constexpr std::int64_t kLeastBytes = std::int64_t{100} << 20;

// Returns how many of them failed.
int print_rates(cuda::DeviceCalls& device, const RateCase& one) {
  const program::Program program = train::build_program(one.config, train::machine_of(one.config));
  int failed = 0;
  for (const KernelRate& rate : kernel_rates(device, program, kLeastBytes, one.fused)) {
    if (!rate.failure.empty()) {
      fmt::print("  {:64} failed: {}\n", rate.name, rate.failure);
      ++failed;
      continue;
    }
    fmt::print("  {:64} {:6.0f} MB {:8.1f} us {:6.0f} GB/s {:5.1f} % of a copy\n", rate.name,
               static_cast<double>(rate.bytes) / 1e6, rate.nanos / 1e3,
               static_cast<double>(rate.bytes) / rate.nanos, 100 * rate.share());
    std::fflush(stdout);
  }
  return failed;
}

void time_kernels(cuda::DeviceCalls& device) {
  int failed = 0;
  for (const RateCase& one : rate_cases()) {
    fmt::print("{}\n", one.words);
    failed += print_rates(device, one);
  }
  if (failed > 0) throw Error(Fault::kFailed, fmt::format("{} kernels failed, above", failed));
}

// The same batch each step, from pinned memory on the stream of the step, as gpu_vs_torch.py has
// it.
program::Config on_device(program::Config config, const std::vector<std::string>& how) {
  config.set_text("workload=train");
  config.set_text("data.source=tensor");
  config.set_text("data.one_batch=true");
  config.set_text("loader.pin_memory=true");
  config.set_text("transfer.non_blocking=true");
  for (const std::string& setting : how) config.set_text(setting);
  return config;
}

void time_steps(cuda::DeviceCalls& device) {
  constexpr int kSteps = 100, kRounds = 5;
  const std::pair<const char*, std::vector<std::string>> ways[] = {
      {"eager", {}},
      {"fused", {"compile.fuse=true"}},
      {"fused-graph", {"compile.fuse=true", "compile.cuda_graph=true"}}};
  for (const StepCase& one : step_cases())
    for (const auto& [word, settings] : ways) {
      const StepTime took = step_time(device, on_device(one.config(), settings),
                                      cuda::WatchLevel::kNothing, kSteps, kRounds);
      fmt::print("  {:22} {:12} best {:7.3f}, median {:7.3f}\n", one.name, word, took.best,
                 took.median);
      std::fflush(stdout);
    }
}

void time_tracing(cuda::DeviceCalls& device) {
  constexpr int kRounds = 5;
  struct Case {
    const char* name;
    std::vector<std::string> settings;
    int steps;
  };
  const Case cases[] = {{"mlp", {"model.name=mlp", "data.name=digits", "batch_size=64"}, 100},
                        {"gpt-mini, wide",
                         {"model.name=gpt-mini", "data.name=text", "model.width=1024",
                          "model.heads=16", "model.seq_len=512", "batch_size=16"},
                         20}};
  const char* tracer = std::getenv("TRAINSCOPE_TRACER");
  const bool never_traced = tracer && std::string_view(tracer) == "events";
  for (const Case& one : cases) {
    const program::Config config = on_device(config_of(one.settings), {"loop.evaluate=false"});
    const auto median = [&](cuda::WatchLevel level) {
      return step_time(device, config, level, one.steps, kRounds).median;
    };
    const double off = median(cuda::WatchLevel::kNothing);
    if (never_traced) {
      fmt::print("  {:16} the tracer was never there: {:7.3f} ms\n", one.name, off);
      continue;
    }
    const double kernel = mean_kernel_time(device, config);
    const double kernels = median(cuda::WatchLevel::kKernels);
    const double all = median(cuda::WatchLevel::kEverything);
    fmt::print(
        "  {:16} kernels of {:6.1f} us: off {:7.3f} ms, kernels {:+6.1f} %, all {:+6.1f} %\n",
        one.name, kernel, off, 100 * (kernels / off - 1), 100 * (all / off - 1));
    std::fflush(stdout);
  }
}

// That there is no GPU is said; what one cannot do, or fails at, is for the caller.
void on_a_gpu(const char* what, void (*measure)(cuda::DeviceCalls&)) {
  cuda::OpenDevice device;
  try {
    device = cuda::open_device(cuda::plugin_folder());
  } catch (const MissingError& error) {
    fmt::print("\n{}: not measured, {}\n", what, error.what());
    return;
  }
  const cuda::DeviceFacts facts = device->facts();
  fmt::print("\n{}, on {}, {}\n", what, facts.name, facts.driver);
  cuda::wake_up(*device);
  measure(*device);
}

}  // namespace

void bench_device_kernels() {
  on_a_gpu("kernels that move memory, beside a copy of as many bytes", time_kernels);
}
void bench_device_steps() {
  on_a_gpu("training steps, ms", time_steps);
}
void bench_device_tracing() {
  on_a_gpu("what tracing adds to a training step", time_tracing);
}

}  // namespace trainscope::bench
