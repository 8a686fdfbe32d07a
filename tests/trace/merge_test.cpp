#include "trace/merge.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "trace/bytes.h"
#include "trace/index.h"
#include "trace/rank_clocks.h"
#include "trace/trace_bytes.h"

using namespace trainscope;
using namespace trainscope::trace;

namespace {

// The trace of one rank, whose clock is `off` ahead of the true one.
class Rank {
 public:
  Rank(int number, Nanos off) : off_(off) {
    Lane lane;
    lane.rank = lane.device = number;
    lane.name = "steps";
    lane.kind = LaneKind::kSteps;
    trace->add_lane(lane);
    lane.name = "host main";
    lane.kind = LaneKind::kHostThread;
    host_ = trace->add_lane(lane);
    lane.name = "stream 7";
    lane.kind = LaneKind::kStream;
    stream_ = trace->add_lane(lane);
  }

  // A call, and a collective of it from when this rank's kernel is there to its end.
  void add_sum(Nanos start, Nanos end, std::int64_t sequence, const std::string& operation,
               const std::string& group = "", int group_size = 0) {
    const SpanId call = add(host_, start - 10, 10, Category::kHostApi, kNone, kNone);
    CollectiveDetail detail;
    detail.operation = operation;
    detail.sequence = sequence;
    detail.group = group;
    detail.group_size = group_size;
    const DetailId known = trace->add_detail(detail);
    const SpanId sum = add(stream_, start, end - start, Category::kCollective, call, known);
    trace->add_flow({call, sum, FlowKind::kLaunch});
    trace->add_sample({start + off_, static_cast<double>(sequence), stream_});
  }

  std::unique_ptr<Trace> trace = std::make_unique<Trace>(Origin{OriginKind::kMeasured, "GPU", ""});

 private:
  SpanId add(LaneId lane, Nanos start, Nanos duration, Category category, SpanId cause,
             DetailId detail) {
    Span span;
    span.lane = lane;
    span.start = start + off_;
    span.duration = duration;
    span.category = category;
    span.name = trace->intern(lane == host_ ? "call" : "kernel of " + std::to_string(off_));
    span.cause_span = cause;
    span.detail = detail;
    span.correlation = trace->spans().size() / 2 + 1;
    return trace->add_span(span);
  }

  Nanos off_;
  LaneId host_ = 0, stream_ = 0;
};

constexpr Nanos kWork = 1000;  // of a collective, once the last rank is there

// Ranks that sum again and again; each comes when it likes, all end within `blur` of each other.
std::vector<Rank> ranks_that_sum(std::mt19937& random, const std::vector<Nanos>& offsets,
                                 Nanos blur) {
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    ranks.emplace_back(static_cast<int>(i), offsets[i]);
  Nanos time = 100;
  for (int sequence = 0; sequence < 41; ++sequence) {
    std::vector<Nanos> come;
    for (std::size_t i = 0; i < ranks.size(); ++i)
      come.push_back(time + static_cast<Nanos>(random() % 5000));
    const Nanos end = *std::max_element(come.begin(), come.end()) + kWork;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto late = static_cast<Nanos>(random() % static_cast<unsigned>(blur + 1));
      ranks[i].add_sum(come[i], end + late, sequence, "allreduce");
    }
    time = end + 2 * blur + 50;
  }
  return ranks;
}

std::vector<const Trace*> traces_of(const std::vector<Rank>& ranks) {
  std::vector<const Trace*> traces;
  for (const Rank& rank : ranks) traces.push_back(rank.trace.get());
  return traces;
}

std::string bytes_of(const Trace& trace) {
  ByteWriter out;
  save_trace(trace, out);
  return out.bytes();
}

}  // namespace

