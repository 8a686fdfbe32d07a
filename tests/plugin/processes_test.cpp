// The program as torchrun starts it, a process a rank, each with the plug-in over a machine that
// stands in: they meet by the stand-in's NCCL.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>

#include "analysis/causes/stage_times.h"
#include "analysis/runs/measured_run.h"
#include "analysis/runs/run_file.h"
#include "cli/program.h"
#include "cuda/device_checks.h"
#include "support/processes.h"

using namespace trainscope;
using Catch::Matchers::Contains;

namespace {

using Words = std::vector<std::string>;

// Sums are in another order.
constexpr double kFp32 = 1e-4;
// None of these runs takes long; one that hangs is to be seen.
constexpr std::chrono::seconds kMost{120};

const Words kModel{"workload=train",  "model.name=mlp",        "data.name=digits",
                   "model.hidden=20", "batch_size=8",          "loop.evaluate=false",
                   "machine=h200-8",  "parallel.strategy=ddp", "steps=4"};

Words arguments_of(const Words& settings) {
  Words arguments;
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  return arguments;
}

// Hybrid sharding of four ranks.
Words groups_of(int degree, const Words& more = {}) {
  Words settings = kModel;
  std::erase(settings, "parallel.strategy=ddp");
  settings.insert(settings.end(), {"parallel.strategy=fsdp", "parallel.world_size=4",
                                   "fsdp.shard_degree=" + std::to_string(degree)});
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

Words stages_of(int ranks, const Words& more = {}) {
  Words settings = kModel;
  std::erase(settings, "parallel.strategy=ddp");
  settings.insert(settings.end(),
                  {"parallel.strategy=pipeline", "model.layers=8",
                   "parallel.world_size=" + std::to_string(ranks), "pipeline.microbatches=4"});
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

struct Ranks {
  int ranks = 2;
  Words run = arguments_of(kModel);
  Words arguments = {};                      // of rank 0, beside the run's
  std::string machine = "gpus=4";            // words of TRAINSCOPE_STAND_IN
  std::map<int, std::string> of = {};        // more of them, by rank
  Words environment = {};                    // goes before torchrun's
  std::map<int, Words> environment_of = {};  // the same, by rank
};

pid_t start_rank(const Ranks& all, int rank, int port, const test::Folder& folder) {
  const auto more = all.of.find(rank);
  test::Start one;
  one.program = TRAINSCOPE_BINARY;
  one.arguments = {"run", "--executor", "cuda"};
  one.arguments.insert(one.arguments.end(), all.run.begin(), all.run.end());
  if (rank == 0)
    one.arguments.insert(one.arguments.end(), all.arguments.begin(), all.arguments.end());
  one.environment = all.environment;
  if (const auto own = all.environment_of.find(rank); own != all.environment_of.end())
    one.environment.insert(one.environment.end(), own->second.begin(), own->second.end());
  one.environment.push_back("TRAINSCOPE_STAND_IN=memory_mb=512 " + all.machine + " " +
                            (more == all.of.end() ? "" : more->second));
  for (const std::string& word : test::torchrun_words(rank, all.ranks, port))
    one.environment.push_back(word);
  one.out = folder.file("out " + std::to_string(rank));
  one.err = folder.file("err " + std::to_string(rank));
  return test::start(one);
}

// By rank.
std::vector<test::Result> run(const Ranks& all) {
  const test::Folder folder;
  const int port = test::free_port();
  std::vector<pid_t> children;
  for (int rank = 0; rank < all.ranks; ++rank)
    children.push_back(start_rank(all, rank, port, folder));
  std::vector<test::Result> results;
  for (int rank = 0; rank < all.ranks; ++rank) {
    const int code = test::end_of(children[static_cast<std::size_t>(rank)], kMost);
    results.push_back({code, test::read(folder.file("out " + std::to_string(rank))),
                       test::read(folder.file("err " + std::to_string(rank)))});
    UNSCOPED_INFO("rank " << rank << " ended with " << code << ": " << results.back().err);
    CHECK_THAT(results.back().err, !Contains("stand-in: "));  // a rule that was broken
  }
  return results;
}

// The ranks on whose streams something happens.
std::set<int> ranks_on_streams(const trace::Trace& trace) {
  std::set<int> ranks;
  trace::for_each(trace.spans(), [&](const trace::Span& span, std::uint32_t) {
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (lane.kind == trace::LaneKind::kStream) ranks.insert(lane.device);
  });
  return ranks;
}

int lines_in(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

// Of the program: a sanitizer has some of its own.
int sentences_in(const std::string& text) {
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += line.starts_with("trainscope: ");
  return count;
}

// Of four, the last one is killed.
void check_that_all_end_with_the_last(const Words& settings) {
  for (const char* machine : {"gpus=4", "gpus=4 late", "gpus=4 deaf"}) {
    INFO(machine);
    const auto ended = run(
        {.ranks = 4, .run = arguments_of(settings), .machine = machine, .of = {{3, "dies_at=60"}}});
    CHECK(ended[3].code == 128 + SIGKILL);
    for (const int rank : {0, 1, 2}) CHECK(ended[static_cast<std::size_t>(rank)].code == 3);
    CHECK_THAT(ended[0].out, Contains("the run ended: rank 3: its process ended before the run"));
  }
}

}  // namespace

TEST_CASE("processes of a rank each train as on the host, and have one trace", "[.processes]") {
  for (const int ranks : {2, 4}) {
    Words settings = kModel;
    settings.push_back("parallel.world_size=" + std::to_string(ranks));
    const analysis::Run ours = analysis::run_config("A", test::config_of(settings));
    for (const char* machine : {"gpus=4", "gpus=4 late seed=3", "gpus=4 without=libcupti.so.13"}) {
      INFO(ranks << " ranks, " << machine);
      const test::Folder folder;
      const std::string saved = folder.file("run.tsrun"), traces = folder.file("traces");
      const auto ended = run(
          {.ranks = ranks, .arguments = {"--save", saved, "--trace", traces}, .machine = machine});
      for (const test::Result& one : ended) CHECK(one.code == 0);
      for (std::size_t rank = 1; rank < ended.size(); ++rank) CHECK(ended[rank].out.empty());
      const analysis::SavedRuns opened = analysis::open_runs(saved);
      REQUIRE(opened.runs.size() == 1);
      const analysis::Run& run = *opened.runs.front();
      CHECK_FALSE(run.ending);
      test::check_same_steps(run, ours, kFp32);
      CHECK(ranks_on_streams(*run.trace).size() == static_cast<std::size_t>(ranks));
      CHECK(std::distance(std::filesystem::directory_iterator(traces), {}) == ranks);
      CHECK_THAT(run.trace->origin().detail, Contains(std::to_string(ranks) + " processes"));
    }
  }
}

TEST_CASE("processes of a rank each give back what their GPUs have cached", "[.processes]") {
  Words settings = kModel;
  settings.insert(settings.end(), {"parallel.world_size=2", "loop.empty_cache=true"});
  for (const test::Result& one : run({.run = arguments_of(settings)})) CHECK(one.code == 0);
}

TEST_CASE("processes that share out parameters or layers train as on the host", "[.processes]") {
  for (const bool narrow : {false, true})
    for (const char* strategy : {"parallel.strategy=fsdp", "parallel.strategy=tensor"}) {
      INFO(strategy << (narrow ? " in BF16" : ""));
      Words settings = kModel;
      std::erase(settings, "parallel.strategy=ddp");
      settings.insert(settings.end(), {strategy, "parallel.world_size=2"});
      if (narrow) settings.push_back("precision=bf16");
      const analysis::Run ours = analysis::run_config("A", test::config_of(settings));
      const test::Folder folder;
      const std::string saved = folder.file("run.tsrun");
      const auto ended = run({.run = arguments_of(settings), .arguments = {"--save", saved}});
      for (const test::Result& one : ended) CHECK(one.code == 0);
      const analysis::SavedRuns opened = analysis::open_runs(saved);
      REQUIRE(opened.runs.size() == 1);
      test::check_same_steps(*opened.runs.front(), ours, narrow ? 3e-2 : kFp32);
      CHECK(ranks_on_streams(*opened.runs.front()->trace).size() == 2);
    }
}

TEST_CASE("processes in groups that share out parameters train as on the host", "[.processes]") {
  const auto check = [](const Words& settings, const char* machine, double most) {
    INFO(settings.back() << ", " << machine);
    const analysis::Run ours = analysis::run_config("A", test::config_of(settings));
    const test::Folder folder;
    const std::string saved = folder.file("run.tsrun");
    const auto ended = run({.ranks = 4,
                            .run = arguments_of(settings),
                            .arguments = {"--save", saved},
                            .machine = machine});
    for (const test::Result& one : ended) CHECK(one.code == 0);
    const analysis::SavedRuns opened = analysis::open_runs(saved);
    REQUIRE(opened.runs.size() == 1);
    CHECK_FALSE(opened.runs.front()->ending);
    test::check_same_steps(*opened.runs.front(), ours, most);
    CHECK(ranks_on_streams(*opened.runs.front()->trace).size() == 4);
  };
  for (const char* machine : {"gpus=4", "gpus=4 late seed=3", "gpus=4 without=libcupti.so.13"})
    check(groups_of(2), machine, kFp32);
  check(groups_of(1), "gpus=4", kFp32);
  check(groups_of(2, {"clip_grad_norm=0.1"}), "gpus=4 late seed=5", kFp32);
  check(groups_of(2, {"fsdp.param_dtype=bf16"}), "gpus=4", 3e-2);
}

TEST_CASE("processes that have a part of the model each train as on the host", "[.processes]") {
  const auto check = [](int ranks, const Words& settings, const char* machine, double most) {
    INFO(ranks << " ranks, " << settings.back() << ", " << machine);
    const analysis::Run ours = analysis::run_config("A", test::config_of(settings));
    const test::Folder folder;
    const std::string saved = folder.file("run.tsrun");
    const auto ended = run({.ranks = ranks,
                            .run = arguments_of(settings),
                            .arguments = {"--save", saved, "--series", "loss"},
                            .machine = machine});
    for (const test::Result& one : ended) CHECK(one.code == 0);
    for (std::size_t rank = 1; rank < ended.size(); ++rank) CHECK(ended[rank].out.empty());
    const analysis::SavedRuns opened = analysis::open_runs(saved);
    REQUIRE(opened.runs.size() == 1);
    const analysis::Run& run = *opened.runs.front();
    CHECK_FALSE(run.ending);
    test::check_same_steps(run, ours, most);
    CHECK(ranks_on_streams(*run.trace).size() == static_cast<std::size_t>(ranks));
    CHECK(lines_in(ended[0].out) == static_cast<int>(run.trace->steps().size()));
    CHECK(analysis::value_of(run.metrics, "pipeline.bubble").has_value() == (ranks > 1));
    CHECK(analysis::stage_times(*run.trace).ranks == (ranks > 1 ? ranks : 0));
  };
  for (const char* schedule : {"gpipe", "1f1b", "interleaved_1f1b"})
    for (const int ranks : {2, 4})
      check(ranks, stages_of(ranks, {std::string("pipeline.schedule=") + schedule}), "gpus=4",
            kFp32);
  const Words pairs{"pipeline.batch_p2p_comm=false", "pipeline.schedule=interleaved_1f1b"};
  for (const char* machine : {"gpus=4 late seed=3", "gpus=4 without=libcupti.so.13"})
    check(4, stages_of(4, pairs), machine, kFp32);
  check(2, stages_of(2, {"precision=bf16"}), "gpus=4", 3e-2);
  check(1, stages_of(1), "gpus=4", kFp32);
  const Words transformer{"workload=train", "model.name=gpt-mini",   "data.name=text",
                          "model.width=16", "model.heads=4",         "model.seq_len=8",
                          "model.blocks=2", "model.dropout=0.1",     "batch_size=4",
                          "machine=h200-8", "loop.evaluate=false",   "parallel.strategy=pipeline",
                          "steps=2",        "parallel.world_size=2", "pipeline.microbatches=2"};
  check(2, transformer, "gpus=4", kFp32);
}

TEST_CASE("a stage whose process is killed ends the run, also of those that send it nothing",
          "[.processes]") {
  check_that_all_end_with_the_last(stages_of(4));
}

TEST_CASE("a process that is killed while NCCL starts holds none of the others", "[.processes]") {
  const auto check = [](const Words& settings, const std::string& first) {
    INFO(settings.back());
    const auto ended =
        run({.ranks = 3, .run = arguments_of(settings), .of = {{2, "dies_joining"}}});
    CHECK(ended[2].code == 128 + SIGKILL);
    for (const int rank : {0, 1}) {
      const test::Result& one = ended[static_cast<std::size_t>(rank)];
      CHECK(one.code == 3);
      CHECK(sentences_in(one.err) == 1);
    }
    CHECK_THAT(ended[0].err, Contains(first));
    CHECK_THAT(ended[1].err, Contains(": rank 2 ended before the run did"));
  };
  check(kModel,
        "NCCL does not start for the default process group: rank 2 ended before the run did");
  check(stages_of(3), "NCCL does not start at ranks 1 and 2, where it is said why");
}

TEST_CASE("a process that is killed when it has joined holds none that waits for its first byte",
          "[.processes]") {
  for (const char* machine : {"gpus=4", "gpus=4 late", "gpus=4 deaf"}) {
    INFO(machine);
    const auto ended = run(
        {.run = arguments_of(stages_of(2)), .machine = machine, .of = {{1, "dies_connecting"}}});
    CHECK(ended[1].code == 128 + SIGKILL);
    CHECK(ended[0].code == 3);
    CHECK(sentences_in(ended[0].err) == 1);
    CHECK_THAT(ended[0].err, Contains("NCCL does not start for the ") &&
                                 Contains(": rank 1 ended before the run did"));
  }
}

TEST_CASE("a rank that cannot join holds none of those that wait for it, and says why",
          "[.processes]") {
  const auto check = [](const Words& settings, const std::string& machine, const char* why) {
    INFO(machine);
    const auto ended = run({.run = arguments_of(settings), .of = {{1, machine}}});
    for (const test::Result& one : ended) {
      CHECK(one.code == 3);
      CHECK(one.out.empty());
      CHECK(sentences_in(one.err) == 1);
    }
    CHECK_THAT(ended[0].err, Contains("NCCL does not start for the ") &&
                                 Contains(": rank 1 cannot join, where it is said why"));
    CHECK_THAT(ended[1].err, Contains("NCCL does not start here for the ") && Contains(why));
  };
  check(kModel, "refuses_joining", "ncclCommInitRank: the stand-in was told to refuse");
  // Before it sends its first byte, for which the other waits on its GPU.
  check(stages_of(2), "memory_mb=0", "ncclSend, ncclRecv: ");
}

TEST_CASE("a process that is killed ends the run of all groups, also of those that it is not in",
          "[.processes]") {
  check_that_all_end_with_the_last(groups_of(2));
}

TEST_CASE("ranks of a group that cannot be made say which, and the others where", "[.processes]") {
  const auto ended = run(
      {.ranks = 4, .run = arguments_of(groups_of(2)), .environment_of = {{2, {"LOCAL_RANK=3"}}}});
  for (const test::Result& one : ended) {
    CHECK(one.code == 3);
    CHECK(sentences_in(one.err) == 1);
  }
  for (const int rank : {0, 1})
    CHECK_THAT(ended[static_cast<std::size_t>(rank)].err,
               Contains("NCCL does not start at ranks 2 and 3, where it is said why"));
  for (const int rank : {2, 3})
    CHECK_THAT(ended[static_cast<std::size_t>(rank)].err,
               Contains("for the shard group of ranks 2 and 3 (") && Contains("the same GPU, 3"));
}

TEST_CASE("a process that is killed ends the run by its rank, and the others at once",
          "[.processes]") {
  // Whether NCCL tells or not.
  for (const char* machine : {"gpus=4", "gpus=4 late", "gpus=4 deaf"}) {
    INFO(machine);
    const auto ended = run({.ranks = 4, .machine = machine, .of = {{3, "dies_at=60"}}});
    CHECK(ended[3].code == 128 + SIGKILL);
    for (const int rank : {0, 1, 2}) CHECK(ended[static_cast<std::size_t>(rank)].code == 3);
    CHECK_THAT(ended[0].out, Contains("the run ended: rank 3: its process ended before the run"));
    CHECK_THAT(ended[0].out, Contains("time.step"));
  }
}

TEST_CASE("when the process of the first rank is killed the others say so", "[.processes]") {
  const auto ended = run({.ranks = 3, .of = {{0, "dies_at=60"}}});
  CHECK(ended[0].code == 128 + SIGKILL);
  for (const int rank : {1, 2}) {
    const test::Result& one = ended[static_cast<std::size_t>(rank)];
    CHECK(one.code == 1);
    CHECK_THAT(one.err, Contains("look at why rank 0 ended"));
    CHECK(sentences_in(one.err) == 1);
  }
}

TEST_CASE("a rank whose GPU is lost ends the run by name, though its process lives",
          "[.processes]") {
  const auto ended = run({.ranks = 3, .of = {{2, "lost_at=60"}}});
  for (const test::Result& one : ended) CHECK(one.code == 3);
  CHECK_THAT(ended[0].out, Contains("rank 2: the GPU stopped and can do nothing more"));
}

TEST_CASE("a rank whose GPU has no room ends the run by name before its first step",
          "[.processes]") {
  const auto ended = run({.of = {{1, "memory_mb=0"}}});
  for (const test::Result& one : ended) CHECK(one.code == 3);
  CHECK_THAT(ended[0].out, Contains("rank 1: the GPU has no room for this run"));
}

TEST_CASE("processes carry out both sides of a lesson; when A ends early B is left out",
          "[.processes]") {
  const Words lesson{"distributed-sampler", "--steps", "3"};
  const auto well = run({.ranks = 4, .run = lesson});
  for (const test::Result& one : well) CHECK(one.code == 0);
  CHECK_THAT(well[0].out, Contains("B  MEASURED"));
  const auto early = run({.ranks = 4, .run = lesson, .of = {{2, "dies_at=40"}}});
  for (const int rank : {0, 1, 3}) CHECK(early[static_cast<std::size_t>(rank)].code == 3);
  CHECK_THAT(early[0].out, Contains("rank 2: its process ended") && !Contains("B  MEASURED"));
  CHECK_THAT(early[0].err, Contains("B was not carried out: A ended early"));
}

TEST_CASE("ranks that cannot join are refused in one sentence each", "[.processes]") {
  const auto refused = [](const Ranks& all, const std::string& first, const std::string& last) {
    const auto ended = run(all);
    for (const test::Result& one : ended) {
      CHECK(one.code == 3);
      CHECK(one.out.empty());
      CHECK(sentences_in(one.err) == 1);
    }
    CHECK_THAT(ended.front().err, Contains(first));
    CHECK_THAT(ended.back().err, Contains(last));
  };
  refused({.machine = "gpus=4 without=libnccl.so.2"},
          "rank 0 cannot join the others: NCCL is missing",
          "rank 1 cannot join the others: NCCL is missing");
  refused({.of = {{1, "without=libnccl.so.2"}}},
          "NCCL does not start at rank 1, where it is said why", "NCCL is missing");
  refused({.environment = {"LOCAL_RANK=0"}}, "are on the same GPU, 0", "are on the same GPU, 0");
}

TEST_CASE("a rank that has no GPU says which it was to see", "[.processes]") {
  const test::Result one = test::run_in(
      "TRAINSCOPE_STAND_IN=gpus=1 RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 "
      "MASTER_ADDR=127.0.0.1 MASTER_PORT=1",
      "run --executor cuda --set workload=train --set parallel.strategy=ddp");
  CHECK(one.code == 3);
  CHECK_THAT(one.err, Contains("shows no GPU where CUDA_VISIBLE_DEVICES is \"1\""));
}

TEST_CASE("a GPU that no file describes is calibrated, though its first parts make no file",
          "[.processes]") {
  const test::Folder folder;
  const test::Result one = test::run_in("'TRAINSCOPE_STAND_IN=brief lost_at=2'",
                                        "calibrate --id mine --out " + folder.file("out"));
  CHECK(one.code == 3);
  CHECK_THAT(one.err, Contains("measuring: calls of the host"));
  CHECK_THAT(one.err, Contains("the device did not tell gpu.memory_bandwidth"));
}
