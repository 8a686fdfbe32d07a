// Pipelines of some of the ranks, data parallelism between them: who sends and sums what with whom,
// when, and what is read.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/error.h"
#include "program/idle_knobs.h"
#include "support/built_program.h"
#include "support/program_order.h"
#include "train/build.h"
#include "train/parallel/parallel.h"

using namespace trainscope;
using namespace trainscope::train;
using Catch::Matchers::Contains;
using program::CollectiveKind;
using program::Index;
using test::collectives_of;
using test::in_order;
using test::Settings;
using test::with;

namespace {

constexpr int kMicroBatches = 4, kSteps = 3, kDegree = 2, kRanks = 4;

const Settings kGpt{"parallel.strategy=pipeline",
                    "parallel.world_size=4",
                    "pipeline.degree=2",
                    "pipeline.microbatches=4",
                    "machine=h200-8",
                    "steps=3",
                    "model.name=gpt-mini",
                    "batch_size=8",
                    "model.width=32",
                    "model.blocks=4",
                    "model.heads=4",
                    "model.seq_len=16",
                    "data.name=text",
                    "loop.evaluate=false"};
const std::vector<Settings> kSchedules{{"pipeline.schedule=gpipe"},
                                       {"pipeline.schedule=1f1b"},
                                       {"pipeline.schedule=interleaved_1f1b"}};

program::Program program_of(const Settings& more = {}) {
  return test::program_of(with(kGpt, more));
}

std::int64_t gradient_bytes(const program::Program& program, int rank) {
  std::int64_t bytes = 0;
  for (const Index gradient : program.gauges.gradients)
    if (program.buffers[gradient].device == rank) bytes += program.buffers[gradient].bytes;
  return bytes;
}

bool is_sum(const program::Program& program, const program::Collective& one) {
  return one.kind == CollectiveKind::kAllReduce &&
         program.communicators[one.communicator].name.starts_with("data-parallel group");
}

// Of a rank, in all steps.
std::int64_t summed_bytes(const program::Program& program, int rank) {
  std::int64_t bytes = 0;
  for (const program::Collective& one : collectives_of(program, rank))
    bytes += is_sum(program, one) ? one.bytes : 0;
  return bytes;
}

std::string text_of(const program::Program& program) {
  std::string all = test::listing_of(program);
  for (const program::Thread& thread : program.threads) {
    all += thread.name;
    for (const program::Command& command : thread.commands)
      all += std::to_string(command.action.index()) + "/" + std::to_string(command.line) + " ";
  }
  for (const program::Buffer& buffer : program.buffers)
    all += buffer.name + std::to_string(buffer.bytes) + "\n";
  for (const program::Stream& stream : program.streams) all += stream.name;
  for (const program::Communicator& one : program.communicators) all += one.name;
  return all;
}

}  // namespace

TEST_CASE("neighbours are a pipeline, and ranks with the same stages sum their gradients") {
  for (const Settings& schedule : kSchedules) {
    const program::Program program = program_of(schedule);
    program::validate(program);
    std::set<std::pair<std::string, std::vector<int>>> groups;
    for (const program::Communicator& one : program.communicators)
      groups.emplace(one.name, one.gpus);
    CHECK(groups == std::set<std::pair<std::string, std::vector<int>>>{
                        {"pipeline pair of ranks 0, 1", {0, 1}},
                        {"pipeline pair of ranks 2, 3", {2, 3}},
                        {"data-parallel group of ranks 0, 2", {0, 2}},
                        {"data-parallel group of ranks 1, 3", {1, 3}}});
    for (int rank = 0; rank < kRanks; ++rank) {
      std::map<Index, std::int64_t> next;
      for (const program::Collective& one : collectives_of(program, rank)) {
        const std::vector<int>& gpus = program.communicators[one.communicator].gpus;
        CHECK(std::ranges::count(gpus, rank) == 1);
        CHECK(one.sequence == next[one.communicator]++);
      }
    }
  }
}

