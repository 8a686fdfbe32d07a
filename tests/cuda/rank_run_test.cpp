// Runs whose ranks are processes of their own: this program starts itself once for each rank after
// the first, as torchrun would, with an emulated device each. They meet over TCP.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "analysis/causes/stage_times.h"
#include "analysis/runs/measured_run.h"
#include "analysis/runs/rank_run.h"
#include "cuda/emulated_device.h"
#include "support/processes.h"
#include "support/skip.h"
#include "trace/same_collectives.h"

using namespace trainscope;
using Catch::Matchers::Contains;
using trace::Category;

namespace {

constexpr std::chrono::milliseconds kTimeOut{60'000};
// Where a rank never comes.
constexpr std::chrono::milliseconds kShortTimeOut{3'000};

program::Config config_of(const std::vector<std::string>& settings) {
  program::Config config;
  for (const char* setting :
       {"workload=train", "model.name=mlp", "model.hidden=16", "batch_size=8", "data.name=spirals",
        "model.inputs=2", "machine=h200-8", "parallel.strategy=ddp"})
    config.set_text(setting);
  for (const std::string& setting : settings) config.set_text(setting);
  return config;
}

// What one process does.
std::optional<analysis::Run> run_rank(const cuda::ProcessPlace& place,
                                      const std::vector<std::string>& settings,
                                      test::EmulatedOptions options,
                                      std::chrono::milliseconds time_out = kTimeOut) {
  const program::Config config = analysis::config_of_ranks(config_of(settings), place);
  cuda::Store store(place, time_out);
  std::map<std::string, int> calls;
  options.gather = [&](const cuda::RankGroup& group, const std::string& mine) {
    const std::string key =
        "emulated " + std::to_string(calls[group.name]++) + " of the " + group.name + " of ";
    store.set(key + std::to_string(place.rank), mine);
    std::vector<std::string> all;
    for (const int rank : group.gpus) all.push_back(store.get(key + std::to_string(rank)));
    return all;
  };
  options.seed = static_cast<std::uint32_t>(place.rank) + 7;
  test::EmulatedDevice device(options);
  return analysis::rank_run("A", config, device, place, store).run;
}

// What the first rank has, or why it has nothing.
struct Ended {
  std::optional<analysis::Run> run;
  std::string error;
  int others_failed = 0;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

pid_t start_rank(const cuda::ProcessPlace& place, const std::vector<std::string>& settings,
                 std::int64_t lost_at) {
  std::vector<std::string> words = test::torchrun_words(place.rank, place.ranks, place.port);
  words.push_back("TEST_NODE=" + place.node);
  words.push_back("TEST_SETTINGS=" + joined(settings));
  words.push_back("TEST_LOST_AT=" + std::to_string(lost_at));
  // Its count of cases is none of this program's.
  return test::start({.program = "/proc/self/exe",
                      .arguments = {"one rank of several", "-o", "/dev/null"},
                      .environment = words});
}

// Two ranks a node, as they say; all are here.
std::string node_of(int rank) {
  return "node-" + std::to_string(rank / 2);
}

// The last rank's device is lost at a call of that number; negative: never.
Ended run_ranks(int ranks, const std::vector<std::string>& settings, std::int64_t lost_at = -1) {
  const int port = test::free_port();
  std::vector<pid_t> children;
  for (int rank = 1; rank < ranks; ++rank)
    children.push_back(start_rank({rank, ranks, rank, "127.0.0.1", port, node_of(rank)}, settings,
                                  rank + 1 == ranks ? lost_at : -1));
  Ended ended;
  try {
    ended.run = run_rank({0, ranks, 0, "127.0.0.1", port, node_of(0)}, settings, {},
                         lost_at < 0 ? kTimeOut : kShortTimeOut);
  } catch (const Error& error) {
    ended.error = error.what();
  }
  for (const pid_t child : children)
    ended.others_failed += test::end_of(child, std::chrono::minutes(5)) != 0;
  return ended;
}

std::vector<double> losses(const analysis::Run& run) {
  std::vector<double> all;
  for (std::uint32_t i = 0; i < run.trace->steps().size(); ++i)
    all.push_back(run.trace->steps()[i].loss);
  return all;
}

// In one process, on a GPU for each of four ranks.
analysis::Run in_one_process(int ranks, const std::vector<std::string>& settings) {
  program::Config config = config_of(settings);
  config.set_text("parallel.world_size=" + std::to_string(ranks));
  test::EmulatedOptions options;
  options.gpus = ranks;
  options.has_library = true;
  test::EmulatedDevice device(options);
  return analysis::measured_run("A", config, device);
}

// Of each kind, by who takes part, how many ranks have a span; not of one rank alone.
std::map<std::string, int> collectives_of(const analysis::Run& run) {
  std::map<std::string, int> counts;
  trace::for_each(run.trace->spans(), [&](const trace::Span& span, std::uint32_t) {
    if (const trace::CollectiveDetail* one = trace::collective_of(*run.trace, span);
        one && one->group_size > 1)
      ++counts[one->operation + " of " + one->members];
  });
  return counts;
}

}  // namespace

// Only where the tests below have started it.
TEST_CASE("one rank of several", "[.]") {
  const char* settings = std::getenv("TEST_SETTINGS");
  if (!settings) TRAINSCOPE_SKIP("no TEST_SETTINGS: no rank of the tests below");
  auto place = cuda::process_place([](const char* name) { return std::getenv(name); });
  REQUIRE(place);
  place->node = std::getenv("TEST_NODE");
  std::istringstream words(settings);
  test::EmulatedOptions options;
  options.lost_at = std::atoll(std::getenv("TEST_LOST_AT"));
  CHECK_FALSE(run_rank(*place, {std::istream_iterator<std::string>(words), {}}, options));
}

TEST_CASE("ranks in processes of their own train as ranks in one process do") {
  const std::vector<std::string> settings{"steps=6"};
  const Ended ended = run_ranks(4, settings);
  CHECK(ended.error.empty());
  CHECK(ended.others_failed == 0);
  REQUIRE(ended.run);
  REQUIRE_FALSE(ended.run->ending);

  const analysis::Run one = in_one_process(4, settings);
  CHECK(losses(*ended.run) == losses(one));
  CHECK(losses(one).size() == 6);

  const auto lanes = [](const analysis::Run& run) {
    std::set<std::pair<std::string, int>> names;
    for (std::uint32_t i = 0; i < run.trace->lanes().size(); ++i)
      if (run.trace->lanes()[i].kind == trace::LaneKind::kStream)
        names.insert({run.trace->lanes()[i].name, run.trace->lanes()[i].device});
    return names;
  };
  CHECK(lanes(*ended.run) == lanes(one));
  for (const char* metric : {"time.step", "comm.exposed", "ddp.buckets"})
    CHECK(analysis::value_of(ended.run->metrics, metric).has_value());
  CHECK(ended.run->trace->origin().kind == trace::OriginKind::kMeasured);
  CHECK_THAT(ended.run->trace->origin().detail, !Contains("ranks 1"));
  CHECK_THAT(
      ended.run->trace->origin().detail,
      Contains("4 processes on 2 nodes, node-0 (ranks 0 and 1) and node-1 (ranks 2 and 3), their"));
}

TEST_CASE("groups of ranks in processes of their own train as in one process") {
  for (const std::vector<std::string>& how : std::vector<std::vector<std::string>>{
           {"parallel.strategy=fsdp", "fsdp.shard_degree=1", "clip_grad_norm=0.1"},
           {"parallel.strategy=fsdp", "fsdp.shard_degree=2", "clip_grad_norm=0.1"},
           {"parallel.strategy=fsdp", "tensor.degree=2", "clip_grad_norm=0.1"},
           {"parallel.strategy=tensor", "tensor.degree=2"}}) {
    INFO(how[1]);
    std::vector<std::string> settings = how;
    settings.emplace_back("steps=4");
    const Ended ended = run_ranks(4, settings);
    CHECK(ended.error.empty());
    CHECK(ended.others_failed == 0);
    REQUIRE(ended.run);
    REQUIRE_FALSE(ended.run->ending);
    const analysis::Run one = in_one_process(4, settings);
    REQUIRE_FALSE(one.ending);
    CHECK_THAT(one.trace->origin().detail, !Contains("ring"));
    CHECK(losses(*ended.run) == losses(one));
    CHECK(losses(one).size() == 4);
    CHECK(collectives_of(*ended.run) == collectives_of(one));
    for (const char* metric : {"time.step", "comm.exposed"})
      CHECK(analysis::value_of(ended.run->metrics, metric).has_value());
  }
}

TEST_CASE("of ranks in groups one trace has each group's collectives, with a span for each rank") {
  const Ended ended = run_ranks(4, {"parallel.strategy=fsdp", "fsdp.shard_degree=2", "steps=3"});
  REQUIRE(ended.run);
  const trace::Trace& all = *ended.run->trace;
  std::set<std::string> members;
  for (const std::vector<trace::SpanId>& ranks : trace::joined_collectives(all)) {
    members.insert(trace::collective_of(all, all.spans()[ranks.front()])->members);
    CHECK(ranks.size() == 2);
  }
  CHECK(members == std::set<std::string>{"[0, 1]", "[0, 2]", "[1, 3]", "[2, 3]"});
}

TEST_CASE("ranks in processes of their own have their own parts of a sequence") {
  const std::vector<std::string> settings{
      "parallel.strategy=tensor", "tensor.sequence_parallel=true",
      "model.name=gpt-mini",      "data.name=text",
      "model.width=16",           "model.heads=4",
      "model.seq_len=8",          "model.blocks=1",
      "model.dropout=0.1",        "batch_size=2",
      "loop.evaluate=false",      "steps=2"};
  const Ended ended = run_ranks(2, settings);
  CHECK(ended.error.empty());
  CHECK(ended.others_failed == 0);
  REQUIRE(ended.run);
  const analysis::Run one = in_one_process(2, settings);
  CHECK(losses(*ended.run) == losses(one));
  CHECK(losses(one).size() == 2);
}

TEST_CASE("stages in processes of their own train as in one process, in every order") {
  // `degree`: ranks of one of several pipelines.
  const auto check = [](int ranks, std::vector<std::string> settings, int degree = 0) {
    settings.push_back("pipeline.degree=" + std::to_string(degree));
    settings.insert(settings.end(), {"parallel.strategy=pipeline", "loop.evaluate=false", "steps=3",
                                     "pipeline.microbatches=4"});
    INFO(ranks << " ranks, " << joined(settings));
    const Ended ended = run_ranks(ranks, settings);
    CHECK(ended.error.empty());
    CHECK(ended.others_failed == 0);
    REQUIRE(ended.run);
    REQUIRE_FALSE(ended.run->ending);
    const analysis::Run one = in_one_process(ranks, settings);
    CHECK(losses(*ended.run) == losses(one));
    CHECK(losses(one).size() == 3);
    CHECK(collectives_of(*ended.run) == collectives_of(one));
    for (const char* metric : {"time.step", "pipeline.bubble"})
      CHECK(analysis::value_of(ended.run->metrics, metric).has_value());
    for (const analysis::Run* run : {&*ended.run, &one}) {
      const analysis::StageTimes stages = analysis::stage_times(*run->trace, degree);
      CHECK(stages.ranks * stages.pipelines == ranks);
      CHECK(stages.pipelines == (degree > 0 ? ranks / degree : 1));
      CHECK(stages.micro_batches == 4);
      CHECK(stages.steps.size() == 3);
    }
    CHECK_THAT(ended.run->trace->origin().detail, Contains("by what they send each other"));
  };
  for (const char* schedule : {"pipeline.schedule=gpipe", "pipeline.schedule=1f1b"})
    for (const int ranks : {2, 4}) check(ranks, {schedule, "model.layers=4"});
  const std::string interleaved = "pipeline.schedule=interleaved_1f1b";
  check(2, {interleaved, "model.layers=6"});
  check(4, {interleaved, "model.layers=9", "pipeline.batch_p2p_comm=false"});
  for (const std::string& schedule : {std::string("pipeline.schedule=gpipe"), interleaved})
    check(4, {schedule, "model.layers=6"}, 2);
}

TEST_CASE("a rank whose device fails ends the run by name, and what was measured is kept") {
  const Ended ended = run_ranks(2, {"steps=3"}, 400);
  INFO(ended.error);
  REQUIRE(ended.run);
  REQUIRE(ended.run->ending);
  const auto* failed = std::get_if<sim::DeviceFailed>(&*ended.run->ending);
  REQUIRE(failed);
  CHECK_THAT(sim::sentence(*failed), Contains("rank 1: "));
  CHECK(ended.run->trace->spans().size() > 10);
}

TEST_CASE("what a process a rank cannot carry out is refused on every rank") {
  const Ended uneven =
      run_ranks(2, {"parallel.strategy=pipeline", "straggler.rank=1", "straggler.factor=2"});
  CHECK_THAT(uneven.error, Contains("ranks that differ (straggler.*, uneven_batches)"));
  CHECK(uneven.others_failed == 1);
  const Ended dp = run_ranks(2, {"parallel.strategy=dp", "parallel.world_size=2"});
  CHECK_THAT(dp.error, Contains("DistributedDataParallel"));
  CHECK(dp.others_failed == 1);
  const Ended size = run_ranks(2, {"parallel.world_size=4"});
  CHECK_THAT(size.error, Contains("parallel.world_size is 4, and 2 processes were started"));
  CHECK(size.others_failed == 1);
  const Ended groups = run_ranks(2, {"parallel.strategy=fsdp", "fsdp.shard_degree=3"});
  CHECK_THAT(groups.error, Contains("fsdp.shard_degree = 3 is more than parallel.world_size = 2"));
  CHECK(groups.others_failed == 1);
  const Ended mesh = run_ranks(2, {"parallel.strategy=tensor", "tensor.degree=3"});
  CHECK_THAT(mesh.error, Contains("tensor.degree = 3 is more than parallel.world_size = 2"));
}
