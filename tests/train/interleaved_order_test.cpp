// The order of an interleaved pipeline: as PyTorch's ScheduleInterleaved1F1B has it, without a rank
// that waits for ever, and as short as Narayanan et al. have it.
#include "train/parallel/interleaved_order.h"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/files.h"

using namespace trainscope;
using namespace trainscope::train;

namespace {

using Schedule = std::vector<std::vector<StageAction>>;

// "0F0 0F1 2F0": marks without what all begin with.
std::string text_of(const std::vector<StageAction>& actions) {
  std::string text;
  for (const StageAction& one : actions)
    text += (text.empty() ? "" : " ") + mark_of(one).substr(std::string("PP:").size());
  return text;
}

void for_each_shape(const std::function<void(const InterleavedShape&)>& look) {
  for (int ranks = 2; ranks <= 6; ++ranks)
    for (int stages = 1; stages <= 5; ++stages)
      for (std::int64_t count = 1; count <= 25; ++count) {
        const InterleavedShape shape{ranks, stages, count};
        if (!shape.rounds_are_equal()) continue;
        INFO(ranks << " ranks with " << stages << " stages, " << count << " micro-batches");
        look(shape);
      }
}

bool computes(const StageAction& one) {
  return one.work == StageWork::kForward || one.work == StageWork::kBackward;
}

// The other side of a send or a receive.
StageAction partner_of(const StageAction& one) {
  switch (one.work) {
    case StageWork::kSendForward:
      return {StageWork::kReceiveForward, one.stage + 1, one.micro_batch};
    case StageWork::kReceiveForward:
      return {StageWork::kSendForward, one.stage - 1, one.micro_batch};
    case StageWork::kSendBackward:
      return {StageWork::kReceiveBackward, one.stage - 1, one.micro_batch};
    default:
      return {StageWork::kSendBackward, one.stage + 1, one.micro_batch};
  }
}

// Whether ranks that do one thing after another, and wait in each send and receive for the other
// side, come to the end.
bool ends(const InterleavedShape& shape, const Schedule& schedule) {
  std::vector<std::size_t> next(schedule.size(), 0);
  const auto now = [&](std::size_t rank) -> const StageAction* {
    return next[rank] < schedule[rank].size() ? &schedule[rank][next[rank]] : nullptr;
  };
  for (bool any = true; any;) {
    any = false;
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
      const StageAction* one = now(rank);
      if (!one) continue;
      if (computes(*one) || one->work == StageWork::kReduceGradients) {
        ++next[rank];
        any = true;
        continue;
      }
      const StageAction other = partner_of(*one);
      const auto with = static_cast<std::size_t>(shape.rank_of(other.stage));
      const StageAction* there = now(with);
      if (!there || *there != other) continue;
      ++next[rank];
      ++next[with];
      any = true;
    }
  }
  for (std::size_t rank = 0; rank < schedule.size(); ++rank)
    if (now(rank)) return false;
  return true;
}

// When all is computed, if a stage's forward takes 1, its backward 2, and sending nothing.
std::int64_t time_of(const InterleavedShape& shape) {
  std::vector<std::vector<StageAction>> orders;
  for (int rank = 0; rank < shape.ranks; ++rank) orders.push_back(interleaved_order(shape, rank));
  std::vector<std::size_t> next(orders.size(), 0);
  std::vector<std::int64_t> free_at(orders.size(), 0);
  std::map<StageAction, std::int64_t> done;
  const auto ready = [&](const StageAction& one) -> std::optional<std::int64_t> {
    const bool forward = one.work == StageWork::kForward;
    StageAction before = one;
    before.stage += forward ? -1 : 1;
    if (before.stage < 0) return 0;
    if (before.stage == shape.stages()) before = {StageWork::kForward, one.stage, one.micro_batch};
    const auto found = done.find(before);
    return found == done.end() ? std::nullopt : std::optional(found->second);
  };
  for (bool any = true; any;) {
    any = false;
    for (std::size_t rank = 0; rank < orders.size(); ++rank)
      while (next[rank] < orders[rank].size()) {
        const StageAction& one = orders[rank][next[rank]];
        const auto begin = ready(one);
        if (!begin) break;
        free_at[rank] = std::max(free_at[rank], *begin) + (one.work == StageWork::kForward ? 1 : 2);
        done[one] = free_at[rank];
        ++next[rank];
        any = true;
      }
  }
  return *std::ranges::max_element(free_at);
}

}  // namespace

