// FSDP's program: what is gathered, scattered and freed, and when.
#include "train/parallel/fsdp.h"

#include <catch2/catch.hpp>
#include <set>

#include "base/error.h"
#include "support/built_program.h"
#include "support/program_order.h"

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

const Settings kCommon{"parallel.strategy=fsdp", "parallel.world_size=4", "machine=h200-8",
                       "steps=3"};

program::Program program_of(const Settings& settings, const Settings& more = {}) {
  return test::program_of(with(with(kCommon, settings), more));
}

const Settings kGpt{"model.name=gpt-mini", "batch_size=2",  "model.width=24",
                    "model.blocks=3",      "model.heads=2", "model.seq_len=16"};
const std::vector<Settings> kModels{
    {"model.name=mlp", "model.hidden=50", "model.layers=3", "batch_size=8", "loop.evaluate=true"},
    {"model.name=cnn", "model.batch_norm=true", "batch_size=8"},
    kGpt,
    {"model.name=gpt2", "data.name=tokens", "model.seq_len=64", "batch_size=1"},
    {"model.name=bert-large", "data.name=tokens", "model.seq_len=64", "batch_size=1"},
    {"model.name=resnet18", "batch_size=4"}};
const std::vector<Settings> kHow{{},
                                 {"fsdp.reshard_after_forward=false"},
                                 {"fsdp.wrap=model"},
                                 {"checkpoint.enabled=true"},
                                 {"autocast.dtype=bf16"},
                                 {"fsdp.param_dtype=bf16"},
                                 {"fsdp.param_dtype=bf16", "fsdp.reduce_dtype=fp32"},
                                 {"accumulate_steps=2", "zero_grad.when=never"},
                                 {"accumulate_steps=3", "fsdp.gradient_sync=last"},
                                 {"fsdp.shard_degree=2", "accumulate_steps=2"},
                                 {"fsdp.shard_degree=2", "fsdp.param_dtype=bf16"},
                                 {"fsdp.shard_degree=1"},
                                 {"zero_grad.set_to_none=false"},
                                 {"clip_grad_norm=1", "precision=fp16", "scaler.enabled=true"}};

// Of the larger buffer of each collective of a kind.
std::int64_t bytes_of(const std::vector<program::Collective>& all, CollectiveKind kind) {
  std::int64_t bytes = 0;
  for (const program::Collective& one : all) bytes += one.kind == kind ? one.bytes : 0;
  return bytes;
}

}  // namespace

TEST_CASE(
    "no kernel of FSDP reads or writes what has no memory, and all is freed that is gathered") {
  for (const Settings& model : kModels)
    for (const Settings& how : kHow) {
      INFO(model[0] << (how.empty() ? "" : ", " + how[0]));
      const program::Program program = program_of(model, how);
      program::validate(program);
      std::set<Index> alive, was_alive, shown;
      int touched = 0;
      in_order(program, 0, [&](const program::Command& command) {
        const program::Action& action = command.action;
        if (const auto* one = std::get_if<program::Alloc>(&action)) {
          INFO(program.buffers[one->buffer].name);
          REQUIRE(alive.insert(one->buffer).second);
          was_alive.insert(one->buffer);
        }
        if (const auto* one = std::get_if<program::Free>(&action))
          REQUIRE(alive.erase(one->buffer) == 1);
        if (const auto* one = std::get_if<program::View>(&action)) {
          REQUIRE(alive.contains(one->of));
          shown.insert(one->view);
        }
        const auto* launch = std::get_if<program::Launch>(&action);
        if (!launch) return;
        const program::Operation& operation = program.operations[launch->operation];
        for (const auto* list : {&operation.reads, &operation.writes})
          for (const Index buffer : *list) {
            INFO(operation.kernel << " and " << program.buffers[buffer].name);
            const bool needs = program.buffers[buffer].role == program::Role::kParameter ||
                               program.buffers[buffer].role == program::Role::kGradient;
            if (!needs) continue;
            REQUIRE((alive.contains(buffer) || shown.contains(buffer)));
            ++touched;
          }
      });
      CHECK(touched > 0);
      for (const Index buffer : alive) {
        const std::string& name = program.buffers[buffer].name;
        INFO(name);
        CHECK_FALSE(name.starts_with("all-gather"));
        CHECK_FALSE(name.starts_with("gradients to scatter"));
      }
    }
}

