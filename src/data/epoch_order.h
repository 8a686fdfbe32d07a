// Which samples a rank's loader reads, epoch after epoch: its sampler's order, batch by batch. What
// does not fill a batch at an epoch's end is left out (drop_last=True) or is a shorter one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/sampler.h"

namespace trainscope::data {

struct EpochOrderOptions {
  std::int64_t length = 0;  // of the data set
  std::int64_t batch_size = 1;
  bool shuffle = false;
  std::int64_t seed = 0;
  std::int64_t replicas = 0;  // of a DistributedSampler; 0: there is none, all ranks read the same
  std::int64_t rank = 0;
  bool set_epoch = true;  // is called before each epoch
  // The ranks take turns through the samples as they lie, and none reads what is left over:
  // X[rank::replicas].
  bool strided = false;
  bool drop_last = true;
};

class EpochOrder {
 public:
  // Throws InputError as DistributedSampler does.
  explicit EpochOrder(const EpochOrderOptions& options);

  std::int64_t samples() const { return samples_; }       // that a rank has
  std::int64_t size() const { return samples_ - rest_; }  // of them, it reads
  std::int64_t batches() const;                           // of an epoch
  // Of an epoch's batch, counted from 0.
  std::int64_t size_of(std::int64_t batch) const;
  // Of the next epoch, size() of them.
  std::vector<std::int64_t> next_epoch();

 private:
  bool shuffle_;
  bool set_epoch_;
  std::int64_t batch_size_;
  std::int64_t samples_;
  std::int64_t rest_ = 0;  // that is left out
  std::int64_t epoch_ = 0;
  ShuffledLoader loader_;
  std::optional<DistributedSampler> sampler_;
};

// How the first epochs of a run of so many batches a rank are read.
struct Reading {
  // Of what all ranks read in the first epoch, the share that none of them had read before.
  double distinct = 1;
  // Of rank 0's batches in the second epoch, the share that the first had in the same place; none
  // where there is no second one.
  std::optional<double> repeated;
};
Reading reading_of(const EpochOrderOptions& options, std::int64_t ranks, std::int64_t batches);

}  // namespace trainscope::data
