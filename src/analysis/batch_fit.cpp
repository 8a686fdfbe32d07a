#include "analysis/batch_fit.h"

#include <algorithm>

#include "analysis/memory_fit.h"
#include "base/error.h"
#include "train/build.h"
#include "train/parallel.h"

namespace trainscope::analysis {
namespace {

constexpr std::int64_t kMostTried = 1 << 20;
// The optimizer's state comes with the first step, is there in the second, and what the allocator
// keeps in pieces of other sizes has settled in the ones after it.
constexpr std::int64_t kSteps = 4;

struct Stopped {};

std::int64_t largest(program::Config config, const machine::Machine& machine,
                     const std::function<bool()>& stopped) {
  config.set("steps", std::min(kSteps, config.whole("steps")));
  config.set("loop.evaluate", false);
  const std::int64_t capacity = machine.gpu.memory_bytes;
  // Exactly: what is cached is given back before an allocation fails.
  const auto peak = [&](std::int64_t batch) {
    if (stopped()) throw Stopped();
    config.set("batch_size", batch);
    return fits(train::build_program(config, machine), capacity) ? 0 : capacity + 1;
  };
  return largest_batch(peak, capacity, kMostTried);
}

}  // namespace

std::optional<BatchFit> batch_fit(const program::Config& config, const machine::Machine& machine,
                                  const std::function<bool()>& stopped) {
  if (config.word("workload") != "train" || train::trains_in_stages(config)) return std::nullopt;
  BatchFit fit;
  fit.batch = config.whole("batch_size");
  fit.capacity = machine.gpu.memory_bytes;
  fit.most = kMostTried;
  fit.checkpointed = config.flag("checkpoint.enabled");
  program::Config other = config;
  try {
    fit.largest = largest(config, machine, stopped);
    other.set("checkpoint.enabled", !fit.checkpointed);
    fit.largest_other = largest(other, machine, stopped);
  } catch (const Stopped&) {
    return std::nullopt;
  } catch (const InputError&) {
    if (fit.largest == 0) return std::nullopt;
  }
  return fit;
}

}  // namespace trainscope::analysis
