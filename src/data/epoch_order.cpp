#include "data/epoch_order.h"

#include <algorithm>

namespace trainscope::data {

EpochOrder::EpochOrder(const EpochOrderOptions& options)
    : shuffle_(options.shuffle),
      set_epoch_(options.set_epoch),
      batch_size_(options.batch_size),
      samples_(options.length),
      loader_(options.length, static_cast<std::uint64_t>(options.seed)) {
  if (options.replicas > 0) {
    sampler_.emplace(DistributedSamplerOptions{options.length, options.replicas, options.rank,
                                               options.shuffle, options.seed, options.strided});
    samples_ = sampler_->size();
  }
  // One that is all there is, and no whole batch, is left out, too.
  if (options.drop_last || samples_ < batch_size_) rest_ = samples_ % batch_size_;
}

std::int64_t EpochOrder::batches() const {
  return (size() + batch_size_ - 1) / batch_size_;
}

std::int64_t EpochOrder::size_of(std::int64_t batch) const {
  return std::min(batch_size_, size() - batch * batch_size_);
}

std::vector<std::int64_t> EpochOrder::next_epoch() {
  if (sampler_ && set_epoch_) sampler_->set_epoch(epoch_);
  ++epoch_;
  std::vector<std::int64_t> indices = sampler_   ? sampler_->indices()
                                      : shuffle_ ? loader_.next_epoch()
                                                 : sequential_indices(samples_);
  indices.resize(static_cast<std::size_t>(size()));
  return indices;
}

namespace {

// The share of the second epoch's batches that the first has in the same place, of those that a
// loader of so many batches reaches.
std::optional<double> repeated_share(EpochOrder& order, const std::vector<std::int64_t>& first,
                                     std::int64_t batch_size, std::int64_t batches) {
  const std::int64_t epoch = order.batches();
  const std::int64_t compared = std::min(epoch, batches - epoch);
  if (epoch == 0 || compared <= 0) return std::nullopt;
  const std::vector<std::int64_t> second = order.next_epoch();
  std::int64_t same = 0;
  for (std::int64_t batch = 0; batch < compared; ++batch) {
    const auto at = first.begin() + batch * batch_size;
    same += std::equal(at, at + order.size_of(batch), second.begin() + batch * batch_size);
  }
  return static_cast<double>(same) / static_cast<double>(compared);
}

}  // namespace

Reading reading_of(const EpochOrderOptions& options, std::int64_t ranks, std::int64_t batches) {
  Reading reading;
  std::vector<bool> seen(static_cast<std::size_t>(options.length), false);
  std::int64_t read = 0, fresh = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    EpochOrderOptions own = options;
    own.rank = options.replicas > 0 ? rank : 0;
    EpochOrder order(own);
    const std::vector<std::int64_t> first = order.next_epoch();
    const std::int64_t wanted = std::min(order.size(), batches * options.batch_size);
    for (std::int64_t i = 0; i < wanted; ++i, ++read) {
      const auto sample = static_cast<std::size_t>(first[static_cast<std::size_t>(i)]);
      fresh += seen[sample] ? 0 : 1;
      seen[sample] = true;
    }
    if (rank == 0) reading.repeated = repeated_share(order, first, options.batch_size, batches);
  }
  if (read > 0) reading.distinct = static_cast<double>(fresh) / static_cast<double>(read);
  return reading;
}

}  // namespace trainscope::data
