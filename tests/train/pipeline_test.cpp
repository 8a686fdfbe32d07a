// A pipeline's program: what each rank computes, sends, receives and frees, and when.
#include "train/parallel/pipeline.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "support/built_program.h"
#include "support/program_order.h"
#include "train/parallel/interleaved_order.h"

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

const Settings kCommon{"parallel.strategy=pipeline",
                       "parallel.world_size=3",
                       "pipeline.microbatches=4",
                       "batch_size=8",
                       "machine=h200-8",
                       "steps=3",
                       "loop.evaluate=false"};

program::Program program_of(const Settings& settings, const Settings& more = {}) {
  return test::program_of(with(with(kCommon, settings), more));
}

const Settings kInterleaved{"pipeline.schedule=interleaved_1f1b", "parallel.world_size=2"};
const Settings kMlp{"model.name=mlp", "model.layers=5", "model.hidden=50"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text", "model.width=24",
                    "model.blocks=4",      "model.heads=2",  "model.seq_len=16"};
const Settings kTied{"model.name=gpt2", "model.seq_len=64"};
const std::vector<Settings> kModels{
    kMlp, kGpt, kTied, {"model.name=cnn", "model.batch_norm=true"}, {"model.name=resnet18"}};
const std::vector<Settings> kHow{
    {},
    {"pipeline.schedule=gpipe"},
    {"pipeline.schedule=gpipe", "pipeline.microbatches=1"},
    {"parallel.world_size=1"},
    {"parallel.world_size=2", "pipeline.microbatches=8"},
    {"checkpoint.enabled=true"},
    {"autocast.dtype=bf16"},
    {"zero_grad.set_to_none=false"},
    kInterleaved,
    with(kInterleaved, {"autocast.dtype=bf16"}),
    with(kInterleaved, {"zero_grad.set_to_none=false"}),
    with(kInterleaved, {"pipeline.batch_p2p_comm=false"}),
    {"parallel.world_size=4", "pipeline.degree=2"},
    {"pipeline.degree=2", "parallel.world_size=4", "pipeline.schedule=gpipe",
     "zero_grad.set_to_none=false"},
    with(kInterleaved, {"parallel.world_size=4", "pipeline.degree=2"})};

// A cnn has three parts, and cannot be cut into four stages.
bool has_parts(const Settings& model, const Settings& how) {
  return model[0] != "model.name=cnn" || how.empty() || how[0] != kInterleaved[0];
}

int ranks_of(const program::Program& program) {
  int ranks = 0;
  for (const program::Thread& thread : program.threads) ranks = std::max(ranks, thread.rank + 1);
  return ranks;
}

// 'F' and 'B' by micro-batch, as a rank's kernels follow one another: "F0 F1 B0 F2 ...", of the
// first step. Known by the micro-batch whose buffers they read.
std::string order_of(const program::Program& program, int rank) {
  std::string order;
  int steps = 0;
  in_order(program, rank, [&](const program::Command& command) {
    const auto* launch = std::get_if<program::Launch>(&command.action);
    if (command.phase == program::Phase::kOptimizer) steps = 1;
    if (!launch || steps > 0 || command.phase == program::Phase::kNone) return;
    for (const Index buffer : program.operations[launch->operation].reads) {
      const std::string& name = program.buffers[buffer].name;
      const std::size_t at = name.find("micro-batch ");
      if (at == std::string::npos || name.find("gradient") != std::string::npos) continue;
      const std::string one =
          (command.phase == program::Phase::kForward ? "F" : "B") + name.substr(at + 12);
      if (!order.ends_with(one)) order += (order.empty() ? "" : " ") + one;
    }
  });
  return order;
}

}  // namespace