// What no command allocates is there from the start (sim/memory.h), whether it is used or not.
TEST_CASE("a gradient has memory only where a reduce-scatter gives one") {
  for (const Settings& model : kModels)
    for (const Settings& how : kHow)
      for (const char* steps : {"steps=1", "steps=3"}) {
        INFO(model[0] << (how.empty() ? "" : ", " + how[0]) << ", " << steps);
        const program::Program program = program_of(model, with(how, {steps}));
        std::set<Index> allocated;
        in_order(program, 0, [&](const program::Command& command) {
          if (const auto* one = std::get_if<program::Alloc>(&command.action))
            allocated.insert(one->buffer);
        });
        std::size_t gradients = 0;
        for (Index buffer = 0; buffer < program.buffers.size(); ++buffer) {
          const program::Buffer& one = program.buffers[buffer];
          if (one.role != program::Role::kGradient || one.is_view) continue;
          ++gradients;
          INFO(one.name);
          CHECK(allocated.contains(buffer));
        }
        CHECK(gradients > 0);
      }
}

TEST_CASE("each block is gathered for forward and for backward, and its gradients are scattered") {
  constexpr std::size_t kSteps = 3, kBlocks = 3;
  const auto count = [&](const Settings& more, CollectiveKind kind) {
    const auto all = collectives_of(program_of(kGpt, more));
    return static_cast<std::size_t>(std::ranges::count(all, kind, &program::Collective::kind));
  };
  const auto gathers = [&](const Settings& more) {
    return count(more, CollectiveKind::kAllGather);
  };
  const auto scatters = [&](const Settings& more) {
    return count(more, CollectiveKind::kReduceScatter);
  };
  CHECK(gathers({}) == kSteps * (2 * kBlocks + 1));
  CHECK(gathers({"fsdp.reshard_after_forward=false"}) == kSteps * (kBlocks + 1));
  CHECK(gathers({"fsdp.wrap=model"}) == kSteps);
  CHECK(scatters({}) == kSteps * (kBlocks + 1));
  CHECK(scatters({"fsdp.wrap=model"}) == kSteps);
  CHECK(scatters({"accumulate_steps=2"}) == 2 * kSteps * (kBlocks + 1));
  CHECK(scatters({"accumulate_steps=2", "fsdp.gradient_sync=last"}) == kSteps * (kBlocks + 1));
  CHECK(gathers({"accumulate_steps=2", "fsdp.gradient_sync=last"}) ==
        2 * kSteps * (2 * kBlocks + 1));
  const program::Program program = program_of(kGpt);
  std::int64_t sequence = 0;
  for (const program::Collective& one : collectives_of(program)) CHECK(one.sequence == sequence++);
}

TEST_CASE("what FSDP sends is the model three times, resharding not twice") {
  const program::Program program = program_of(kGpt);
  const std::int64_t whole = 4 * program.parameters;
  const auto near = [&](std::int64_t bytes, double times) {  // but for padding
    CHECK(static_cast<double>(bytes) == Approx(times * static_cast<double>(whole)).epsilon(1e-3));
  };
  const auto all = collectives_of(program_of(kGpt, {"steps=1"}));
  near(bytes_of(all, CollectiveKind::kReduceScatter), 1);
  const auto kept =
      collectives_of(program_of(kGpt, {"steps=1", "fsdp.reshard_after_forward=false"}));
  near(bytes_of(kept, CollectiveKind::kAllGather), 1);
  const std::int64_t gathered = bytes_of(all, CollectiveKind::kAllGather);
  CHECK(gathered > 3 * whole / 2);  // the root's parameters once
  CHECK(gathered < 2 * whole);
  const auto narrow = collectives_of(program_of(kGpt, {"steps=1", "fsdp.param_dtype=bf16"}));
  CHECK(2 * bytes_of(narrow, CollectiveKind::kAllGather) == gathered);
  near(bytes_of(narrow, CollectiveKind::kReduceScatter), 0.5);
  const auto exact = collectives_of(
      program_of(kGpt, {"steps=1", "fsdp.param_dtype=bf16", "fsdp.reduce_dtype=fp32"}));
  near(bytes_of(exact, CollectiveKind::kReduceScatter), 1);
}

TEST_CASE("what FSDP gathers is told in the type in which it travels") {
  const program::Program program =
      program_of(kGpt, {"fsdp.param_dtype=bf16", "fsdp.reduce_dtype=fp32"});
  for (const program::Collective& one : collectives_of(program))
    CHECK(program::type_of(program, one) == (one.kind == CollectiveKind::kAllGather
                                                 ? program::ElementType::kBf16
                                                 : program::ElementType::kFp32));
}