TEST_CASE("each gradient of a rank's stages is summed once a step, over the data-parallel group") {
  for (const Settings& schedule : kSchedules)
    for (const Settings& how : {Settings{}, Settings{"ddp.bucket_cap_mb=0.01"},
                                Settings{"ddp.find_unused_parameters=true"},
                                Settings{"ddp.gradient_as_bucket_view=true"}}) {
      const program::Program program = program_of(with(schedule, how));
      const bool finds = !how.empty() && how[0].starts_with("ddp.find");
      const int stages = schedule[0].ends_with("interleaved_1f1b") ? 2 : 1;
      for (int rank = 0; rank < kRanks; ++rank) {
        std::int64_t flags = 0;  // which parameters were used, 4 bytes each
        if (finds)
          for (const Index gradient : program.gauges.gradients)
            flags += program.buffers[gradient].device == rank % kDegree ? 4 : 0;
        CHECK(summed_bytes(program, rank) ==
              kSteps * (gradient_bytes(program, rank % kDegree) + flags));
        CHECK(gradient_bytes(program, rank % kDegree) > 0);
      }
      CHECK(program.first_buckets.size() >= static_cast<std::size_t>(stages));
    }
  CHECK(program_of({"ddp.bucket_cap_mb=0.01"}).buckets.size() > program_of().buckets.size());
}

TEST_CASE("within a pipeline as much is sent as without others beside it") {
  for (const Settings& schedule : kSchedules) {
    const auto sent = [](const program::Program& program, int rank) {
      std::int64_t bytes = 0;
      for (const program::Collective& one : collectives_of(program, rank))
        bytes += one.kind == CollectiveKind::kSendReceive && one.send != program::kNoIndex
                     ? program.buffers[program.payloads[one.send].front()].bytes
                     : 0;
      return bytes;
    };
    const program::Program both = program_of(schedule);
    const program::Program alone =
        program_of(with(schedule, {"parallel.world_size=2", "pipeline.degree=0"}));
    for (int rank = 0; rank < kRanks; ++rank) {
      CHECK(sent(both, rank) == sent(alone, rank % kDegree));
      CHECK(sent(both, rank) > 0);
    }
  }
}

// Sums begin in the last micro-batch's backward, and what is behind it waits for them: PyTorch's
// reducer waits at the end of that backward, before its result is sent.
TEST_CASE("gradients are summed in the last backward of each stage, and divided behind it") {
  for (const Settings& schedule : kSchedules) {
    const bool interleaved = schedule[0].ends_with("interleaved_1f1b");
    const int stages = interleaved ? 2 : 1;
    const program::Program program = program_of(with(schedule, {"ddp.bucket_cap_mb=0.01"}));
    for (int rank = 0; rank < kRanks; ++rank) {
      int backwards = 0, steps_of_stages = 0;
      std::size_t sums = 0, waits = 0;
      std::set<Index> recorded, filled;
      in_order(program, rank, [&](const program::Command& command) {
        const program::Action& action = command.action;
        const auto* push = std::get_if<program::Push>(&action);
        if (push && program.queues[push->queue].name == "backward done") {
          ++backwards;
          CHECK(recorded.empty());  // all of its sums have been waited for
        }
        const auto* sum = std::get_if<program::Collective>(&action);
        if (sum && is_sum(program, *sum)) {
          ++sums;
          for (const Index buffer : program.payloads[sum->send]) CHECK(filled.contains(buffer));
          filled.clear();
        }
        const auto* event = std::get_if<program::RecordEvent>(&action);
        if (event && sums > waits + recorded.size()) recorded.insert(event->event);
        const auto* wait = std::get_if<program::StreamWait>(&action);
        if (wait && recorded.erase(wait->event) == 1) ++waits;
        const auto* launch = std::get_if<program::Launch>(&action);
        if (!launch) return;
        const program::Operation& operation = program.operations[launch->operation];
        if (operation.framework.find("reducer::mul_out") != std::string::npos) {
          filled.insert(operation.writes.front());
          steps_of_stages = backwards / (kMicroBatches * stages);
          // Of one stage it is the last of each step.
          if (!interleaved) CHECK(backwards == steps_of_stages * kMicroBatches + kMicroBatches - 1);
        }
        if (operation.framework == "aten::div_") CHECK(recorded.empty());
      });
      CHECK(backwards == kSteps * kMicroBatches * stages);
      CHECK(waits == sums);
      CHECK(sums > static_cast<std::size_t>(kSteps * stages));
    }
  }
}