TEST_CASE("ranks compute in PyTorch's order") {
  const InterleavedShape small{2, 2, 4};
  CHECK(text_of(interleaved_order(small, 0)) ==
        "0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3");
  CHECK(text_of(interleaved_order(small, 1)) ==
        "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3");
  // Three micro-batches in one round.
  const InterleavedShape odd{2, 3, 3};
  CHECK(text_of(interleaved_order(odd, 0)) ==
        "0F0 0F1 0F2 2F0 2F1 2F2 4F0 4F1 4F2 4B0 4B1 4B2 2B0 2B1 2B2 0B0 0B1 0B2");
  CHECK(text_of(interleaved_order(odd, 1)) ==
        "1F0 1F1 1F2 3F0 3F1 3F2 5F0 5B0 5F1 5B1 5F2 5B2 3B0 3B1 3B2 1B0 1B1 1B2");
  // The paper's figure 4, of its first and its last device.
  const InterleavedShape paper{4, 2, 8};
  CHECK(text_of(interleaved_order(paper, 0)) ==
        "0F0 0F1 0F2 0F3 4F0 4F1 4F2 4F3 0F4 0F5 0F6 4B0 0F7 4B1 4F4 4B2 4F5 4B3 4F6 0B0 4F7 0B1 "
        "0B2 0B3 4B4 4B5 4B6 4B7 0B4 0B5 0B6 0B7");
  CHECK(text_of(interleaved_order(paper, 3)) ==
        "3F0 3F1 3F2 3F3 7F0 7B0 7F1 7B1 7F2 7B2 7F3 7B3 3F4 3B0 3F5 3B1 3F6 3B2 3F7 3B3 7F4 7B4 "
        "7F5 7B5 7F6 7B6 7F7 7B7 3B4 3B5 3B6 3B7");
}

// tests/golden/pipeline_orders.py
TEST_CASE("ranks send and receive in PyTorch's order, and what it refuses has unequal rounds") {
  const auto golden = nlohmann::json::parse(
      read_file(TRAINSCOPE_SOURCE_DIR "/tests/golden/pipeline_orders.json", std::size_t{1} << 20));
  int refused = 0;
  for (const auto& one : golden) {
    const auto& [ranks, stages, count] = one.at("shape").get<std::tuple<int, int, std::int64_t>>();
    INFO(ranks << " ranks with " << stages << " stages, " << count << " micro-batches");
    const InterleavedShape shape{ranks, stages, count};
    CHECK(shape.rounds_are_equal() == !one.contains("refused"));
    refused += one.contains("refused") ? 1 : 0;
    if (!shape.rounds_are_equal()) continue;
    const Schedule schedule = interleaved_schedule(shape);
    for (std::size_t rank = 0; rank < schedule.size(); ++rank)
      CHECK(text_of(schedule[rank]) == one.at("ranks").at(rank).get<std::string>());
  }
  CHECK(golden.size() > 30);
  CHECK(refused > 3);
}

TEST_CASE("who has computed something sends it, and its receiver receives it from then on") {
  const Schedule schedule = interleaved_schedule({2, 2, 2});
  CHECK(text_of(schedule[0]) ==
        "0F0 0SEND_F0 2RECV_F0 0F1 0SEND_F1 2RECV_F1 2F0 2SEND_F0 2F1 2SEND_F1 2RECV_B0 2B0 "
        "2SEND_B0 2RECV_B1 2B1 2SEND_B1 2REDUCE_GRAD 0RECV_B0 0B0 0RECV_B1 0B1 0REDUCE_GRAD");
  CHECK(text_of(schedule[1]) ==
        "1RECV_F0 1F0 1SEND_F0 1RECV_F1 1F1 1SEND_F1 3RECV_F0 3F0 3RECV_F1 3B0 3SEND_B0 1RECV_B0 "
        "3F1 3B1 3SEND_B1 1RECV_B1 3REDUCE_GRAD 1B0 1SEND_B0 1B1 1SEND_B1 1REDUCE_GRAD");
}