TEST_CASE("what is asked of all gradients is summed over the ranks, once a step") {
  const auto sums_of = [](const Settings& more) {
    std::vector<std::int64_t> bytes;
    for (const program::Collective& one : collectives_of(program_of(kGpt, more)))
      if (one.kind == CollectiveKind::kAllReduce) bytes.push_back(one.bytes);
    return bytes;
  };
  CHECK(sums_of({}).empty());
  const program::Program program = program_of(kGpt);
  const std::int64_t gradients = std::ranges::count_if(program.buffers, [](const auto& buffer) {
    return buffer.name.ends_with(", gradient of this rank's part");
  });
  REQUIRE(gradients > 20);
  const std::vector<std::int64_t> norms(3, 4 * gradients);
  CHECK(sums_of({"clip_grad_norm=1"}) == norms);
  CHECK(sums_of({"scaler.enabled=true", "precision=fp16"}) == std::vector<std::int64_t>{4, 4, 4});
  CHECK(sums_of({"scaler.enabled=true", "precision=fp16", "clip_grad_norm=1"}) ==
        std::vector<std::int64_t>{4, 4 * gradients, 4, 4 * gradients, 4, 4 * gradients});
}

TEST_CASE("backward asks for a block before it is done with the one behind it") {
  const program::Program program = program_of(kGpt, {"steps=1"});
  std::vector<std::string> marks;
  for (const program::Thread& thread : program.threads) {
    if (thread.role != program::ThreadRole::kAutograd) continue;
    for (const program::Command& command : thread.commands)
      if (std::holds_alternative<program::BeginMark>(command.action))
        marks.push_back(program.names[command.name]);
  }
  const std::vector<std::string> expected{"FSDP::pre_backward (root)",
                                          "FSDP::all_gather (block 3)",
                                          "FSDP::pre_backward (block 3)",
                                          "FSDP::all_gather_copy_out (block 3)",
                                          "FSDP::all_gather (block 2)",
                                          "FSDP::post_backward_reduce (block 3)",
                                          "FSDP::pre_backward (block 2)",
                                          "FSDP::all_gather_copy_out (block 2)",
                                          "FSDP::all_gather (block 1)",
                                          "FSDP::post_backward_reduce (block 2)",
                                          "FSDP::pre_backward (block 1)",
                                          "FSDP::all_gather_copy_out (block 1)",
                                          "FSDP::post_backward_reduce (block 1)",
                                          "FSDP::post_backward_reduce (root)"};
  CHECK(marks == expected);
}

TEST_CASE("what FSDP is not built for is said in a sentence") {
  const auto refusal = [](const Settings& more) -> std::string {
    try {
      program_of(kGpt, more);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(refusal({"model.dtype=fp16"}), Contains("fsdp") && Contains("set"));
  // What is of another strategy changes nothing.
  CHECK(refusal({"parallel.strategy=ddp", "fsdp.wrap=model"}) == "");
  CHECK(refusal({"ddp.bucket_cap_mb=5", "ddp.no_sync=true"}) == "");
  CHECK_THAT(refusal({"fsdp.gradient_sync=last"}), Contains("set accumulate_steps = 4"));
  CHECK_THAT(refusal({"machine=v100-sxm-1", "parallel.world_size=1", "fsdp.param_dtype=bf16"}),
             Contains("no units for BF16"));
}

TEST_CASE("the listing of FSDP is what a learner would write") {
  const auto lines = [](const Settings& more) { return test::listing_of(program_of(kGpt, more)); };
  CHECK_THAT(lines({}),
             Contains("for block in model.blocks: fully_shard(block)\n") &&
                 Contains("fully_shard(model)\n") && Contains("with torch.device(\"meta\"):") &&
                 Contains("torchrun --nproc_per_node=4") && !Contains(".to(device)\nfor block"));
  CHECK_THAT(lines({"fsdp.reshard_after_forward=false"}),
             Contains("fully_shard(block, reshard_after_forward=False)"));
  CHECK_THAT(lines({"fsdp.param_dtype=bf16", "fsdp.reduce_dtype=fp32"}),
             Contains("policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, "
                      "reduce_dtype=torch.float32)") &&
                 Contains("fully_shard(model, mp_policy=policy)"));
  CHECK_THAT(lines({"fsdp.wrap=model"}), !Contains("fully_shard(block"));
  CHECK_THAT(lines({"accumulate_steps=3", "fsdp.gradient_sync=last"}),
             Contains("    for i in range(3):\n") &&
                 Contains("        model.set_requires_gradient_sync(i == 2)\n") &&
                 !Contains("no_sync"));
}
