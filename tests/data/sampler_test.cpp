// The samplers against the orders that PyTorch gave: tests/golden/samplers.py.

#include "data/sampler.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "data/epoch_order.h"
#include "data/randperm.h"

using namespace trainscope;
using namespace trainscope::data;
using nlohmann::json;

namespace {

using Indices = std::vector<std::int64_t>;

const json& golden(const char* part) {
  static const json all = json::parse(
      read_file(TRAINSCOPE_SOURCE_DIR "/tests/golden/samplers.json", std::size_t{1} << 20));
  return all.at(part);
}

std::string hash_of(const Indices& indices) {
  std::uint64_t value = 0xCBF29CE484222325;
  for (const std::int64_t index : indices)
    value = (value ^ static_cast<std::uint64_t>(index)) * 0x100000001B3;
  return fmt::format("{:016x}", value);
}

bool is_golden(const Indices& ours, const json& expected) {
  if (expected.is_array()) return ours == expected.get<Indices>();
  return ours.size() == expected.at("count") && hash_of(ours) == expected.at("hash");
}

Indices permutation(std::int64_t length, std::uint64_t seed) {
  Generator generator(seed);
  return randperm(length, generator);
}

DistributedSamplerOptions options_of(const json& row) {
  return {.length = row.at("length"),
          .num_replicas = row.at("num_replicas"),
          .rank = 0,
          .shuffle = row.at("shuffle"),
          .seed = row.at("seed"),
          .drop_last = row.at("drop_last")};
}

// What each rank reads, one rank behind the other.
Indices all_ranks(DistributedSamplerOptions options, std::int64_t epoch) {
  Indices all;
  for (options.rank = 0; options.rank < options.num_replicas; ++options.rank) {
    DistributedSampler sampler(options);
    sampler.set_epoch(epoch);
    const Indices mine = sampler.indices();
    CHECK(static_cast<std::int64_t>(mine.size()) == sampler.size());
    all.insert(all.end(), mine.begin(), mine.end());
  }
  return all;
}

}  // namespace

TEST_CASE("randperm is PyTorch's, number for number") {
  CHECK(golden("randperm").size() > 80);
  for (const json& row : golden("randperm")) {
    INFO(row.dump());
    CHECK(is_golden(permutation(row.at("length"), row.at("seed")), row.at("order")));
  }
}

// Hidden: half a minute and 3.4 GB. `tests_data "[long]"` runs it.
TEST_CASE("randperm changes its way where PyTorch does", "[.][long]") {
  for (const json& row : golden("long")) {
    INFO(row.dump());
    const Indices order = permutation(row.at("length"), row.at("seed"));
    Indices some;
    for (std::size_t i = 0; i < order.size(); i += row.at("every").get<std::size_t>())
      some.push_back(order[i]);
    CHECK(is_golden(some, row.at("order")));
  }
  CHECK(golden("long").at(0).at("length") == kLongPermutation - 1);
  CHECK(golden("long").at(1).at("length") == kLongPermutation);
}

TEST_CASE("a distributed sampler gives each rank what PyTorch's does") {
  CHECK(golden("distributed").size() > 500);
  for (const json& row : golden("distributed")) {
    INFO(row.dump());
    const DistributedSamplerOptions options = options_of(row);
    CHECK(DistributedSampler(options).size() == row.at("size"));
    CHECK(is_golden(all_ranks(options, row.at("epoch")), row.at("ranks")));
  }
}

TEST_CASE("the ranks together read every sample, or all but the remainder once") {
  for (const std::int64_t length : {1, 10, 99, 1000}) {
    for (const std::int64_t replicas : {1, 3, 8, 64}) {
      DistributedSamplerOptions options{.length = length, .num_replicas = replicas};
      const Indices padded = all_ranks(options, 2);
      CHECK(std::set<std::int64_t>(padded.begin(), padded.end()).size() ==
            static_cast<std::size_t>(length));
      options.drop_last = true;
      const Indices dropped = all_ranks(options, 2);
      CHECK(std::set<std::int64_t>(dropped.begin(), dropped.end()).size() == dropped.size());
      CHECK(static_cast<std::int64_t>(dropped.size()) == length / replicas * replicas);
    }
  }
}

TEST_CASE("without set_epoch each epoch has the first one's order") {
  DistributedSampler sampler({.length = 100, .num_replicas = 2});
  const Indices first = sampler.indices();
  CHECK(sampler.indices() == first);
  sampler.set_epoch(1);
  CHECK(sampler.indices() != first);
  sampler.set_epoch(0);
  CHECK(sampler.indices() == first);
}

TEST_CASE("a shuffling loader reads in PyTorch's order, epoch by epoch") {
  CHECK(golden("loader").size() > 30);
  for (const json& row : golden("loader")) {
    INFO(row.dump());
    ShuffledLoader loader(row.at("length"), row.at("seed"), row.at("persistent_workers"));
    for (const json& epoch : row.at("epochs")) CHECK(is_golden(loader.next_epoch(), epoch));
  }
}

TEST_CASE("an epoch is cut into batches as PyTorch's BatchSampler does") {
  REQUIRE(golden("batch").size() == 40);
  int compared = 0;
  for (const json& row : golden("batch")) {
    INFO(row.dump());
    const std::int64_t length = row.at("length"), size = row.at("batch_size");
    if (length < size) continue;  // no training has a batch that is larger than its data
    EpochOrder order({.length = length, .batch_size = size, .drop_last = row.at("drop_last")});
    const Indices read = order.next_epoch();
    std::vector<Indices> batches;
    for (std::int64_t batch = 0, at = 0; batch < order.batches(); at += order.size_of(batch++))
      batches.emplace_back(read.begin() + at, read.begin() + at + order.size_of(batch));
    CHECK(batches == row.at("batches").get<std::vector<Indices>>());
    ++compared;
  }
  CHECK(compared == 18);
}

TEST_CASE("a sampler that PyTorch refuses is refused with what to give") {
  const auto refused = [](const DistributedSamplerOptions& options, const char* part) {
    CHECK_THROWS_WITH(DistributedSampler(options), Catch::Contains(part));
  };
  refused({.length = 8, .num_replicas = 2, .rank = 2}, "no rank 2 among 2 replicas; give one from");
  refused({.length = 8, .num_replicas = 2, .rank = -1}, "no rank -1");
  refused({.length = 8, .num_replicas = 0}, "0 replicas");
  refused({.length = -1}, "-1 samples");
}
