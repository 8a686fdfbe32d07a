// Whether a run's batch fits into its GPU, and the largest that does, with and without activation
// checkpointing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/stopped.h"
#include "machine/machine.h"
#include "program/config.h"

namespace trainscope::analysis {

struct BatchFit {
  std::int64_t batch = 0;          // of the run
  std::int64_t capacity = 0;       // bytes of the GPU
  std::int64_t largest = 0;        // 0: not even a batch of 1 fits
  std::int64_t largest_other = 0;  // with checkpointing switched the other way
  std::int64_t most = 0;           // that was tried: an answer as large is a lower bound
  bool all_samples = false;        // `most` is what the data set has for a rank: no batch is larger
  bool itself = false;             // the run's own batch fits: one below the largest need not
  bool checkpointed = false;       // as the run is

  bool fits() const { return itself; }
};

// From four steps of the config's program with other batches. Nothing for a pipeline, whose batches
// are cut into equal parts, and for a config that is no training, that cannot be built with another
// batch, or once `stopped` says so.
std::optional<BatchFit> batch_fit(const program::Config& config, const machine::Machine& machine,
                                  const Stopped& stopped);

// Whether it fits with these settings, of several knobs with spaces between them. False for a
// pipeline, and where the config is no training, or cannot be built with them.
bool fits_with(const program::Config& config, const machine::Machine& machine,
               std::string_view settings);

// With these settings, the most bytes that tensors have at any time, were the GPU's memory without
// end. Nothing where fits_with could not be asked.
std::optional<std::int64_t> peak_with(const program::Config& config,
                                      const machine::Machine& machine, std::string_view settings);

// The largest batch that fits with these settings, as batch_fit finds it; 0: none, or nobody knows.
std::int64_t largest_batch_with(const program::Config& config, const machine::Machine& machine,
                                std::string_view settings);

}  // namespace trainscope::analysis