TEST_CASE("rounds are as PyTorch counts them") {
  CHECK(InterleavedShape{4, 2, 10}.rounds() == 2);
  CHECK(InterleavedShape{4, 2, 10}.per_round() == 5);
  CHECK(InterleavedShape{4, 2, 3}.rounds() == 1);
  CHECK(InterleavedShape{4, 2, 3}.rounds_are_equal());
  CHECK_FALSE(InterleavedShape{4, 2, 9}.rounds_are_equal());
}

TEST_CASE("every micro-batch goes through every stage, forward before backward") {
  for_each_shape([](const InterleavedShape& shape) {
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const std::vector<StageAction> order = interleaved_order(shape, rank);
      CHECK(order.size() ==
            static_cast<std::size_t>(2 * shape.stages_per_rank * shape.micro_batches));
      std::set<StageAction> seen;
      for (const StageAction& one : order) {
        REQUIRE(shape.rank_of(one.stage) == rank);
        REQUIRE(one.stage < shape.stages());
        REQUIRE(one.micro_batch < shape.micro_batches);
        REQUIRE(seen.insert(one).second);
        if (one.work == StageWork::kBackward)
          REQUIRE(seen.contains({StageWork::kForward, one.stage, one.micro_batch}));
      }
    }
  });
}

TEST_CASE("what is read was received, all is sent once, and no rank waits for ever") {
  for_each_shape([](const InterleavedShape& shape) {
    const Schedule schedule = interleaved_schedule(shape);
    std::set<StageAction> all;
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const auto& own = schedule[static_cast<std::size_t>(rank)];
      std::vector<StageAction> computed;
      std::set<StageAction> seen;
      for (const StageAction& one : own) {
        REQUIRE(shape.rank_of(one.stage) == rank);
        if (computes(one)) computed.push_back(one);
        if (one.work == StageWork::kForward && one.stage > 0)
          REQUIRE(seen.contains({StageWork::kReceiveForward, one.stage, one.micro_batch}));
        if (one.work == StageWork::kBackward && one.stage + 1 < shape.stages())
          REQUIRE(seen.contains({StageWork::kReceiveBackward, one.stage, one.micro_batch}));
        if (one.work == StageWork::kSendForward)
          REQUIRE(seen.contains({StageWork::kForward, one.stage, one.micro_batch}));
        if (one.work == StageWork::kSendBackward)
          REQUIRE(seen.contains({StageWork::kBackward, one.stage, one.micro_batch}));
        REQUIRE(seen.insert(one).second);
      }
      CHECK(computed == interleaved_order(shape, rank));
      all.insert(seen.begin(), seen.end());
    }
    const auto sent = [&](StageWork work) {
      return std::ranges::count(all, work, &StageAction::work);
    };
    for (const StageWork work : {StageWork::kSendForward, StageWork::kReceiveForward,
                                 StageWork::kSendBackward, StageWork::kReceiveBackward})
      CHECK(sent(work) == (shape.stages() - 1) * shape.micro_batches);
    CHECK(sent(StageWork::kReduceGradients) == shape.stages());
    CHECK(ends(shape, schedule));
  });
}

// Forward and backward of all stages of a rank take 3 a stage and micro-batch.
TEST_CASE("whole rounds of equal stages leave a bubble of (p - 1) / (v m)") {
  for_each_shape([](const InterleavedShape& shape) {
    const std::int64_t work = 3 * shape.stages_per_rank * shape.micro_batches;
    if (shape.micro_batches % shape.ranks == 0)
      CHECK(time_of(shape) == work + 3 * (shape.ranks - 1));
    else
      CHECK(time_of(shape) >= work + 3 * (shape.ranks - 1));
  });
}
