// The data loader as torch.utils.data.DataLoader works: what is bounded is the number of index
// lists handed out; workers load whole batches in turn; a pin thread of the training process copies
// finished batches into pinned memory, under the same interpreter's lock; the training thread takes
// batches in order. Workers start with the epoch, unless they are kept from the one before.
#pragma once

#include <cstdint>
#include <string>

#include "program/config.h"
#include "program/program.h"
#include "train/settings/train_settings.h"
#include "train/writer.h"

namespace trainscope::train {

class Loader {
 public:
  // Adds the loader's threads and queues to a program. `batch_bytes`: of a whole batch. Settings
  // must outlive it.
  Loader(program::Program& program, const program::Config& config, const TrainSettings& settings,
         std::int64_t batch_bytes);

  // Commands of the training thread: `iter(loader)`, before an epoch's first batch, and
  // `next(loader)` for one batch.
  void begin(ThreadWriter& main, std::int64_t batch) const;
  void next(ThreadWriter& main, std::int64_t batch) const;
  // `next(loader)` of another loader over samples alike, which has no workers and pins nothing:
  // the training thread loads a whole batch.
  void next_of_another(ThreadWriter& main) const;

 private:
  void add_worker(program::Program& program, std::int64_t worker);
  void load(ThreadWriter& writer, std::int64_t batch) const;
  void load(ThreadWriter& writer, std::int64_t samples, const std::string& what) const;
  void pin(ThreadWriter& writer, std::int64_t batch) const;
  void add_pin_thread(program::Program& program);
  std::int64_t outstanding() const { return workers_ * prefetch_; }
  // Workers take an epoch's batches in turn.
  std::int64_t worker_of(std::int64_t batch) const {
    return (batch - settings_.epoch_begin(batch)) % workers_;
  }
  void hand_out(ThreadWriter& main, std::int64_t batch) const;

  const TrainSettings& settings_;
  std::int64_t batch_bytes_;
  std::int64_t workers_;
  std::int64_t prefetch_;
  bool pin_;
  bool persistent_;
  std::int64_t sample_bytes_;  // read from the disk for each sample; 0: the data set is in memory
  Nanos load_ns_;              // of one whole batch by one worker
  std::vector<program::Index> index_queues_;
  program::Index results_ = 0;  // from the workers, as they finish
  program::Index ready_ = 0;    // from the pin thread; the same as results_ without it
};

}  // namespace trainscope::train
