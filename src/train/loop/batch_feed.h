// How batches come to where the model runs: from a loader or one tensor, copied for each step,
// ahead of it, once for all, or not at all. Numbers are FP32 on their way; a model of a narrow type
// has them cast on the GPU, behind their copy.
#pragma once

#include <optional>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/listing/train_listing.h"
#include "train/loop/loader.h"
#include "train/model/graph.h"
#include "train/settings/train_settings.h"
#include "train/writer.h"

namespace trainscope::train {

class BatchFeed {
 public:
  // Adds the batches' buffers, what casts them and the loader's threads to a program. Settings and
  // lines must outlive it.
  BatchFeed(program::Program& program, const program::Config& config, const Graph& graph,
            const TrainSettings& settings, const TrainLines& lines);

  // Where the model reads them. With prefetching there are two, in turn; where an epoch's last
  // batch is shorter, that one is the last here.
  const std::vector<BatchBuffers>& batches() const { return batches_; }
  const BatchBuffers& of(std::int64_t batch) const { return batches_[place_of(batch)]; }
  // Where it reads those of the test set.
  const BatchBuffers& tested() const { return tested_; }
  // Its place among them.
  std::size_t place_of(std::int64_t batch) const;

  // Commands of the training thread. Before there is a model, where the data set is moved to the
  // device at once.
  void move_set(ThreadWriter& main);
  // Before the loop, where a prefetching loop fetches its first batch.
  void begin(ThreadWriter& main);
  // At the head of a loop's body.
  void next(ThreadWriter& main, std::int64_t batch);
  // What the body begins with, until the model has its batch; prefetching starts the next one's
  // copies, `batches` being how many there are.
  void deliver(ThreadWriter& main, std::int64_t batch, std::int64_t batches);
  // A batch of the test set.
  void deliver_test(ThreadWriter& main, std::int64_t batch);

  // A batch that lies beside those of training, on the device, and what brings it there.
  struct Apart {
    BatchBuffers batch;
    program::Index cast = program::kNoIndex;  // operation that casts x, where it is cast,
    program::Index wide = program::kNoIndex;  // of what is copied
  };
  Apart add_apart(const std::string& suffix);
  // Loads it, as a loader of its own does, in `next`; copies it from there, in `copy`.
  void deliver_apart(ThreadWriter& main, const Apart& apart, std::int64_t batch, std::uint16_t next,
                     std::uint16_t copy);

 private:
  // What is copied where the model reads another type, and the kernel that casts it.
  struct Cast {
    program::Index wide = program::kNoIndex;  // kNoIndex: it reads what is copied
    program::Index operation = program::kNoIndex;
  };
  program::Index add_input(const std::string& name, std::int64_t elements,
                           program::ElementType type, program::MemoryKind kind);
  Cast add_cast(program::Index to);
  void add_short_batch(program::MemoryKind host);
  BatchBuffers add_batch(const std::string& suffix, std::int64_t x, std::int64_t y,
                         program::MemoryKind kind);
  BatchBuffers add_device_batch(const std::string& suffix, std::int64_t x, std::int64_t y);
  void add_whole_set();
  void add_tested();
  // The host's buffers that a loader fills.
  const BatchBuffers& host_of(std::int64_t batch) const {
    return settings_.is_short(batch) ? short_host_ : host_;
  }
  void copy(ThreadWriter& main, program::Index from, program::Index to, const Cast& cast,
            program::Index& named);
  struct Move {
    program::Index stream = 0;
    bool allocates = true;  // the memory of what the model reads
    bool waits = false;     // for the copy
  };
  // The copy itself, and the cast behind it.
  void move(ThreadWriter& main, program::Index from, program::Index to, const Cast& cast,
            const Move& how);
  // What had the name of a tensor on the device is gone: its memory is free from here on.
  static void leave_place(ThreadWriter& main, program::Index& named);
  void begin_epoch(ThreadWriter& main, std::int64_t batch);
  void copies(ThreadWriter& main, std::int64_t batch);
  void waits(ThreadWriter& main, std::int64_t batch);
  void fetch(ThreadWriter& main, std::int64_t batch);

  program::Program& program_;
  const program::Config& config_;
  const TrainSettings& settings_;
  const TrainLines& lines_;
  program::ElementType type_ = program::ElementType::kFp32;       // of what is copied
  program::ElementType read_type_ = program::ElementType::kFp32;  // and of what the model reads
  BatchBuffers host_, short_host_;
  std::optional<BatchBuffers> host_apart_;
  std::vector<BatchBuffers> batches_;
  std::vector<Cast> casts_;          // of each of them
  std::vector<BatchBuffers> named_;  // tensors on the device: as many as take turns
  BatchBuffers set_on_host_, set_;   // all samples, where they are moved at once
  Cast cast_of_set_;
  BatchBuffers tested_;
  Cast cast_of_tested_;
  std::optional<Loader> loader_;  // none where the data set is one tensor
};

}  // namespace trainscope::train
