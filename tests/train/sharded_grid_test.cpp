// Tensor parallelism among some of the ranks, FSDP between them: who gathers, who sums, on which
// stream, and what is kept.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/error.h"
#include "program/idle_knobs.h"
#include "program/shards.h"
#include "support/built_program.h"
#include "support/program_order.h"
#include "train/parallel/ranks.h"

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

constexpr std::size_t kSteps = 3, kBlocks = 3;
const Settings kGpt{
    "parallel.strategy=fsdp", "parallel.world_size=8", "machine=h200-8", "steps=3",
    "model.name=gpt-mini",    "batch_size=2",          "model.width=32", "model.blocks=3",
    "model.heads=4",          "model.seq_len=16",      "data.name=text", "loop.evaluate=false"};
const Settings kPairs{"tensor.degree=2"};
const Settings kInParts{"tensor.degree=2", "tensor.sequence_parallel=true"};
constexpr const char* kPart = ", this rank's part";

program::Program program_of(const Settings& more) {
  return test::program_of(with(kGpt, more));
}

std::string listing_of(const Settings& more) {
  return test::listing_of(program_of(more));
}

std::string refusal(const Settings& more) {
  try {
    program_of(more);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// All that a rank does, and what it has.
std::string text_of(const program::Program& program) {
  std::string all = test::listing_of(program);
  in_order(program, 0, [&](const program::Command& command) {
    all += std::to_string(command.action.index()) + "/" + std::to_string(command.line) + " ";
  });
  for (const program::Buffer& buffer : program.buffers)
    all += buffer.name + std::to_string(buffer.bytes) + "\n";
  for (const program::Stream& stream : program.streams) all += stream.name;
  return all;
}

std::size_t count(const std::vector<program::Collective>& all, Index communicator,
                  CollectiveKind kind) {
  return static_cast<std::size_t>(std::ranges::count_if(all, [&](const program::Collective& one) {
    return one.communicator == communicator && one.kind == kind;
  }));
}

}  // namespace

TEST_CASE("neighbours share the layers, and ranks that have the same parts share these") {
  const program::Program program = program_of(kPairs);
  program::validate(program);
  REQUIRE(program.communicators.size() == 2);
  const program::Communicator &tensor = program.communicators[0], &data = program.communicators[1];
  CHECK(tensor.name == "tensor group");
  CHECK(tensor.gpus == std::vector<int>{0, 1});
  CHECK(tensor.group(3).gpus == std::vector<int>{6, 7});
  CHECK(data.name == "data-parallel group");
  CHECK(data.gpus == std::vector<int>{0, 2, 4, 6});
  CHECK(data.group(1).gpus == std::vector<int>{1, 3, 5, 7});

  const auto all = collectives_of(program);
  std::map<Index, std::int64_t> next;
  for (const program::Collective& one : all) {
    CHECK(one.sequence == next[one.communicator]++);
    CHECK(program.streams[one.stream].number == (one.communicator == 0 ? 24 : 28));
  }
  // Of each block two sums in forward and two in backward; of FSDP, blocks and the root.
  CHECK(count(all, 0, CollectiveKind::kAllReduce) == kSteps * 4 * kBlocks);
  CHECK(count(all, 1, CollectiveKind::kAllGather) == kSteps * (2 * kBlocks + 1));
  CHECK(count(all, 1, CollectiveKind::kReduceScatter) == kSteps * (kBlocks + 1));
  CHECK(all.size() == kSteps * (4 * kBlocks + 2 * kBlocks + 1 + kBlocks + 1));
  CHECK(count(collectives_of(program_of(with(kPairs, {"fsdp.reshard_after_forward=false"}))), 1,
              CollectiveKind::kAllGather) == kSteps * (kBlocks + 1));
}

TEST_CASE("a rank keeps of its part of the layers what the others that have it leave") {
  for (const Settings& more : {kPairs, kInParts, Settings{"tensor.degree=4"},
                               Settings{"tensor.degree=2", "tensor.loss_parallel=true"}}) {
    const program::Program sharded = program_of(with(more, {"optimizer.name=adamw"}));
    const program::Program summed =
        program_of(with(more, {"optimizer.name=adamw", "parallel.strategy=tensor"}));
    const auto ranks = static_cast<std::size_t>(8 / sharded.communicators[0].ranks);
    std::map<std::string, std::int64_t> parts;
    std::int64_t state = 0, expected = 0;
    for (const program::Buffer& buffer : sharded.buffers) {
      if (buffer.name.ends_with(kPart)) parts[buffer.name] = buffer.elements();
      if (buffer.role == program::Role::kOptimizerState && buffer.elements() > 1)
        state += buffer.elements();
    }
    std::size_t found = 0;
    for (const program::Buffer& buffer : summed.buffers) {
      if (buffer.role != program::Role::kParameter) continue;
      const auto own = static_cast<std::int64_t>(
          program::shard_size(static_cast<std::size_t>(buffer.elements()), ranks));
      INFO(buffer.name);
      CHECK(parts[buffer.name + kPart] == own);
      expected += own;
      ++found;
    }
    CHECK(parts.size() == found);
    CHECK(state == 2 * expected);
    CHECK(sharded.parameters == summed.parameters);
  }
}

TEST_CASE("what FSDP gathers and scatters are a rank's parts of the layers") {
  // What is gathered first is the root's, which is whole on every rank.
  const auto root_and_all = [](const program::Program& program, Index communicator) {
    std::int64_t root = 0, all = 0;
    for (const program::Collective& one : collectives_of(program)) {
      if (one.communicator != communicator || one.kind != CollectiveKind::kAllGather) continue;
      if (root == 0) root = one.bytes;
      all += one.bytes;
    }
    return std::pair(root, all);
  };
  const auto [root, all] =
      root_and_all(program_of({"tensor.degree=0", "parallel.world_size=4"}), 0);
  const auto [same_root, of_pairs] = root_and_all(program_of(kPairs), 1);
  CHECK(same_root == root);
  // Of a block's 12 w^2 weights and 13 w others a half, but of 6 w that are not cut.
  constexpr std::int64_t kWidth = 32, kFloat = 4;
  const auto blocks = static_cast<std::int64_t>(kSteps * 2 * kBlocks);
  CHECK(all == blocks * kFloat * (12 * kWidth * kWidth + 13 * kWidth) +
                   static_cast<std::int64_t>(kSteps) * root);
  CHECK(all - of_pairs == blocks * kFloat * (12 * kWidth * kWidth + 7 * kWidth) / 2);
}

TEST_CASE("no kernel reads or writes what has no memory, and all is freed that is gathered") {
  for (const Settings& more :
       {kPairs, kInParts, with(kInParts, {"tensor.loss_parallel=true"}),
        with(kInParts, {"accumulate_steps=2", "fsdp.gradient_sync=last"}),
        with(kInParts, {"accumulate_steps=2"}), with(kInParts, {"checkpoint.enabled=true"}),
        with(kInParts, {"fsdp.param_dtype=bf16", "fsdp.reduce_dtype=fp32"}),
        with(kPairs, {"fsdp.wrap=model"}), with(kPairs, {"fsdp.reshard_after_forward=false"}),
        with(kPairs, {"clip_grad_norm=1"}), with(kPairs, {"zero_grad.when=never"}),
        with(kPairs, {"model.name=mlp", "model.hidden=50", "model.layers=4", "data.name=auto"})}) {
    INFO(more.back());
    const program::Program program = program_of(more);
    program::validate(program);
    std::set<Index> alive, shown;
    int touched = 0;
    in_order(program, 0, [&](const program::Command& command) {
      const program::Action& action = command.action;
      if (const auto* one = std::get_if<program::Alloc>(&action)) {
        INFO(program.buffers[one->buffer].name);
        REQUIRE(alive.insert(one->buffer).second);
      }
      if (const auto* one = std::get_if<program::Free>(&action)) {
        INFO(program.buffers[one->buffer].name);
        REQUIRE(alive.erase(one->buffer) == 1);
      }
      if (const auto* one = std::get_if<program::View>(&action)) shown.insert(one->view);
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
      CHECK_FALSE(name.ends_with(".grad, summed"));
    }
  }
}

TEST_CASE("with parts of the sequence a norm's gradients are summed before those of its unit are") {
  for (const Settings& how : {Settings{}, Settings{"accumulate_steps=2"},
                              Settings{"accumulate_steps=2", "fsdp.gradient_sync=last"}}) {
    const program::Program program = program_of(with(kInParts, how));
    std::set<Index> summed;
    std::size_t norms = 0;
    in_order(program, 0, [&](const program::Command& command) {
      const auto* sum = std::get_if<program::Collective>(&command.action);
      if (sum && sum->communicator == 0 && sum->kind == CollectiveKind::kAllReduce)
        summed.insert(program.payloads[sum->receive].begin(), program.payloads[sum->receive].end());
      const auto* launch = std::get_if<program::Launch>(&command.action);
      if (!launch) return;
      const program::Operation& one = program.operations[launch->operation];
      if (!std::holds_alternative<program::ShardsTogether>(one.function)) return;
      for (const Index read : one.reads) {
        if (program.buffers[read].name.find("norm") == std::string::npos) continue;
        INFO(program.buffers[read].name);
        ++norms;
        CHECK(summed.erase(read) == 1);
      }
    });
    // Weight and bias of two norms a block, and of the last one.
    const std::size_t times = how.size() == 1 ? 2 * kSteps : kSteps;
    CHECK(norms == times * 2 * (2 * kBlocks + 1));
  }
}

TEST_CASE("norms are summed over FSDP's ranks, and of what is cut over the tensor group") {
  const program::Program plain = program_of(kPairs);
  const program::Program clips = program_of(with(kPairs, {"clip_grad_norm=1"}));
  program::validate(clips);
  const auto sums = [](const program::Program& program, Index communicator) {
    return count(collectives_of(program), communicator, CollectiveKind::kAllReduce);
  };
  CHECK(sums(clips, 0) - sums(plain, 0) == kSteps);
  CHECK(sums(clips, 1) == 2 * kSteps);
  CHECK(sums(plain, 1) == 0);
}

TEST_CASE("groups of one rank are FSDP alone; a group of all ranks leaves it nothing to share") {
  for (const Settings& more :
       {Settings{}, Settings{"clip_grad_norm=1"}, Settings{"fsdp.shard_degree=4"}})
    CHECK(text_of(program_of(with({"tensor.degree=1"}, more))) == text_of(program_of(more)));
  CHECK_THAT(refusal({"tensor.degree=8"}),
             Contains("tensor.degree = 8 are all ranks") &&
                 Contains("set parallel.strategy = tensor, or tensor.degree to fewer ranks"));
}

TEST_CASE("every rank calls the collectives of its own groups, and begins with its own parts") {
  const program::Program one = program_of(with(kInParts, {"steps=1", "clip_grad_norm=1"}));
  const program::Program all = with_every_rank(one);
  program::validate(all);
  std::map<std::pair<Index, std::int64_t>, std::vector<int>> met;
  for (const program::Thread& thread : all.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* sum = std::get_if<program::Collective>(&command.action))
        met[{sum->communicator, sum->sequence}].push_back(thread.rank);
  std::set<Index> used;
  for (auto& [key, ranks] : met) {
    std::ranges::sort(ranks);
    CHECK(ranks == all.communicators[key.first].gpus);
    used.insert(key.first);
  }
  CHECK(used.size() == 4 + 2);
  std::size_t parts = 0, by_rank = 0, own_parts = 0;
  for (const program::Buffer& buffer : all.buffers) {
    if (!buffer.name.ends_with(kPart)) continue;
    INFO(buffer.name << " on " << buffer.device);
    CHECK(buffer.initial.shard == buffer.device / 2);
    ++parts;
    if (!buffer.initial.by_rank) continue;
    ++by_rank;
    CHECK(buffer.initial.part == buffer.device % 2);
  }
  CHECK(parts > 8 * 10);
  CHECK(by_rank > 0);
  const program::Program own = only_rank(one, 5);
  program::validate(own);
  CHECK(own.communicators[0].gpus == std::vector<int>{4, 5});
  CHECK(own.communicators[1].gpus == std::vector<int>{1, 3, 5, 7});
  for (const program::Buffer& buffer : own.buffers) {
    if (!buffer.name.ends_with(kPart)) continue;
    ++own_parts;
    CHECK(buffer.initial.shard == 2);
  }
  CHECK(own_parts == parts / 8);
}

TEST_CASE("a batch is a tensor group's") {
  const program::Program program = program_of(kPairs);
  CHECK(program.samples_per_step == 4 * 2);
  CHECK(program.gpus == 8);
  CHECK(program.gpus_of_batch == 2);
  CHECK(program.computed_ranks == 8);
  CHECK(program.data.replicas == 4);
  CHECK(program.model_flops == program_of({"parallel.world_size=4"}).model_flops);
}

TEST_CASE("the listing cuts the layers, and then shards what is cut") {
  const std::string text = listing_of(with(kPairs, {"loader.shuffle=true"}));
  CHECK_THAT(
      text,
      Contains("mesh = init_device_mesh(\"cuda\", (4, 2), mesh_dim_names=(\"dp\", \"tp\"))\n") &&
          Contains("parallelize_module(block, mesh[\"tp\"], plan)\n") &&
          Contains("for block in model.blocks: fully_shard(block, mesh=mesh[\"dp\"])\n") &&
          Contains("fully_shard(model, mesh=mesh[\"dp\"])\n") &&
          Contains("with torch.device(\"meta\")") && Contains("model.init_weights()"));
  CHECK(text.find("parallelize_module") < text.find("fully_shard(block"));
  CHECK(text.find("mesh = ") == text.rfind("mesh = "));
  CHECK_THAT(text, Contains("num_replicas=4, rank=rank // 2, shuffle=True)") &&
                       Contains("# of each tensor group") && !Contains("implicit_replication") &&
                       !Contains("DistributedDataParallel"));
  CHECK_THAT(listing_of(with(kPairs, {"fsdp.param_dtype=bf16"})),
             Contains("fully_shard(model, mesh=mesh[\"dp\"], mp_policy=policy)\n"));
  CHECK_THAT(listing_of(with(kPairs, {"accumulate_steps=2", "fsdp.gradient_sync=last"})),
             Contains("model.set_requires_gradient_sync(i == 1)"));
  CHECK_THAT(listing_of(with(kPairs, {"clip_grad_norm=0.5"})),
             Contains("nn.utils.get_total_norm([p.grad for p in one]).full_tensor()") &&
                 Contains("nn.utils.clip_grads_with_norm_(one, 0.5, norm)") &&
                 !Contains("clip_grad_norm_("));
  CHECK_THAT(listing_of({}), !Contains("mesh"));
}

TEST_CASE("what is not built for FSDP between tensor groups is refused with what to write") {
  CHECK_THAT(refusal(with(kPairs, {"fsdp.shard_degree=2"})),
             Contains("fsdp.shard_degree is not built beside tensor.degree"));
  CHECK_THAT(refusal(with(kPairs, {"collective.expanded=true"})),
             Contains("collective.expanded is not built for the groups of tensor.degree"));
  CHECK_THAT(refusal(with(kPairs, {"compile.fuse=true"})),
             Contains("is not built for layers that ranks share out (tensor.degree)"));
  for (const char* knob : {"scaler.enabled", "uneven_batches"})
    CHECK_THAT(refusal(with(kPairs, {std::string(knob) + "=true"})),
               Contains(std::string(knob) + " is not built for the groups of tensor.degree"));
  CHECK_THAT(refusal({"tensor.degree=3"}), Contains("does not divide 8 ranks"));
  CHECK_THAT(refusal({"tensor.degree=2", "model.name=cnn", "data.name=auto"}),
             Contains("cuts pairs of linear layers, and this model has none"));
  CHECK_THAT(refusal(with(kPairs, {"fsdp.gradient_sync=last"})), Contains("accumulate_steps is 1"));
}

TEST_CASE("beside FSDP the knobs of tensor parallelism matter where groups share layers") {
  program::Config config;
  config.set_text("data.name=digits");  // of which numbers are computed
  config.set_text("parallel.strategy=fsdp");
  config.set_text("parallel.world_size=8");
  for (const char* knob : {"tensor.sequence_parallel", "tensor.loss_parallel"})
    CHECK(program::idle_because(config, knob) == "tensor.degree = 0");
  CHECK(program::idle_because(config, "tensor.degree").empty());
  config.set_text("tensor.degree=2");
  for (const char* knob : {"tensor.sequence_parallel", "tensor.loss_parallel", "fsdp.wrap",
                           "sampler.set_epoch", "tensor.degree"})
    CHECK(program::idle_because(config, knob).empty());
  CHECK_FALSE(program::idle_because(config, "ddp.bucket_cap_mb").empty());
}