TEST_CASE("no kernel of a stage reads or writes what has no memory, and each step frees its own") {
  for (const Settings& model : kModels)
    for (const Settings& how : kHow) {
      if (!has_parts(model, how)) continue;
      INFO(model[0] << (how.empty() ? "" : ", " + how[0]));
      const program::Program program = program_of(model, how);
      program::validate(program);
      for (int rank = 0; rank < ranks_of(program); ++rank) {
        std::set<Index> alive, shown;
        std::vector<std::size_t> after_steps;
        int sent = 0, touched = 0;
        in_order(program, rank, [&](const program::Command& command) {
          const program::Action& action = command.action;
          if (const auto* one = std::get_if<program::Alloc>(&action)) {
            INFO(program.buffers[one->buffer].name);
            REQUIRE(alive.insert(one->buffer).second);
          }
          if (const auto* one = std::get_if<program::Free>(&action)) {
            INFO(program.buffers[one->buffer].name);
            REQUIRE(alive.erase(one->buffer) == 1);
          }
          if (const auto* one = std::get_if<program::View>(&action)) {
            REQUIRE(alive.contains(one->of));
            shown.insert(one->view);
          }
          if (const auto* one = std::get_if<program::Collective>(&action))
            for (const Index payload : {one->send, one->receive})
              if (payload != program::kNoIndex)
                for (const Index buffer : program.payloads[payload]) {
                  INFO(program.buffers[buffer].name);
                  REQUIRE(alive.contains(buffer));
                  ++sent;
                }
          const auto* launch = std::get_if<program::Launch>(&action);
          if (!launch) return;
          const program::Operation& operation = program.operations[launch->operation];
          for (const auto* list : {&operation.reads, &operation.writes})
            for (const Index buffer : *list) {
              INFO(operation.kernel << " and " << program.buffers[buffer].name);
              REQUIRE(program.buffers[buffer].device == rank);
              if (program.buffers[buffer].kind != program::MemoryKind::kDevice) continue;
              REQUIRE((alive.contains(buffer) || shown.contains(buffer)));
              ++touched;
            }
        });
        CHECK((sent > 0) == (ranks_of(program) > 1));
        CHECK(touched > 0);
        for (const Index buffer : alive) {
          INFO(program.buffers[buffer].name);
          const bool stays = program.buffers[buffer].role != program::Role::kActivation ||
                             program.buffers[buffer].name.starts_with("input of") ||
                             program.buffers[buffer].name.starts_with("gradient of the output");
          CHECK(stays);
        }
      }
    }
}

TEST_CASE("whatever a rank sends, its neighbour receives: as large, of that type, at that place") {
  for (const Settings& model : kModels)
    for (const Settings& how : kHow) {
      if (!has_parts(model, how)) continue;
      INFO(model[0] << (how.empty() ? "" : ", " + how[0]));
      const program::Program program = program_of(model, how);
      std::map<std::pair<Index, std::int64_t>, std::vector<std::pair<int, program::Collective>>>
          met;
      for (int rank = 0; rank < ranks_of(program); ++rank)
        for (const program::Collective& one : collectives_of(program, rank))
          met[{one.communicator, one.sequence}].emplace_back(rank, one);
      for (const auto& [key, both] : met) {
        REQUIRE(both.size() == 2);
        const program::Communicator& group = program.communicators[key.first];
        CHECK(group.gpus == std::vector<int>{both[0].first, both[1].first});
        CHECK(both[0].second.kind == both[1].second.kind);
        CHECK(both[0].second.bytes == both[1].second.bytes);
        if (both[0].second.kind != CollectiveKind::kSendReceive) continue;
        CHECK(both[1].first > both[0].first);
        for (const auto& [from, to] : {std::pair{0, 1}, std::pair{1, 0}}) {
          const Index sent = both[static_cast<std::size_t>(from)].second.send;
          const Index received = both[static_cast<std::size_t>(to)].second.receive;
          REQUIRE((sent == program::kNoIndex) == (received == program::kNoIndex));
          if (sent == program::kNoIndex) continue;
          const program::Buffer& a = program.buffers[program.payloads[sent].front()];
          const program::Buffer& b = program.buffers[program.payloads[received].front()];
          CHECK(a.bytes == b.bytes);
          CHECK(a.type == b.type);
        }
      }
    }
}

