#include "data/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <numeric>

#include "base/error.h"
#include "data/randperm.h"

namespace trainscope::data {
namespace {

void check(const DistributedSamplerOptions& options) {
  if (options.length < 0)
    throw InputError(
        fmt::format("a data set cannot hold {} samples; give 0 or more", options.length));
  if (options.num_replicas < 1)
    throw InputError(
        fmt::format("{} replicas cannot share a data set; give 1 or more", options.num_replicas));
  if (options.rank < 0 || options.rank >= options.num_replicas)
    throw InputError(fmt::format("there is no rank {} among {} replicas; give one from 0 to {}",
                                 options.rank, options.num_replicas, options.num_replicas - 1));
}

// Rounds: in each, every rank takes one index.
std::int64_t rounds(const DistributedSamplerOptions& options) {
  const std::int64_t whole = options.length / options.num_replicas;
  const bool remainder = options.length % options.num_replicas != 0;
  return remainder && !options.drop_last ? whole + 1 : whole;
}

}  // namespace

std::vector<std::int64_t> sequential_indices(std::int64_t length) {
  assert(length >= 0);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(length));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

DistributedSampler::DistributedSampler(const DistributedSamplerOptions& options)
    : options_(options) {
  check(options);
  samples_ = rounds(options);
}

std::vector<std::int64_t> DistributedSampler::order() const {
  if (!options_.shuffle) return sequential_indices(options_.length);
  Generator generator(static_cast<std::uint64_t>(options_.seed) +
                      static_cast<std::uint64_t>(epoch_));
  return randperm(options_.length, generator);
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  const std::vector<std::int64_t> all = order();
  std::vector<std::int64_t> mine;
  mine.reserve(static_cast<std::size_t>(samples_));
  for (std::int64_t round = 0; round < samples_; ++round) {
    // Past the end the permutation begins anew, as often as there are ranks to serve.
    const std::int64_t place = (round * options_.num_replicas + options_.rank) % options_.length;
    mine.push_back(all[static_cast<std::size_t>(place)]);
  }
  return mine;
}

std::vector<std::int64_t> ShuffledLoader::next_epoch() {
  if (!persistent_workers_ || !has_workers_) generator_.random_seed();
  has_workers_ = true;
  Generator permutation(generator_.random_seed());
  return randperm(length_, permutation);
}

}  // namespace trainscope::data
