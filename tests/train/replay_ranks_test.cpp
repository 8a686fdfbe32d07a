// Replays of all ranks of a job: who waits for whom.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "base/temporary_folder.h"
#include "support/replays.h"
#include "trace/chrome_writer.h"
#include "trace/rank_folder.h"
#include "trace/ranks.h"
#include "train/replay/rank_loads.h"

using namespace trainscope;
using namespace trainscope::test;

namespace {

Settings job(const char* machine, const char* strategy, const char* ranks, Settings more) {
  Settings settings =
      training({std::string("machine=") + machine, std::string("parallel.strategy=") + strategy,
                std::string("parallel.world_size=") + ranks});
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// All of their ranks are simulated.
const std::vector<Settings> kJobs{
    job("l40s-4", "ddp", "4",
        {"model.name=resnet50", "batch_size=16", "straggler.rank=2", "straggler.factor=1.3"}),
    job("h200-8", "ddp", "2",
        {"model.name=resnet50", "batch_size=64", "straggler.rank=1", "straggler.factor=2"}),
    job("l40s-4", "fsdp", "4", {"model.name=gpt-mini", "straggler.rank=0", "straggler.factor=1.5"}),
    job("l40s-4", "fsdp", "4",
        {"model.name=gpt-mini", "tensor.degree=2", "straggler.rank=3", "straggler.factor=1.2"}),
    job("l40s-4", "pipeline", "4", {"model.name=gpt-mini"}),
    job("l40s-4", "pipeline", "2", {"model.name=gpt-mini", "pipeline.schedule=interleaved_1f1b"}),
    job("l40s-4", "tensor", "4",
        {"model.name=gpt-mini", "straggler.rank=3", "straggler.factor=1.2"})};

// When each rank began to wait for the others, and until when.
std::vector<Work> waits_of(const trace::Trace& trace) {
  std::vector<Work> waits;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (span.category == trace::Category::kSync && span.cause == trace::Cause::kPeer)
      waits.push_back({lane.rank, lane.name, trace.name(span), span.start, span.end()});
  });
  std::ranges::sort(waits, {}, [](const Work& one) {
    return std::tuple(one.rank, one.stream, one.start, one.end, one.name);
  });
  return waits;
}

// The files that the ranks of a run would write, each with a clock of its own, read again.
TracePointer written_by_ranks(const TracePointer& run) {
  const TemporaryFolder folder;
  for (const int rank : trace::ranks_of(*run))
    trace::write_chrome_trace(*trace::part_of_rank(*run, rank),
                              folder.path() / ("rank" + std::to_string(rank) + ".json"));
  return trace::read_rank_folder(folder.path());
}

}  // namespace

TEST_CASE("a replay of a job is the job, its ranks' waits for one another too") {
  for (const Settings& settings : kJobs) {
    INFO(settings[4] << " " << settings.back());
    const TracePointer run = simulated(settings);
    REQUIRE(trace::ranks_of(*run).size() > 1);
    const TracePointer again = replayed(run);
    CHECK(trace::ranks_of(*again) == trace::ranks_of(*run));
    CHECK(most_apart(work_of(*run), work_of(*again)) <= 1);
    const std::vector<Work> waits = waits_of(*run);
    REQUIRE(!waits.empty());
    CHECK(most_apart(waits, waits_of(*again)) <= 1);
  }
}

TEST_CASE("a replay of the files of a job's ranks is what was recorded") {
  const TracePointer run = simulated(kJobs[0]);
  const TracePointer read = written_by_ranks(run);
  REQUIRE(trace::ranks_of(*read).size() == 4);
  CHECK(most_apart(work_of(*read), work_of(*replayed(read))) <= 2 * kMicrosecond);
}

TEST_CASE("whatever is made faster, ranks come to their collectives in one order") {
  for (const Settings& settings : kJobs) {
    INFO(settings[4] << " " << settings.back());
    const TracePointer read = written_by_ranks(simulated(settings));
    const std::size_t works = work_of(*read).size();
    REQUIRE(works > 0);
    for (const char* change :
         {"replay.host_speed=1000", "replay.kernel_speed=20", "replay.communication_speed=1000",
          "replay.non_blocking=true", "replay.synchronise=false"})
      for (const char* rank : {"replay.rank=-1", "replay.rank=1"})
        CHECK(work_of(*replayed(read, {change, rank})).size() == works);
  }
}

TEST_CASE(
    "a replay foretells what a rank that keeps up brings, and a faster one that is not late") {
  for (const Settings& settings : kJobs) {
    const auto factor = std::ranges::find_if(
        settings, [](const std::string& one) { return one.starts_with("straggler.factor="); });
    if (factor == settings.end()) continue;
    const std::string rank = std::prev(factor)->substr(std::string("straggler.rank=").size());
    const std::string times = factor->substr(std::string("straggler.factor=").size());
    INFO(settings[4] << " " << *factor);
    const double share = foretold(settings, {"replay.rank=" + rank, "replay.kernel_speed=" + times},
                                  machine_of(settings), {"straggler.rank=-1"});
    // While rank 0 waits, its collective holds SMs that kernels beside it lack: long waits lengthen
    // them, which a replay does not know.
    CHECK(share == Approx(1).epsilon(times == "2" ? 0.08 : 0.01));
    const std::string other = rank == "1" ? "0" : "1";
    const TracePointer run = simulated(settings);
    const TracePointer of_other = replayed(run, {"replay.rank=" + other, "replay.kernel_speed=4"});
    CHECK(time_of_work(*of_other) == Approx(time_of_work(*run)).epsilon(0.01));
  }
}

TEST_CASE("the loads of ranks tell how much longer one takes, and for what") {
  const TracePointer run = simulated(kJobs[0]);
  const std::vector<train::RankLoad> loads = train::rank_loads(config_of({"workload=replay"}), run);
  REQUIRE(loads.size() == 4);
  CHECK(train::times_as_much(loads, 2, &train::RankLoad::kernels) == Approx(1.3).epsilon(0.01));
  CHECK(train::times_as_much(loads, 1, &train::RankLoad::kernels) == Approx(1).epsilon(0.01));
  CHECK(train::times_as_much(loads, 2, &train::RankLoad::host) == Approx(1).epsilon(0.02));
  CHECK(train::times_as_much({loads[0]}, 0, &train::RankLoad::host) == 0);
}

TEST_CASE("communication that is faster shortens what ranks send, not their waits for the last") {
  const Settings& settings = kJobs[1];
  const TracePointer run = simulated(settings);
  const TracePointer faster = replayed(run, {"replay.communication_speed=1000"});
  const auto total = [](const std::vector<Work>& spans) {
    Nanos sum = 0;
    for (const Work& one : spans) sum += one.end - one.start;
    return static_cast<double>(sum);
  };
  CHECK(total(waits_of(*faster)) >= 0.9 * total(waits_of(*run)));
}