// As PyTorch's schedules have it.
TEST_CASE("the two schedules have their own order, and both begin backward with micro-batch 0") {
  const Settings four{"parallel.world_size=4", "pipeline.microbatches=6", "batch_size=12"};
  const Settings gpipe = with(four, {"pipeline.schedule=gpipe"});
  const program::Program all = program_of(kMlp, gpipe), turns = program_of(kMlp, four);
  for (int rank = 0; rank < 4; ++rank) {
    INFO("rank " << rank);
    CHECK(order_of(all, rank) == "F0 F1 F2 F3 F4 F5 B0 B1 B2 B3 B4 B5");
  }
  CHECK(order_of(turns, 0) == "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
  CHECK(order_of(turns, 1) == "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 B4 B5");
  CHECK(order_of(turns, 2) == "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5");
  CHECK(order_of(turns, 3) == "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
}

// The marks of a rank's first step that name a stage.
std::vector<std::string> marks_of(const program::Program& program, int rank) {
  std::vector<std::string> marks;
  bool done = false;
  in_order(program, rank, [&](const program::Command& command) {
    done |= command.phase == program::Phase::kOptimizer;
    if (done || !std::holds_alternative<program::BeginMark>(command.action)) return;
    const std::string& name = program.names[command.name];
    if (name.starts_with("PP:")) marks.push_back(name);
  });
  return marks;
}

TEST_CASE("ranks of an interleaved pipeline do what its order says") {
  for (const auto& [ranks, stages, count] :
       {std::tuple{2, 2, 4}, {3, 2, 6}, {3, 2, 5}, {2, 3, 4}, {4, 1, 4}}) {
    INFO(ranks << " ranks, " << stages << " stages each, " << count << " micro-batches");
    const program::Program program = program_of(
        kMlp, {"pipeline.schedule=interleaved_1f1b", "parallel.world_size=" + std::to_string(ranks),
               "pipeline.stages_per_rank=" + std::to_string(stages),
               "pipeline.microbatches=" + std::to_string(count),
               "batch_size=" + std::to_string(2 * count)});
    const auto schedule = interleaved_schedule({ranks, stages, count});
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<std::string> expected;
      for (const StageAction& one : schedule[static_cast<std::size_t>(rank)])
        expected.push_back(mark_of(one));
      CHECK(marks_of(program, rank) == expected);
    }
  }
}

TEST_CASE("the last rank of an interleaved pipeline sends to the first") {
  const program::Program program = program_of(
      kMlp, {"pipeline.schedule=interleaved_1f1b", "pipeline.microbatches=3", "batch_size=6"});
  constexpr std::int64_t kSteps = 3, kMicroBatches = 3;
  std::map<std::vector<int>, std::int64_t> met;
  for (const program::Collective& one : collectives_of(program, 0))
    ++met[program.communicators[one.communicator].gpus];
  // Stages 0 and 3 are rank 0's: 0 and 3 send to rank 1, 3 receives from rank 2.
  CHECK(met == std::map<std::vector<int>, std::int64_t>{{{0, 1}, 2 * 2 * kSteps * kMicroBatches},
                                                        {{0, 2}, 2 * kSteps * kMicroBatches}});
}

TEST_CASE("without batches of sends and receives each two ranks have a stream of their own") {
  const auto streams_of = [](const program::Program& program, int rank) {
    std::map<Index, std::set<Index>> streams;  // by communicator
    for (const program::Collective& one : collectives_of(program, rank))
      streams[one.communicator].insert(one.stream);
    std::set<Index> all;
    for (const auto& [communicator, own] : streams) {
      CHECK(own.size() == 1);
      all.insert(own.begin(), own.end());
    }
    return all.size();
  };
  const Settings three =
      with(kInterleaved, {"parallel.world_size=3", "pipeline.microbatches=3", "batch_size=6"});
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(streams_of(program_of(kMlp, three), rank) == 1);
    CHECK(streams_of(program_of(kMlp, with(three, {"pipeline.batch_p2p_comm=false"})), rank) == 2);
  }
}

TEST_CASE("what an interleaved pipeline sends is kept to the end of its step") {
  const program::Program program = program_of(kMlp, kInterleaved);
  for (int rank = 0; rank < 2; ++rank) {
    std::set<Index> sent;
    bool computed_all = false;
    int given_back = 0;
    in_order(program, rank, [&](const program::Command& command) {
      if (const auto* one = std::get_if<program::Collective>(&command.action);
          one && one->send != program::kNoIndex)
        sent.insert(program.payloads[one->send].front());
      if (std::holds_alternative<program::BeginMark>(command.action)) {
        const std::string& name = program.names[command.name];
        computed_all = name.find("REDUCE_GRAD") != std::string::npos;
      }
      const auto* freed = std::get_if<program::Free>(&command.action);
      if (!freed || !sent.contains(freed->buffer)) return;
      CHECK(computed_all);
      ++given_back;
    });
    CHECK(given_back > 4);
    CHECK(sent.size() > 4);
  }
}

TEST_CASE("a rank sends an activation and a gradient for each micro-batch, and no more") {
  const program::Program program = program_of(kGpt);
  constexpr std::size_t kSteps = 3, kMicroBatches = 4;
  for (int rank = 0; rank < 3; ++rank) {
    std::size_t sent = 0, received = 0;
    for (const program::Collective& one : collectives_of(program, rank)) {
      sent += one.send != program::kNoIndex ? 1 : 0;
      received += one.receive != program::kNoIndex ? 1 : 0;
    }
    const std::size_t neighbours = rank == 1 ? 2 : 1;
    CHECK(sent == kSteps * kMicroBatches * neighbours);
    CHECK(received == sent);
  }
}

