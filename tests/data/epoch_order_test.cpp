#include "data/epoch_order.h"

#include <catch2/catch.hpp>
#include <set>

using namespace trainscope::data;

namespace {

EpochOrderOptions options_of(std::int64_t length, std::int64_t replicas) {
  EpochOrderOptions options;
  options.length = length;
  options.batch_size = 4;
  options.shuffle = true;
  options.replicas = replicas;
  return options;
}

}  // namespace

TEST_CASE("a sampler that is told the epoch gives another order, one that is not the same again") {
  EpochOrderOptions options = options_of(100, 2);
  for (const bool told : {true, false}) {
    options.set_epoch = told;
    EpochOrder order(options);
    DistributedSampler sampler({100, 2, 0, true, 0, false});
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      if (told) sampler.set_epoch(epoch);
      std::vector<std::int64_t> expected = sampler.indices();
      expected.resize(48);
      CHECK(order.next_epoch() == expected);
    }
  }
}

TEST_CASE("ranks with a sampler share an epoch, ranks without one read the same") {
  for (const std::int64_t replicas : {std::int64_t{0}, std::int64_t{4}}) {
    std::multiset<std::int64_t> read;
    for (std::int64_t rank = 0; rank < 4; ++rank) {
      EpochOrderOptions options = options_of(64, replicas);
      options.rank = replicas > 0 ? rank : 0;
      EpochOrder order(options);
      CHECK(order.size() == (replicas > 0 ? 16 : 64));
      for (const std::int64_t sample : order.next_epoch()) read.insert(sample);
    }
    CHECK(std::set(read.begin(), read.end()).size() == 64);
    CHECK(read.count(7) == (replicas > 0 ? 1 : 4));
  }
}

TEST_CASE("what fills no batch is left out, or is a shorter batch at an epoch's end") {
  EpochOrderOptions options = options_of(11, 0);
  options.shuffle = false;
  EpochOrder whole(options);
  CHECK(whole.size() == 8);
  CHECK(whole.batches() == 2);
  options.drop_last = false;
  EpochOrder all(options);
  CHECK(all.size() == 11);
  CHECK(all.batches() == 3);
  CHECK(all.size_of(1) == 4);
  CHECK(all.size_of(2) == 3);
  CHECK(all.next_epoch().size() == 11);
  // Both epochs are alike, the shorter batches, too.
  CHECK(reading_of(options, 1, 6).repeated == 1.0);
  options.shuffle = true;
  CHECK(reading_of(options, 1, 6).distinct == 1);
  CHECK(reading_of(options, 1, 6).repeated == 0.0);
  options.length = 3;
  CHECK(EpochOrder(options).batches() == 0);
}

TEST_CASE("what is left over is read by no rank that strides") {
  EpochOrderOptions options = options_of(11, 2);
  options.shuffle = false;
  options.strided = true;
  options.batch_size = 1;
  options.rank = 1;
  CHECK(EpochOrder(options).next_epoch() == std::vector<std::int64_t>{1, 3, 5, 7, 9});
}

TEST_CASE("a reading counts what is distinct and what comes again") {
  EpochOrderOptions options = options_of(64, 4);
  const std::int64_t two_epochs = 2 * 4;
  CHECK(reading_of(options, 4, two_epochs).distinct == 1);
  CHECK(reading_of(options, 4, two_epochs).repeated == 0);
  CHECK_FALSE(reading_of(options, 4, 4).repeated);
  options.set_epoch = false;
  CHECK(reading_of(options, 4, two_epochs).repeated == 1);
  CHECK(reading_of(options, 4, 6).repeated == 1);
  options.replicas = 0;
  CHECK(reading_of(options, 4, 4).distinct == 0.25);
  options.shuffle = false;
  CHECK(reading_of(options, 1, 2 * 16).repeated == 1);
  // Padding: 10 samples of 4 ranks are 3 each, two of them a second time.
  options = options_of(10, 4);
  options.batch_size = 1;
  CHECK(reading_of(options, 4, 3).distinct == Approx(10.0 / 12));
}
