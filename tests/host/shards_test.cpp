// Parts of tensors, apart and together, against where each number has to lie.
#include "host/shards.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "host/ring.h"
#include "program/shards.h"

using namespace trainscope;
using host::Results;
using host::Values;

namespace {

// Tensors of these sizes, all numbers different.
std::vector<std::vector<float>> tensors_of(const std::vector<std::size_t>& sizes) {
  std::vector<std::vector<float>> tensors;
  float next = 1;
  for (const std::size_t size : sizes) {
    tensors.emplace_back(size);
    std::iota(tensors.back().begin(), tensors.back().end(), next);
    next += static_cast<float>(size);
  }
  return tensors;
}

program::Collective of_kind(program::CollectiveKind kind) {
  program::Collective collective;
  collective.kind = kind;
  return collective;
}

}  // namespace

TEST_CASE("parts lie rank after rank, tensor after tensor, and come back whole") {
  for (const std::size_t ranks : {1, 2, 3, 5, 8}) {
    CAPTURE(ranks);
    const auto tensors = tensors_of({1, 7, 8, 40, 3});
    std::size_t of_rank = 0;
    for (const auto& tensor : tensors) of_rank += program::shard_size(tensor.size(), ranks);
    const std::vector<Values> given(tensors.begin(), tensors.end());
    std::vector<float> parts(ranks * of_rank, -1);
    host::shards_together(given, ranks, 0.5F, parts);
    std::size_t place = 0, padding = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (const auto& tensor : tensors) {
        const std::size_t size = program::shard_size(tensor.size(), ranks);
        for (std::size_t i = 0; i < size; ++i, ++place) {
          const bool there = rank * size + i < tensor.size();
          padding += there ? 0 : 1;
          REQUIRE(parts[place] == (there ? 0.5F * tensor[rank * size + i] : 0.0F));
        }
      }
    CHECK(place == parts.size());
    CHECK((padding == 0) == (ranks == 1));
    auto back = tensors;
    for (auto& tensor : back) std::ranges::fill(tensor, 0.0F);
    const std::vector<Results> taken(back.begin(), back.end());
    host::shards_apart(parts, ranks, taken);
    for (std::size_t i = 0; i < back.size(); ++i)
      for (std::size_t k = 0; k < back[i].size(); ++k) REQUIRE(back[i][k] == 0.5F * tensors[i][k]);
  }
}

TEST_CASE("a reduce-scatter gives each rank its part of an all-reduce, an all-gather all parts") {
  using Kind = program::CollectiveKind;
  constexpr std::size_t kRanks = 3, kPart = 5, kAll = kRanks * kPart;
  std::vector<std::vector<float>> given, scattered(kRanks), gathered(kRanks);
  std::vector<host::Pieces> sends, parts, wholes;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    given.push_back(tensors_of({kAll}).front());
    for (float& value : given.back()) value *= 1.1F + static_cast<float>(rank) / 7;
    scattered[rank].resize(kPart);
    gathered[rank].resize(kAll);
  }
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const Results all(given[rank]), part(scattered[rank]);
    sends.push_back({all.first(4), all.subspan(4)});
    parts.push_back({part.first(2), part.subspan(2)});
    wholes.push_back({Results(gathered[rank])});
  }
  std::vector<float> room, sum(kAll);
  host::sum_all(host::NumberFormat::kFloat32, sends, sum);
  host::carry_out(of_kind(Kind::kReduceScatter), host::NumberFormat::kFloat32, sends, parts, room);
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    CHECK(std::equal(scattered[rank].begin(), scattered[rank].end(), sum.begin() + rank * kPart));
  host::carry_out(of_kind(Kind::kAllGather), host::NumberFormat::kFloat32, parts, wholes, room);
  for (const std::vector<float>& one : gathered) CHECK(one == sum);
}
