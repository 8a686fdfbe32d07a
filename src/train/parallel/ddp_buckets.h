// Which gradients DistributedDataParallel sums together (torch/csrc/distributed/c10d/reducer.cpp,
// compute_bucket_assignment_by_size; torch/nn/parallel/distributed.py, _ddp_init_helper).
#pragma once

#include <cstdint>
#include <vector>

#include "program/config.h"

namespace trainscope::train {

// What buckets close at. The first is small, so that the first all-reduce starts early, unless the
// user has set bucket_cap_mb himself: then it is as the others.
struct BucketCaps {
  std::int64_t first = 1 << 20;
  std::int64_t others = 25 << 20;
};

BucketCaps bucket_caps(const program::Config& config);

// Places of tensors, bucket after bucket. A bucket closes with the tensor that takes it to its cap:
// No tensor is divided.
using Assignment = std::vector<std::vector<std::size_t>>;
Assignment assign_buckets(const std::vector<std::int64_t>& bytes, const BucketCaps& caps);

// The buckets of the first backward, as places in parameters(), in the order of their all-reduces.
// A graph that never changes begins with one bucket of everything, because it will be rebuilt; one
// that may leave out parameters keeps the order of parameters(), backwards.
Assignment first_assignment(const std::vector<std::int64_t>& bytes, bool find_unused,
                            const BucketCaps& caps);

// The buckets from then on: in the order in which the gradients were ready. `ready`: places in
// parameters().
Assignment rebuilt_assignment(const std::vector<std::int64_t>& bytes,
                              const std::vector<std::size_t>& ready, const BucketCaps& caps);

}  // namespace trainscope::train
