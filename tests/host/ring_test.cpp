// Sums over ranks, against a plain reference that adds number by number.
#include "host/ring.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace trainscope;
using host::Pieces;
using host::Results;

namespace {

struct Ranks {
  Ranks(std::size_t count, std::size_t size, unsigned seed) : numbers(count) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> value(-1, 1);
    for (std::vector<float>& rank : numbers) {
      for (std::size_t i = 0; i < size; ++i) rank.push_back(value(random));
      Pieces& own = pieces.emplace_back();
      for (std::size_t at = 0; at < size;) {
        const std::size_t length = std::min<std::size_t>(size - at, random() % 7);
        own.push_back(Results(rank).subspan(at, length));
        at += length;
      }
    }
  }
  // In the order of the ranks, from one around.
  float sum_from(std::size_t first, std::size_t place) const {
    float sum = numbers[first % numbers.size()][place];
    for (std::size_t step = 1; step < numbers.size(); ++step)
      sum += numbers[(first + step) % numbers.size()][place];
    return sum;
  }

  std::vector<std::vector<float>> numbers;
  std::vector<Pieces> pieces;
};

program::Collective of_kind(program::CollectiveKind kind) {
  program::Collective collective;
  collective.kind = kind;
  return collective;
}

}  // namespace

TEST_CASE("an all-reduce adds each part from the rank behind its own, around to it") {
  for (const std::size_t count : {1, 2, 3, 5, 8})
    for (const std::size_t size : {0, 1, 4, 7, 64, 1001}) {
      CAPTURE(count, size);
      const Ranks ranks(count, size, static_cast<unsigned>(100 * count + size));
      std::vector<float> sum(size);
      host::sum_all(host::NumberFormat::kFloat32, ranks.pieces, sum);
      std::vector<float> expected(size);
      for (std::size_t part = 0; part < count; ++part)
        for (std::size_t i = part * size / count; i < (part + 1) * size / count; ++i)
          expected[i] = ranks.sum_from(part + 1, i);
      CHECK(sum == expected);
    }
}

TEST_CASE("the order of a ring is not that of the ranks: other sums are rounded otherwise") {
  const Ranks ranks(5, 1000, 7);
  std::vector<float> ring(1000), plain(1000);
  host::sum_all(host::NumberFormat::kFloat32, ranks.pieces, ring);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = ranks.sum_from(0, i);
  std::size_t different = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    different += ring[i] != plain[i] ? 1 : 0;
    CHECK(ring[i] == Approx(plain[i]).margin(5 * 5 * 0x1p-24));
  }
  CHECK(different > 0);
  // The last part ends at the last rank: it begins at rank 0.
  CHECK(std::equal(ring.begin() + 800, ring.end(), plain.begin() + 800));
}

TEST_CASE("sums of a narrow type are rounded by every rank") {
  using host::NumberFormat;
  Ranks ranks(4, 200, 11);
  for (std::vector<float>& rank : ranks.numbers) host::cast(NumberFormat::kBfloat16, rank);
  std::vector<float> ring(200), once(200);
  host::sum_to(NumberFormat::kBfloat16, 0, ranks.pieces, ring);
  host::sum_to(NumberFormat::kFloat32, 0, ranks.pieces, once);
  host::cast(NumberFormat::kBfloat16, once);
  std::size_t different = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    float sum = ranks.numbers[1][i];
    for (const std::size_t rank : {2, 3, 0})
      sum = host::rounded(NumberFormat::kBfloat16, sum + ranks.numbers[rank][i]);
    CHECK(ring[i] == sum);
    different += ring[i] != once[i] ? 1 : 0;
  }
  CHECK(different > 0);
}

TEST_CASE("a reduction ends at its root, and only the root gets the sum") {
  Ranks ranks(4, 50, 3);
  std::vector<float> expected(50);
  for (std::size_t i = 0; i < 50; ++i) expected[i] = ranks.sum_from(1, i);
  std::vector<float> result(50), room;
  std::vector<Pieces> receives(4);
  receives[0] = {Results(result).first(20), Results(result).subspan(20)};
  const auto before = ranks.numbers;
  host::carry_out(of_kind(program::CollectiveKind::kReduce), host::NumberFormat::kFloat32,
                  ranks.pieces, receives, room);
  CHECK(result == expected);
  CHECK(ranks.numbers == before);
}

TEST_CASE(
    "after an all-reduce in place all ranks hold the same bytes, after a broadcast rank 0's") {
  Ranks ranks(3, 100, 5);
  std::vector<float> room;
  const std::vector<float> first = ranks.numbers[0];
  host::carry_out(of_kind(program::CollectiveKind::kBroadcast), host::NumberFormat::kFloat32,
                  ranks.pieces, ranks.pieces, room);
  for (const auto& rank : ranks.numbers) CHECK(rank == first);
  ranks.numbers[1][5] += 1;
  host::carry_out(of_kind(program::CollectiveKind::kAllReduce), host::NumberFormat::kFloat32,
                  ranks.pieces, ranks.pieces, room);
  CHECK(ranks.numbers[1] == ranks.numbers[0]);
  CHECK(ranks.numbers[2] == ranks.numbers[0]);
  CHECK(ranks.numbers[0][5] == Approx(3 * first[5] + 1));
}

TEST_CASE("an all-reduce of the largest leaves the largest on all ranks, and a NaN where one is") {
  Ranks ranks(3, 50, 6);
  ranks.numbers[1][7] = std::numeric_limits<float>::quiet_NaN();
  ranks.numbers[2][9] = -std::numeric_limits<float>::infinity();
  std::vector<float> expected(50), room;
  for (std::size_t i = 0; i < 50; ++i)
    expected[i] = std::max({ranks.numbers[0][i], ranks.numbers[1][i], ranks.numbers[2][i]});
  program::Collective largest;
  largest.maximum = true;
  host::carry_out(largest, host::NumberFormat::kFloat32, ranks.pieces, ranks.pieces, room);
  for (std::vector<float>& rank : ranks.numbers) {
    CHECK(std::isnan(rank[7]));
    rank[7] = expected[7] = 0;
    CHECK(rank == expected);
  }
}
