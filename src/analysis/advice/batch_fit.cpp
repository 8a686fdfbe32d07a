#include "analysis/advice/batch_fit.h"

#include <algorithm>

#include "analysis/advice/memory_fit.h"
#include "analysis/advice/what_if.h"
#include "base/error.h"
#include "base/stopped.h"
#include "train/build.h"
#include "train/parallel/parallel.h"
#include "train/settings/train_settings.h"

namespace trainscope::analysis {
namespace {

constexpr std::int64_t kMostTried = 1 << 20;
// The optimizer's state comes with the first step, is there in the second, and what the allocator
// keeps in pieces of other sizes has settled in the ones after it.
constexpr std::int64_t kSteps = 4;
// Pieces of other sizes fit into one another otherwise, and a larger batch may fit where a smaller
// one does not. So many below the most that could are tried one by one.
constexpr std::int64_t kTriedFromAbove = 32;

// A config's programs with other batches, on a GPU.
class Batches {
 public:
  Batches(const program::Config& config, const machine::Machine& machine, const Stopped& stopped)
      : config_(config), machine_(machine), stopped_(stopped) {
    config_.set("steps", std::min(steps_of(config), config.whole("steps")));
    config_.set("loop.evaluate", false);
  }

  bool fits(std::int64_t batch) {
    return analysis::fits(program_of(batch), machine::room_of_allocator(machine_));
  }

  std::int64_t peak(std::int64_t batch) { return memory_need(program_of(batch)).allocated; }

  // None larger than `most`.
  std::int64_t largest(std::int64_t most) {
    const std::int64_t capacity = machine::room_of_allocator(machine_);
    const auto allocated = [&](std::int64_t batch) { return peak(batch); };
    // A larger batch has more in tensors than there is.
    const std::int64_t bound = largest_batch(allocated, capacity, most);
    for (std::int64_t batch = bound; batch > std::max<std::int64_t>(0, bound - kTriedFromAbove);
         --batch)
      if (fits(batch)) return batch;
    // Exactly: what is cached is given back before an allocation fails.
    const auto peak = [&](std::int64_t batch) { return fits(batch) ? 0 : capacity + 1; };
    return largest_batch(peak, capacity, bound);
  }

 private:
  // A validation is one of them, and what it leaves adds up over all that a run has.
  static std::int64_t steps_of(const program::Config& config) {
    if (config.whole("validation.batches") == 0) return kSteps;
    const bool adds_up = config.word("validation.keep") != "item";
    return adds_up ? config.whole("steps") : std::max(kSteps, config.whole("validation.every"));
  }

  program::Program program_of(std::int64_t batch) {
    if (stopped_()) throw Abandoned();
    config_.set("batch_size", batch);
    return train::build_program(config_, machine_);
  }

  program::Config config_;
  const machine::Machine& machine_;
  const Stopped& stopped_;
};

// What the data set has for each rank; 0: that is not known.
std::int64_t samples_of_rank(const program::Config& config, const machine::Machine& machine) {
  const train::TrainSettings settings = train::train_settings(config, machine);
  return settings.data.train_samples / std::max(settings.ranks, 1);
}

// No more than these, where they are known.
std::int64_t most_to_try(const program::Config& config, const machine::Machine& machine) {
  const std::int64_t samples = samples_of_rank(config, machine);
  return samples > 0 ? std::min(samples, kMostTried) : kMostTried;
}

// What `ask` says of the batches of a config with these settings; nothing where it cannot be built.
template <typename Ask>
std::optional<std::int64_t> asked_with(const program::Config& config,
                                       const machine::Machine& machine, std::string_view settings,
                                       const Ask& ask) {
  if (config.word("workload") != "train" || train::trains_in_stages(config)) return std::nullopt;
  program::Config changed = config;
  const Stopped never = [] { return false; };
  try {
    set_all(changed, settings);
    Batches batches(changed, machine, never);
    return ask(batches, changed);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<BatchFit> batch_fit(const program::Config& config, const machine::Machine& machine,
                                  const Stopped& stopped) {
  if (config.word("workload") != "train" || train::trains_in_stages(config)) return std::nullopt;
  BatchFit fit;
  fit.batch = config.whole("batch_size");
  fit.capacity = machine::room_of_allocator(machine);
  fit.checkpointed = config.flag("checkpoint.enabled");
  program::Config other = config;
  try {
    fit.most = most_to_try(config, machine);
    fit.all_samples = fit.most == samples_of_rank(config, machine);
    Batches batches(config, machine, stopped);
    fit.largest = batches.largest(fit.most);
    fit.itself = batches.fits(fit.batch);
    other.set("checkpoint.enabled", !fit.checkpointed);
    fit.largest_other = Batches(other, machine, stopped).largest(fit.most);
  } catch (const Abandoned&) {
    return std::nullopt;
  } catch (const InputError&) {
    if (fit.largest == 0) return std::nullopt;
  }
  return fit;
}

bool fits_with(const program::Config& config, const machine::Machine& machine,
               std::string_view settings) {
  const auto fits = [](Batches& batches, const program::Config& changed) -> std::int64_t {
    return batches.fits(changed.whole("batch_size")) ? 1 : 0;
  };
  return asked_with(config, machine, settings, fits).value_or(0) == 1;
}

std::optional<std::int64_t> peak_with(const program::Config& config,
                                      const machine::Machine& machine, std::string_view settings) {
  const auto peak = [](Batches& batches, const program::Config& changed) {
    return batches.peak(changed.whole("batch_size"));
  };
  return asked_with(config, machine, settings, peak);
}

std::int64_t largest_batch_with(const program::Config& config, const machine::Machine& machine,
                                std::string_view settings) {
  const auto largest = [&](Batches& batches, const program::Config& changed) {
    return batches.largest(most_to_try(changed, machine));
  };
  return asked_with(config, machine, settings, largest).value_or(0);
}

}  // namespace trainscope::analysis
