// Ranks of one trace that have marks of steps of their own: at other times than the first rank's,
// or fewer.
#include <catch2/catch.hpp>

#include "analysis/causes/rank_times.h"
#include "analysis/steps/facts.h"
#include "support/made_trace.h"
#include "support/step_facts.h"

using namespace trainscope;
using trace::Category;
using trace::LaneKind;

namespace {

constexpr Nanos kStep = 100;
constexpr int kSteps = 4;

// What the file of one rank holds.
struct Rank {
  int first = 0, end = kSteps;  // its steps
  Nanos later = 0;              // than the first rank's
  Nanos waits = 0;              // in each step, for another rank
  bool is_numbered = true;      // its marks are
};

// In each step a rank calls two kernels, near the beginning and near the end, and its GPU is at
// work for 40 ns; where it waits for another rank, for the 10 ns of a collective besides.
class Job {
 public:
  explicit Job(const std::vector<Rank>& ranks) {
    for (const Rank& rank : ranks) add(rank);
  }

  const trace::Trace& trace() const { return made_.trace; }
  analysis::Facts facts() const { return analysis::gather_facts(trace(), nullptr, nullptr); }

 private:
  trace::LaneId lane(LaneKind kind, int device) {
    trace::Lane lane;
    lane.kind = kind;
    lane.device = device;
    lane.rank = ranks_;
    return made_.trace.add_lane(lane);
  }

  void add(const Rank& rank) {
    const trace::LaneId host = lane(LaneKind::kHostThread, -1);
    const trace::LaneId stream = lane(LaneKind::kStream, ranks_);
    for (int step = rank.first; step < rank.end; ++step) {
      const Nanos begin = step * kStep + rank.later;
      const std::string name =
          "ProfilerStep#" + (rank.is_numbered ? std::to_string(step) : std::string("?"));
      made_.add(host, name.c_str(), begin, begin + kStep, Category::kAnnotation);
      add_kernel(host, stream, begin + 5, {begin + 10, begin + 40});
      add_kernel(host, stream, begin + 85, {begin + 88, begin + 98});
      if (rank.waits == 0) continue;
      trace::Span wait;
      wait.lane = stream;
      wait.start = begin + 50;
      wait.duration = rank.waits;
      wait.category = Category::kSync;
      wait.cause = trace::Cause::kPeer;
      wait.name = made_.trace.intern("waits for rank 1");
      made_.trace.add_span(wait);
      made_.add(stream, "ncclDevKernel_AllReduce", wait.end(), wait.end() + 10,
                Category::kCollective);
    }
    ++ranks_;
  }

  void add_kernel(trace::LaneId host, trace::LaneId stream, Nanos call,
                  const analysis::Interval& work) {
    ++calls_;
    made_.add(host, "cudaLaunchKernel", call, call + 2, Category::kHostApi, calls_);
    made_.add(stream, "kernel", work.start, work.end, Category::kKernel, calls_);
  }

  test::MadeTrace made_{trace::OriginKind::kImported};
  int ranks_ = 0;
  std::uint32_t calls_ = 0;
};

}  // namespace

TEST_CASE("launches are counted by the steps of the rank that calls them") {
  for (const Nanos later : {-260, -140, -60, -30, 0, 10, 40, 60, 90, 170, 300}) {
    INFO(later);
    const analysis::Facts facts = Job({{0, kSteps, 0, 5}, {0, kSteps, later, 0}}).facts();
    REQUIRE(facts.measured.rank == 1);
    CHECK(facts.host.launches == 2);
  }
}

TEST_CASE("a rank's times are those of its own steps, however far its host is ahead or behind") {
  for (const Nanos later : {-260, -140, -60, 0, 60, 170, 300}) {
    INFO(later);
    const Job job({{0, kSteps, 0, 5}, {0, kSteps, later, 0}});
    const analysis::Measured measured = job.facts().measured;
    CHECK(measured.window == analysis::Interval{later, later + kSteps * kStep});
    CHECK(measured.first_window() == analysis::Interval{0, kSteps * kStep});
    CHECK(gpu_busy(measured).length() == kSteps * 40);
    CHECK(gpu_busy(of_gpu(measured, 0, 0)).length() == kSteps * 50);
    for (const analysis::RankTimes& one : analysis::rank_times(measured)) {
      CHECK(one.busy == (one.rank == 0 ? 50 : 40));
      CHECK(one.wait == (one.rank == 0 ? 5 : 0));
    }
  }
}

TEST_CASE("marks whose names do not number them are of the steps that they lie in") {
  const Rank first{0, kSteps, 0, 5, false};
  for (const Nanos later : {-30, 0, 40}) {
    INFO(later);
    const analysis::Facts facts = Job({first, {0, kSteps, later, 0, false}}).facts();
    REQUIRE(facts.measured.rank == 1);
    CHECK(facts.host.launches == 2);
    CHECK(facts.measured.window == analysis::Interval{later, later + kSteps * kStep});
  }
  const Job job({first, {0, kSteps, 60, 0, false}});  // its last one lies outside
  CHECK(job.facts().measured.marks_of_ranks.at(1).size() == kSteps - 1);
  CHECK(job.facts().measured.rank == 0);
}

TEST_CASE("a rank whose file holds fewer steps is told by those that it holds") {
  const Job job({{0, kSteps, 0, 5}, {1, 3, 0, 1}, {0, kSteps, 0, 4}, {kSteps, kSteps + 2, 0, 1}});
  const analysis::Facts facts = job.facts();
  CHECK(facts.measured.steps == kSteps);
  CHECK(facts.measured.rank == 2);
  CHECK(facts.host.launches == 2);
  const std::vector<analysis::RankTimes> ranks = analysis::rank_times(facts.measured);
  REQUIRE(ranks.size() == 3);  // the last has none of the first rank's steps
  const std::vector<double> waits{5, 1, 4};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    CHECK(ranks[i].rank == static_cast<int>(i));
    CHECK(ranks[i].busy == 50);
    CHECK(ranks[i].wait == waits[i]);
  }
}

TEST_CASE("a step alone counts the launches of its rank's own step") {
  const Job job({{0, kSteps, 0, 5}, {0, kSteps, 30, 0}});
  const auto steps = test::gather_step_facts(job.trace(), nullptr, nullptr);
  REQUIRE(steps.size() == kSteps);
  for (const analysis::Facts& step : steps) CHECK(step.host.launches == 2);
}
