// The order in which samples are read: PyTorch's samplers, index for index.
//
// Rules from torch/utils/data/sampler.py, distributed.py and dataloader.py of PyTorch 2.11. Each
// function gives one epoch's indices as a list; lengths are counts of samples, at least 0.
#pragma once

#include <cstdint>
#include <vector>

#include "data/generator.h"

namespace trainscope::data {

// SequentialSampler: 0 … length - 1.
std::vector<std::int64_t> sequential_indices(std::int64_t length);

struct DistributedSamplerOptions {
  std::int64_t length = 0;  // of the data set
  std::int64_t num_replicas = 1;
  std::int64_t rank = 0;  // from 0, below num_replicas
  bool shuffle = true;
  std::int64_t seed = 0;   // the same on each rank
  bool drop_last = false;  // leave out the remainder; else the first indices fill up the last round
};

// DistributedSampler: what one rank reads. The ranks share one permutation of (seed + epoch), of
// which rank r takes every num_replicas-th, from place r on.
class DistributedSampler {
 public:
  // Throws InputError for what PyTorch refuses too: a rank that is not below num_replicas, and
  // counts that are negative.
  explicit DistributedSampler(const DistributedSamplerOptions& options);

  // Without this, each epoch has the order of epoch 0.
  void set_epoch(std::int64_t epoch) { epoch_ = epoch; }

  std::int64_t size() const { return samples_; }  // indices of a rank, the same on each
  std::vector<std::int64_t> indices() const;

 private:
  std::vector<std::int64_t> order() const;

  DistributedSamplerOptions options_;
  std::int64_t samples_ = 0;
  std::int64_t epoch_ = 0;
};

// DataLoader(shuffle=True) after torch.manual_seed(seed): its RandomSampler's order, an epoch a
// call. The loader first draws the base seed of its workers, then the sampler the seed of its
// permutation, both from the default generator; nothing else may draw from it in between.
class ShuffledLoader {
 public:
  // With persistent workers the base seed is drawn in the first epoch only.
  ShuffledLoader(std::int64_t length, std::uint64_t seed, bool persistent_workers = false)
      : length_(length), generator_(seed), persistent_workers_(persistent_workers) {}

  std::vector<std::int64_t> next_epoch();

 private:
  std::int64_t length_;
  Generator generator_;
  bool persistent_workers_;
  bool has_workers_ = false;
};

}  // namespace trainscope::data