TEST_CASE("an embedding that two stages have is summed once a step, by these two") {
  const program::Program program = program_of(kTied);
  for (int rank = 0; rank < 3; ++rank) {
    const auto all = collectives_of(program, rank);
    const auto sums =
        std::ranges::count(all, CollectiveKind::kAllReduce, &program::Collective::kind);
    CHECK(sums == (rank == 1 ? 0 : 3));
  }
  const auto bytes = [&](const std::string& name, int device) {
    for (const program::Buffer& buffer : program.buffers)
      if (buffer.name == name && buffer.device == device) return buffer.bytes;
    return std::int64_t{0};
  };
  CHECK(bytes("transformer.wte.weight", 0) == bytes("transformer.wte.weight", 2));
  CHECK(bytes("transformer.wte.weight", 1) == 0);
}

TEST_CASE("under autocast a weight is cast once a step, for all micro-batches") {
  const program::Program program = program_of(kGpt, {"autocast.dtype=bf16"});
  for (int rank = 0; rank < 3; ++rank) {
    std::map<Index, int> casts;
    in_order(program, rank, [&](const program::Command& command) {
      const auto* launch = std::get_if<program::Launch>(&command.action);
      if (!launch || command.phase != program::Phase::kForward) return;
      const program::Operation& operation = program.operations[launch->operation];
      if (!std::holds_alternative<program::Cast>(operation.function)) return;
      const Index from = operation.reads.front();
      if (program.buffers[from].role == program::Role::kParameter) ++casts[from];
    });
    REQUIRE(casts.size() > 4);
    for (const auto& [weight, count] : casts) {
      INFO(program.buffers[weight].name);
      CHECK(count == 3);
    }
  }
}

TEST_CASE("arithmetic and parameters are those of the whole model, whatever the stages") {
  program::Config one;
  for (const char* setting : {"model.name=mlp", "model.layers=5", "model.hidden=50", "batch_size=8",
                              "steps=3", "machine=h200-8", "loop.evaluate=false"})
    one.set_text(setting);
  const program::Program alone = build_program(one, machine_of(one));
  for (const Settings& how : {Settings{"parallel.world_size=1", "pipeline.schedule=gpipe"},
                              Settings{"parallel.world_size=2", "pipeline.schedule=gpipe"},
                              Settings{"parallel.world_size=3", "pipeline.schedule=gpipe"},
                              kInterleaved, with(kInterleaved, {"parallel.world_size=3"})}) {
    const program::Program stages = program_of(kMlp, with(how, {"pipeline.microbatches=1"}));
    CHECK(stages.parameters == alone.parameters);
    // The first stage computes no gradient of its input: nor does the model alone.
    CHECK(stages.step_flops == Approx(alone.step_flops).epsilon(1e-9));
    CHECK(stages.samples_per_step == 8);
  }
}

TEST_CASE("what a pipeline cannot do is refused in a sentence") {
  const auto refused = [](const Settings& more) { return program_of(kMlp, more); };
  CHECK_THROWS_WITH(refused({"pipeline.microbatches=3"}), Contains("equal parts"));
  CHECK_THROWS_WITH(refused({"pipeline.microbatches=2"}),
                    Contains("at least as many micro-batches") && Contains("gpipe"));
  CHECK_THROWS_WITH(refused({"straggler.rank=3"}), Contains("is no rank: there are 3"));
  CHECK_THROWS_WITH(refused({"parallel.world_size=8", "pipeline.microbatches=8"}),
                    Contains("more stages"));
  const auto interleaved = [&](const Settings& more) { return refused(with(kInterleaved, more)); };
  CHECK_THROWS_WITH(interleaved({"parallel.world_size=1"}), Contains("several GPUs"));
  CHECK_NOTHROW(interleaved({"pipeline.microbatches=5", "batch_size=5", "parallel.world_size=3"}));
  CHECK_THROWS_WITH(interleaved({"pipeline.microbatches=5", "batch_size=5"}),
                    Contains("5 cannot be cut into 2; set it to a multiple of "
                             "parallel.world_size = 2"));
  CHECK_THROWS_WITH(interleaved({"pipeline.stages_per_rank=4"}),
                    Contains("parallel.world_size = 2 with pipeline.stages_per_rank = 4 is more "
                             "stages than the model has parts: it can be cut into 6"));
  for (const char* knob : {"clip_grad_norm=1", "accumulate_steps=2", "loop.item_every=1",
                           "transfer.prefetch=true", "uneven_batches=true"})
    CHECK_THROWS_WITH(refused({knob}), Contains("is not built for parallel.strategy = pipeline"));
  CHECK_THROWS_WITH(program_of(kTied, {"pipeline.microbatches=1024", "batch_size=1024"}),
                    Contains("more than is simulated; write at most"));
  for (const char* knob : {"ddp.bucket_cap_mb=1", "straggler.factor=2"})
    CHECK_NOTHROW(refused({knob}));
}