TEST_CASE("a batch is a pipeline's, and the first tells the loss") {
  const program::Program program = program_of();
  const program::Program alone = program_of({"parallel.world_size=2", "pipeline.degree=0"});
  CHECK(program.samples_per_step == 2 * 8);
  CHECK(program.gpus == 4);
  CHECK(program.stages == 2);
  CHECK(program.gpus_of_batch == 2);
  CHECK(program.computed_ranks == 1);
  CHECK(program.data.replicas == 2);
  CHECK_FALSE(program.timing_only);
  CHECK(program.model_flops == 2 * alone.model_flops);
  CHECK(program.step_flops == Approx(2 * alone.step_flops).epsilon(1e-3));
  CHECK(program.buffers[program.gauges.loss].device == 1);
  std::set<int> logs;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (std::holds_alternative<program::LogStep>(command.action)) logs.insert(thread.rank);
  CHECK(logs == std::set<int>{1});
}

TEST_CASE("a pipeline of all ranks is the pipeline that it was") {
  for (const Settings& schedule : kSchedules)
    CHECK(
        text_of(program_of(with(schedule, {"pipeline.degree=4", "pipeline.stages_per_rank=1"}))) ==
        text_of(program_of(with(schedule, {"pipeline.degree=0", "pipeline.stages_per_rank=1"}))));
}

TEST_CASE(
    "an embedding at both ends is summed within each pipeline, behind the data-parallel sums") {
  const program::Program program = program_of({"model.name=gpt2", "model.seq_len=32", "steps=2",
                                               "parallel.world_size=6", "pipeline.degree=3"});
  for (int rank = 0; rank < 6; ++rank) {
    const int first = rank / 3 * 3;
    int ends = 0, sums = 0;
    for (const program::Collective& one : collectives_of(program, rank)) {
      if (one.kind != CollectiveKind::kAllReduce) continue;
      if (is_sum(program, one)) {
        ++sums;
        continue;
      }
      ++ends;
      CHECK(sums > 0);
      CHECK(program.communicators[one.communicator].gpus == std::vector<int>{first, first + 2});
      sums = 0;
    }
    CHECK(ends == (rank % 3 == 1 ? 0 : 2));
  }
  CHECK_THAT(test::listing_of(program),
             Contains("ends, _ = dist.new_subgroups_by_enumeration([[i, i + 2] for i in "
                      "range(0, 6, 3)])"));
}

TEST_CASE("the script has a mesh of pipelines, and wraps each stage") {
  const std::string listing = test::listing_of(program_of());
  for (const char* line :
       {"mesh = init_device_mesh(\"cuda\", (2, 2), mesh_dim_names=(\"dp\", \"pp\"))",
        "pp_rank = mesh.get_local_rank(\"pp\")",
        "chunk = nn.Sequential(*parts[cuts[pp_rank]:cuts[pp_rank + 1]]).to(device)",
        "stage = PipelineStage(chunk, pp_rank, 2, device, group=mesh.get_group(\"pp\"))",
        "stage.submod = DistributedDataParallel(stage.submod, device_ids=[rank], "
        "device_mesh=mesh[\"dp\"])",
        "num_replicas=2, rank=rank // 2", "args = (x,) if pp_rank == 0 else ()",
        "target=y if pp_rank == 1 else None", "# of each pipeline"})
    CHECK_THAT(listing, Contains(line));
  CHECK_THAT(test::listing_of(program_of(kSchedules[2])),
             Contains("for stage in stages: stage.submod = DistributedDataParallel(stage.submod"));
  const std::string alone = test::listing_of(program_of({"pipeline.degree=0"}));
  for (const char* words : {"mesh", "pp_rank", "Distributed"}) CHECK_THAT(alone, !Contains(words));
}