TEST_CASE("clocks are laid on one another by the ends of all-reduces") {
  std::mt19937 random(3);
  for (const Nanos blur : {Nanos{0}, Nanos{200}}) {
    const std::vector<Nanos> offsets{0, 7'000'000, -123'456, 999};
    const std::vector<Rank> ranks = ranks_that_sum(random, offsets, blur);
    const std::vector<Nanos> found = clock_offsets(traces_of(ranks)).later;
    for (std::size_t i = 0; i < offsets.size(); ++i) CHECK(std::abs(found[i] - offsets[i]) <= blur);
  }
}

TEST_CASE("a broadcast says nothing of clocks: its ranks end when they have got it") {
  std::vector<Rank> ranks;
  for (int i = 0; i < 2; ++i) {
    ranks.emplace_back(i, i * 500);
    ranks.back().add_sum(100, 200 + 300 * i, 0, "broadcast");
  }
  CHECK(clock_offsets(traces_of(ranks)).later == std::vector<Nanos>{0, 0});
}

TEST_CASE("merged ranks keep every span, wait for the last and work together") {
  std::mt19937 random(4);
  const std::vector<Rank> ranks = ranks_that_sum(random, {0, 50'000, -3'000}, 0);
  const auto merged = merge_ranks(traces_of(ranks));
  CHECK(merged->lanes().size() == 3 + 2 + 2);  // steps of the first alone
  std::map<std::int64_t, std::set<Nanos>> begun, ended;
  std::size_t waits = 0;
  Nanos works = 0;
  std::set<std::uint32_t> correlations;
  for (SpanId id = 0; id < merged->spans().size(); ++id) {
    const Span& span = merged->spans()[id];
    if (span.category == Category::kHostApi) CHECK(correlations.insert(span.correlation).second);
    if (span.category == Category::kSync) {
      ++waits;
      const std::string waiting = std::to_string(merged->lanes()[span.lane].rank);
      CHECK_THAT(merged->name(span),
                 Catch::StartsWith("waits for rank ") && !Catch::EndsWith(" " + waiting));
      CHECK(span.cause == Cause::kPeer);
    }
    if (span.category != Category::kCollective) continue;
    const auto& detail = std::get<CollectiveDetail>(*merged->detail(span));
    begun[detail.sequence].insert(span.start);
    ended[detail.sequence].insert(span.end());
    works += span.duration;
    REQUIRE(span.cause_span < merged->spans().size());
    const Span& cause = merged->spans()[span.cause_span];
    CHECK(merged->lanes()[cause.lane].rank == merged->lanes()[span.lane].rank);
    CHECK(cause.end() <= span.start);
  }
  CHECK(begun.size() == 41);
  for (const auto& [sequence, times] : begun) CHECK(times.size() == 1);
  for (const auto& [sequence, times] : ended) CHECK(times.size() == 1);
  CHECK(works == 3 * 41 * kWork);
  CHECK(waits >= 41);
  CHECK(waits <= 2 * 41);
  CHECK(merged->spans().size() == 3 * 41 * 2 + waits);
  CHECK(merged->flows().size() == 3 * 41);
  CHECK(merged->samples().size() == 3 * 41);
  for (std::uint32_t i = 0; i < merged->flows().size(); ++i) {
    const Span& from = merged->spans()[merged->flows()[i].from];
    const Span& to = merged->spans()[merged->flows()[i].to];
    CHECK(from.category == Category::kHostApi);
    CHECK(to.category == Category::kCollective);
    CHECK(from.correlation == to.correlation);
  }
  // On every lane one thing at a time.
  const TraceIndex index = build_index(*merged);
  for (const LaneIndex& lane : index.lanes) CHECK(lane.rows.size() <= 1);
}

TEST_CASE("a broadcast that is over before the last rank comes has waited for nobody") {
  std::vector<Rank> ranks;
  for (int i = 0; i < 2; ++i) {
    ranks.emplace_back(i, 0);
    ranks.back().add_sum(100 + 50 * i, 120 + 200 * i, 0, "broadcast");
  }
  const auto merged = merge_ranks(traces_of(ranks));
  CHECK(merged->spans().size() == 4);
}

namespace {

// Tensor parallel ranks 0 and 1, and 2 and 3; data parallel ranks 0 and 2, and 1 and 3. Each
// group's second rank comes 40 later than its first. No collective is of all four.
std::vector<Rank> two_by_two(const std::vector<Nanos>& offsets) {
  std::vector<Rank> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.emplace_back(rank, offsets[static_cast<std::size_t>(rank)]);
    const int column = rank % 2, row = rank / 2;
    for (int step = 0; step < 5; ++step) {
      const Nanos at = 1'000 * (step + 1);
      ranks.back().add_sum(at + 40 * column, at + 100, step, "allreduce", row ? "2" : "1", 2);
      ranks.back().add_sum(at + 400 + 40 * row, at + 500, step, "allreduce", column ? "4" : "3", 2);
    }
  }
  return ranks;
}

std::size_t waits_in(const Trace& trace) {
  // The first of each group for its second.
  static const std::map<int, std::set<std::string>> kNames = {
      {0, {"waits for rank 1", "waits for rank 2"}},
      {1, {"waits for rank 3"}},
      {2, {"waits for rank 3"}}};
  std::size_t waits = 0;
  for_each(trace.spans(), [&](const Span& span, SpanId) {
    if (span.category != Category::kSync) return;
    ++waits;
    CHECK(span.duration == 40);
    CHECK(kNames.at(trace.lanes()[span.lane].rank).contains(trace.name(span)));
  });
  return waits;
}

}  // namespace

