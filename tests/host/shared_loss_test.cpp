// A loss of logits whose classes ranks share out.
#include "host/shared_loss.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "host/embedding.h"
#include "host/gradient.h"
#include "host/log_softmax.h"
#include "host/ring.h"

using namespace trainscope;
using namespace trainscope::host;

namespace {

constexpr std::size_t kRows = 6, kClasses = 10;
const std::vector<std::int64_t> kTargets{0, 9, 4, 3, kIgnoredTarget, 7};

// What one rank of several holds.
struct Rank {
  MatrixShape shape;
  OwnClasses own;
  std::vector<float> x;        // padded behind its classes
  std::vector<float> by_row;   // of its classes
  std::vector<float> results;  // as x
};

std::vector<Rank> ranks_of(std::size_t count, const std::vector<float>& whole) {
  constexpr float kPadding = 50;  // larger than any logit
  const std::size_t each = (kClasses + count - 1) / count;
  std::vector<Rank> ranks(count);
  for (std::size_t i = 0; i < count; ++i) {
    Rank& rank = ranks[i];
    rank.shape = {kRows, each};
    rank.own.begin = i * each;
    rank.own.count = std::min(each, kClasses - rank.own.begin);
    rank.x.assign(kRows * each, kPadding);
    rank.by_row.resize(kRows);
    rank.results.resize(rank.x.size());
    for (std::size_t row = 0; row < kRows; ++row)
      for (std::size_t c = 0; c < rank.own.count; ++c)
        rank.x[row * each + c] = whole[row * kClasses + rank.own.begin + c];
  }
  return ranks;
}

// An all-reduce of what each has by row.
void reduce(std::vector<Rank>& ranks, bool maximum) {
  std::vector<Pieces> pieces;
  for (Rank& rank : ranks) pieces.push_back({Results(rank.by_row)});
  program::Collective all_reduce;
  all_reduce.maximum = maximum;
  std::vector<float> room;
  carry_out(all_reduce, NumberFormat::kFloat32, pieces, pieces, room);
}

// The logarithms of softmax, in each rank's x.
void log_softmax(std::vector<Rank>& ranks) {
  for (Rank& rank : ranks) row_maxima(rank.shape, rank.own, rank.x, rank.by_row);
  reduce(ranks, true);
  for (Rank& rank : ranks) {
    shift_rows(rank.shape, rank.x, rank.by_row, rank.x);
    exponentials(rank.shape, rank.own, rank.x, rank.results);
    row_sums(rank.shape, rank.own, rank.results, rank.by_row);
  }
  reduce(ranks, false);
  for (Rank& rank : ranks) {
    logarithms(rank.by_row, rank.by_row);
    shift_rows(rank.shape, rank.x, rank.by_row, rank.x);
  }
}

}  // namespace

TEST_CASE("ranks that share out the classes have the logarithms of one softmax") {
  constexpr double kUnits = 2 * 0x1p-20;  // two in the last place of a row's spread, 8 to 16
  const MatrixShape shape{kRows, kClasses};
  const std::vector<float> logits = normal_values(kRows * kClasses, 211, 3);
  std::vector<float> expected(logits.size());
  log_softmax_forward(shape, logits, expected);
  for (const std::size_t count : {1, 2, 3, 5}) {
    std::vector<Rank> ranks = ranks_of(count, logits);
    log_softmax(ranks);
    for (const Rank& rank : ranks)
      for (std::size_t row = 0; row < kRows; ++row)
        for (std::size_t c = 0; c < rank.own.count; ++c)
          CHECK(rank.x[row * rank.shape.columns + c] ==
                Approx(expected[row * kClasses + rank.own.begin + c]).epsilon(1e-6).margin(kUnits));
  }
}

TEST_CASE("each target is one rank's to pick, and one rank's to mark") {
  const std::vector<float> logits = normal_values(kRows * kClasses, 212);
  for (const std::size_t count : {2, 3, 4}) {
    INFO(count << " ranks");
    std::vector<Rank> ranks = ranks_of(count, logits);
    for (Rank& rank : ranks) pick_targets(rank.shape, rank.own, rank.x, kTargets, rank.by_row);
    reduce(ranks, false);
    double marks = 0;
    for (Rank& rank : ranks) {
      mark_targets(rank.shape, rank.own, kTargets, rank.results);
      for (std::size_t i = 0; i < rank.results.size(); ++i) {
        marks += rank.results[i];
        const std::size_t row = i / rank.shape.columns, c = i % rank.shape.columns;
        const bool is_target =
            kTargets[row] == static_cast<std::int64_t>(rank.own.begin + c) && c < rank.own.count;
        CHECK(rank.results[i] == (is_target ? -1.0F : 0.0F));
      }
    }
    CHECK(marks == -5);
    for (std::size_t row = 0; row < kRows; ++row)
      CHECK(ranks.back().by_row[row] ==
            (kTargets[row] == kIgnoredTarget
                 ? 0.0F
                 : logits[row * kClasses + static_cast<std::size_t>(kTargets[row])]));
  }
}

TEST_CASE("what pads a rank's classes is in no maximum, no sum, and has no gradient") {
  std::vector<Rank> ranks = ranks_of(3, std::vector<float>(kRows * kClasses, 1));
  Rank& last = ranks.back();
  REQUIRE(last.own.count == 2);
  row_maxima(last.shape, last.own, last.x, last.by_row);
  CHECK(last.by_row == std::vector<float>(kRows, 1));
  row_sums(last.shape, last.own, last.x, last.by_row);
  CHECK(last.by_row == std::vector<float>(kRows, 2));
  exponentials(last.shape, last.own, last.x, last.results);
  for (std::size_t i = 0; i < last.results.size(); ++i)
    CHECK(last.results[i] == (i % last.shape.columns < 2 ? Approx(std::exp(1.0F)) : Approx(0)));
  const OwnClasses none{kClasses, 0};
  row_maxima(last.shape, none, last.x, last.by_row);
  CHECK(last.by_row == std::vector<float>(kRows, -std::numeric_limits<float>::infinity()));
}

TEST_CASE("rows that ranks have of a table give together what the whole gives") {
  constexpr std::size_t kWidth = 3;
  const std::vector<float> table = normal_values(kClasses * kWidth, 213);
  const std::vector<std::int64_t> tokens{0, 9, 5, 4, 0};
  std::vector<float> whole(tokens.size() * kWidth), sum(whole.size()), part(whole.size());
  embedding_forward({kClasses, kWidth}, table, tokens, whole);
  for (const std::int64_t first : {0, 5}) {
    const auto own = Values(table).subspan(static_cast<std::size_t>(first) * kWidth, 5 * kWidth);
    embedding_forward_of_rows({5, kWidth}, first, own, tokens, part);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    CHECK(std::ranges::count(part, 0.0F) > 0);
  }
  CHECK(sum == whole);
}