TEST_CASE("a rank in a process of its own has its pipeline's groups and its stages") {
  program::Config config;
  for (const std::string& setting : kGpt) config.set_text(setting);
  const machine::Machine machine = machine_of(config);
  const program::Program all = build_program(config, machine);
  for (int rank = 0; rank < kRanks; ++rank) {
    const program::Program own = build_rank_of_pipeline(config, machine, rank);
    program::validate(own);
    REQUIRE(own.communicators.size() == 2);
    const int first = rank / kDegree * kDegree;
    CHECK(own.communicators[0].gpus == std::vector<int>{first, first + 1});
    CHECK(own.communicators[1].gpus == std::vector<int>{rank % kDegree, rank % kDegree + kDegree});
    const auto of_all = collectives_of(all, rank), mine = collectives_of(own, rank);
    REQUIRE(mine.size() == of_all.size());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      CHECK(own.communicators[mine[i].communicator].gpus ==
            all.communicators[of_all[i].communicator].gpus);
      CHECK(mine[i].bytes == of_all[i].bytes);
    }
  }
}

TEST_CASE("groups of pipelines that would differ, or have no meaning, are refused in a sentence") {
  const auto refused = [](const Settings& more) { return program_of(more); };
  CHECK_THROWS_WITH(refused({"pipeline.degree=1"}), Contains("parallel.strategy = ddp"));
  CHECK_THROWS_WITH(refused({"pipeline.degree=3"}),
                    Contains("does not divide 4 ranks") && Contains("pipeline.degree"));
  CHECK_THROWS_WITH(refused({"pipeline.degree=8"}),
                    Contains("pipeline.degree = 8 is more than parallel.world_size = 4"));
  CHECK_THROWS_WITH(refused({"machine=h200-8x2", "parallel.world_size=12", "pipeline.degree=2"}),
                    Contains("do not fill their nodes"));
  CHECK_THROWS_WITH(refused({"ddp.static_graph=true"}), Contains("no_sync"));
  CHECK_NOTHROW(refused({"ddp.static_graph=true", "pipeline.degree=0"}));
  CHECK_THROWS_WITH(refused({"collective.expanded=true"}), Contains("pipeline.degree"));
  CHECK_THROWS_WITH(refused({"straggler.rank=4"}), Contains("there are 4"));
  CHECK_THROWS_WITH(refused({"batch_size=2", "pipeline.microbatches=1"}),
                    Contains("is less than pipeline.degree = 2"));
  CHECK_THROWS_WITH(
      refused({"pipeline.schedule=interleaved_1f1b", "pipeline.microbatches=5", "batch_size=5"}),
      Contains("a multiple of pipeline.degree = 2"));
  CHECK_THROWS_WITH(refused({"parallel.world_size=16", "machine=h200-8x2", "pipeline.degree=8",
                             "pipeline.microbatches=8"}),
                    Contains("pipeline.degree = 8 is more stages"));
  for (const char* knob : {"clip_grad_norm=1", "accumulate_steps=2", "uneven_batches=true"})
    CHECK_THROWS_WITH(refused({knob}), Contains("is not built for parallel.strategy = pipeline"));
}

TEST_CASE("knobs of DistributedDataParallel mean something between pipelines alone") {
  program::Config config;
  for (const std::string& setting : kGpt) config.set_text(setting);
  CHECK(program::idle_because(config, "ddp.bucket_cap_mb").empty());
  CHECK(program::idle_because(config, "sampler.distributed").empty());
  CHECK(program::idle_because(config, "pipeline.degree").empty());
  config.set_text("pipeline.degree=0");
  CHECK(program::idle_because(config, "ddp.bucket_cap_mb") == "pipeline.degree = 0");
  CHECK(program::idle_because(config, "sampler.distributed") == "pipeline.degree = 0");
}