TEST_CASE("ranks of process groups are joined group by group, and by those they share") {
  const std::vector<Nanos> offsets{0, 7'000, -123'456, 999};
  const std::vector<Rank> ranks = two_by_two(offsets);
  const ClockOffsets found = clock_offsets(traces_of(ranks));
  CHECK(found.later == offsets);
  CHECK(found.unjoined.empty());
  CHECK(waits_in(*merge_ranks(traces_of(ranks))) == 4 * 5);
}

TEST_CASE("where a rank is missing, groups without it still know their waits") {
  std::vector<Rank> ranks = two_by_two({0, 7'000, -123'456, 999});
  ranks.pop_back();
  Merging merging;
  merging.world = 4;
  CHECK(clock_offsets(traces_of(ranks), 4).later == std::vector<Nanos>{0, 7'000, -123'456});
  CHECK(waits_in(*merge_ranks(traces_of(ranks), merging)) == 2 * 5);
}

TEST_CASE("groups of fewer ranks that have no name are not taken for one another") {
  std::vector<Rank> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.emplace_back(rank, rank * 500);
    ranks.back().add_sum(100 + 10 * rank, 200, 0, "allreduce", "", 2);
  }
  CHECK(clock_offsets(traces_of(ranks)).unjoined == std::vector<int>{1, 2, 3});
  CHECK(waits_in(*merge_ranks(traces_of(ranks))) == 0);
}

TEST_CASE("parts of one trace are put together as they are") {
  std::mt19937 random(6);
  const std::vector<Rank> ranks = ranks_that_sum(random, {0, 500}, 0);
  Merging merging;
  merging.parts = true;
  const auto merged = merge_ranks(traces_of(ranks), merging);
  CHECK(merged->lanes().size() == 6);
  REQUIRE(merged->spans().size() ==
          ranks[0].trace->spans().size() + ranks[1].trace->spans().size());
  const SpanId second = ranks[0].trace->spans().size();
  CHECK(merged->spans()[second].start == ranks[1].trace->spans()[0].start);
}

TEST_CASE("a rank alone is merged into itself") {
  std::mt19937 random(5);
  const std::vector<Rank> ranks = ranks_that_sum(random, {0}, 0);
  CHECK(bytes_of(*merge_ranks(traces_of(ranks))) == bytes_of(*ranks[0].trace));
}

TEST_CASE("lanes of the host say whose they are, once, and other lanes keep their names") {
  std::vector<std::unique_ptr<Trace>> traces;
  for (const char* name : {"host main", "host main, rank 1"}) {
    traces.push_back(std::make_unique<Trace>(Origin{OriginKind::kImported, "GPU", ""}));
    Lane lane;
    lane.rank = static_cast<std::int32_t>(traces.size() - 1);
    lane.name = name;
    lane.kind = LaneKind::kHostThread;
    lane.group = "host";
    Span span;
    span.duration = 10;
    span.name = traces.back()->intern("work");
    span.lane = traces.back()->add_lane(lane);
    traces.back()->add_span(span);
    lane.name = "stream 7";
    lane.group = "GPU 0";
    lane.device = 0;
    span.lane = traces.back()->add_lane(lane);
    traces.back()->add_span(span);
  }
  const auto merged = merge_ranks({traces[0].get(), traces[1].get()});
  REQUIRE(merged->lanes().size() == 4);
  CHECK(merged->lanes()[0].name == "host main, rank 0");
  CHECK(merged->lanes()[1].name == "stream 7");
  CHECK(merged->lanes()[2].name == "host main, rank 1");
  CHECK(merged->lanes()[3].name == "stream 7");
  CHECK(merge_ranks({traces[0].get()})->lanes()[0].name == "host main");
}

