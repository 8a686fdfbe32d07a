// Carries out the operations of a program on the CPU: the numbers of a training run, beside the
// simulator, which only tells their time.
//
// Every buffer's values are FP32 numbers that the buffer's type can hold. One interpreter is used
// by one thread. After the first step of a loop it allocates nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "data/epoch_order.h"
#include "host/ring.h"
#include "host/views.h"
#include "host/workers.h"
#include "program/numbers.h"

namespace trainscope::host {

// What a program's batches are read from; ranks share it.
struct DataSets {
  // None for a source without a name. Throws InputError for a data set that cannot be opened.
  explicit DataSets(const program::DataSource& source);

  std::shared_ptr<const data::Dataset> train;
  std::shared_ptr<const data::Dataset> test;
};

// The samples of a program's batches, in the order in which a rank's loader reads them.
class BatchSource {
 public:
  // Throws InputError for a data set that has fewer samples than a batch.
  // `rank`: of those that read samples of their own.
  BatchSource(const program::DataSource& source, DataSets sets, int rank);

  struct Batch {
    std::span<float> values;  // of a text: empty
    std::span<std::int64_t> tokens;
    std::span<std::int64_t> targets;
  };
  // Fills the batch of that number, counted from 0 through all epochs, or through the test set. Its
  // spans are as large as that batch.
  void read(std::int64_t number, bool test, const Batch& batch);

 private:
  struct Range {
    std::int64_t first = 0;  // in the epochs laid end to end, or in the test set
    std::int64_t samples = 0;
  };
  Range range_of(std::int64_t batch, bool test) const;
  std::int64_t sample_at(std::int64_t place);

  DataSets sets_;
  data::EpochOrder order_;
  std::int64_t batch_size_;
  std::int64_t epoch_ = -1;
  std::vector<std::int64_t> indices_;  // of that epoch
};

class Interpreter : public program::Numbers {
 public:
  // Fills the buffers with what they hold at the start. The program must outlive it. Results do not
  // depend on the number of threads. Throws InputError for a data set that cannot be opened.
  explicit Interpreter(const program::Program& program, int threads = 1);
  // One of several ranks, on the thread of its caller.
  Interpreter(const program::Program& program, const DataSets& sets, int rank, int threads = 1);
  ~Interpreter() override;

  void load(const program::LoadBatch& load) override;
  void run(const program::Operation& operation) override;
  void copy(const program::Copy& copy) override;
  // A view is a copy here: of what it shows nothing may be written while it is read.
  void view(const program::View& view) override;
  void collective(const program::Collective& collective) override;
  double value(program::Index buffer) const override;
  trace::TrainingStep step(std::int64_t number) override;
  trace::Evaluation evaluation(std::int64_t step) override;

  // What a buffer holds: to be looked at, or replaced, between two calls.
  Results values(program::Index buffer);
  // Of the buffers of one of Program::payloads.
  Pieces pieces(program::Index payload);

 private:
  friend class Calculation;

  struct Store {
    std::vector<float> values;
    std::vector<std::int64_t> whole;   // of kInt64: tokens, targets
    std::vector<std::int32_t> pixels;  // that a max-pooling chose
  };

  void initialise(int rank);
  void round_results(const program::Operation& operation);
  void note_gradients();
  // Before and after an update: which weights it leaves as they were.
  void keep_weights(const program::Operation& update);
  void note_update(const program::Operation& update);
  void copy_part(program::Index from, std::int64_t from_begin, program::Index to,
                 std::int64_t to_begin, std::int64_t bytes);
  // Random words that the device of a buffer has drawn so far.
  std::uint64_t& drawn_on(program::Index buffer);
  // Room of `size` numbers, until the operation is over.
  Results room(std::size_t size);
  BatchSource& batches_of(int device);
  bool is_loss(program::Index buffer) const;

  const program::Program& program_;
  Workers workers_;
  DataSets sets_;
  int rank_;
  // By the device of their buffers: ranks that are all in the program read each at its own pace.
  std::map<int, BatchSource> batches_;
  std::vector<Store> stores_;
  std::vector<float> workspace_;
  std::size_t workspace_used_ = 0;
  std::vector<float> kept_weights_;            // of an update, before it
  std::vector<std::uint64_t> drawn_;           // by device
  std::vector<program::Collective> together_;  // parts of a collective that is not complete
  trace::TrainingStep step_;
  double loss_sum_ = 0;  // of the batches of a step
  int losses_ = 0;
};

}  // namespace trainscope::host