namespace {

// Ranks in a row that send to the next and back, whose messages take at least `quickest`, and
// longer where somebody comes late.
std::vector<Rank> ranks_that_send(std::mt19937& random, const std::vector<Nanos>& offsets,
                                  Nanos quickest) {
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    ranks.emplace_back(static_cast<int>(i), offsets[i]);
  Nanos time = 100;
  for (int sequence = 0; sequence < 40; ++sequence)
    for (std::size_t i = 0; i + 1 < ranks.size(); ++i) {
      const bool forward = sequence % 2 == 0;
      Rank &from = ranks[forward ? i : i + 1], &to = ranks[forward ? i + 1 : i];
      const Nanos sent = time + static_cast<Nanos>(random() % 3000);
      const Nanos come = time + static_cast<Nanos>(random() % 3000);
      const Nanos end = std::max(sent, come) + quickest + static_cast<Nanos>(random() % 50);
      const std::string pair = std::to_string(i + 1);
      from.add_sum(sent, end, sequence, "send", pair, 2);
      to.add_sum(come, end + 20, sequence, "recv", pair, 2);
      time = end + 100;
    }
  return ranks;
}

}  // namespace

TEST_CASE("clocks of ranks that only send are laid so that nothing is received before it is sent") {
  std::mt19937 random(5);
  const std::vector<Nanos> offsets{0, 7'000'000, -123'456, 999};
  constexpr Nanos kQuickest = 400;
  const std::vector<Rank> ranks = ranks_that_send(random, offsets, kQuickest);
  const ClockOffsets found = clock_offsets(traces_of(ranks));
  CHECK(found.unjoined.empty());
  CHECK(found.by_messages);
  CHECK_FALSE(found.by_ends);
  // Messages that nobody is late to take 400 to 470 ns; three pairs stand in a row.
  CHECK(found.uncertain >= 3 * kQuickest);
  CHECK(found.uncertain <= 3 * (kQuickest + 500));
  for (std::size_t i = 0; i < offsets.size(); ++i)
    CHECK(std::abs(found.later[i] - offsets[i]) <= found.uncertain);
  CHECK(clock_words(found).starts_with(
      "their clocks laid on one another by what they send each other, to within "));

  const auto merged = merge_ranks(traces_of(ranks));
  std::map<std::pair<std::string, std::int64_t>, std::map<std::string, Nanos>> times;
  for_each(merged->spans(), [&](const Span& span, std::uint32_t) {
    const Detail* detail = merged->detail(span);
    if (!detail) return;
    const auto& one = std::get<CollectiveDetail>(*detail);
    times[{one.group, one.sequence}][one.operation] =
        one.operation == "send" ? span.start : span.end();
  });
  CHECK(times.size() == 3 * 40);
  for (const auto& [key, ends] : times) CHECK(ends.at("recv") >= ends.at("send"));
}

TEST_CASE("what goes one way alone says too little of clocks") {
  std::vector<Rank> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.emplace_back(rank, rank * 500);
    ranks.back().add_sum(100, 200, 0, rank == 0 ? "send" : "recv", "1", 2);
  }
  CHECK(clock_offsets(traces_of(ranks)).unjoined == std::vector<int>{1});
}

TEST_CASE("recorders' clocks are believed where messages do not speak against them") {
  const auto later = [](Nanos told) {
    std::mt19937 random(6);
    const std::vector<Rank> ranks = ranks_that_send(random, {0, 5'000}, 400);
    constexpr Nanos kBegun = 1'000'000'000'000;
    for (const auto& [rank, start] : {std::pair{0, kBegun}, std::pair{1, kBegun - told}}) {
      Origin origin = ranks[static_cast<std::size_t>(rank)].trace->origin();
      origin.clock_start = start;
      ranks[static_cast<std::size_t>(rank)].trace->set_origin(origin);
    }
    return clock_offsets(traces_of(ranks)).later[1];
  };
  CHECK(later(5'100) == 5'100);
  CHECK(std::abs(later(900'000) - 5'000) < 1'000);
}

TEST_CASE("steps that another rank than the first has logged are on the first one's clock") {
  std::mt19937 random(7);
  const std::vector<Rank> ranks = ranks_that_sum(random, {0, 50'000}, 0);
  TrainingStep step;
  step.time = 60'000;
  ranks[1].trace->add_step(step);
  const auto merged = merge_ranks(traces_of(ranks));
  REQUIRE(merged->steps().size() == 1);
  CHECK(merged->steps()[0].time == 10'000);
}
