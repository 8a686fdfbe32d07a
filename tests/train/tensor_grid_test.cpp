// Tensor parallelism among some of the ranks, data parallelism between them: who sums what, on
// which stream, and what is read.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "base/error.h"
#include "program/idle_knobs.h"
#include "support/built_program.h"
#include "support/program_order.h"
#include "train/parallel/parallel.h"
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

const Settings kGpt{"parallel.strategy=tensor",
                    "parallel.world_size=4",
                    "machine=h200-8",
                    "steps=3",
                    "model.name=gpt-mini",
                    "batch_size=2",
                    "model.width=32",
                    "model.blocks=3",
                    "model.heads=4",
                    "model.seq_len=16",
                    "data.name=text",
                    "loop.evaluate=false"};
const Settings kPairs{"tensor.degree=2"};

program::Program program_of(const Settings& more) {
  return test::program_of(with(kGpt, more));
}

std::int64_t parameter_bytes(const program::Program& program) {
  std::int64_t bytes = 0;
  for (const program::Buffer& buffer : program.buffers)
    if (buffer.role == program::Role::kParameter) bytes += buffer.bytes;
  return bytes;
}

std::int64_t bucket_bytes(const program::Program& program) {
  std::int64_t bytes = 0;
  for (const program::Bucket& bucket : program.buckets) bytes += bucket.bytes;
  return bytes;
}

std::string listing_of(const Settings& more) {
  return test::listing_of(program_of(more));
}

}  // namespace

TEST_CASE("neighbours share the layers, and ranks that have the same parts sum their gradients") {
  const program::Program program = program_of(kPairs);
  program::validate(program);
  REQUIRE(program.communicators.size() == 2);
  const program::Communicator &tensor = program.communicators[0], &data = program.communicators[1];
  CHECK(tensor.name == "tensor group");
  CHECK(tensor.gpus == std::vector<int>{0, 1});
  CHECK(tensor.group(1).gpus == std::vector<int>{2, 3});
  CHECK(data.name == "data-parallel group");
  CHECK(data.gpus == std::vector<int>{0, 2});
  CHECK(data.group(1).gpus == std::vector<int>{1, 3});

  std::map<Index, std::int64_t> next;
  std::size_t between_layers = 0, buckets = 0;
  for (const program::Collective& one : collectives_of(program)) {
    CHECK(one.sequence == next[one.communicator]++);
    CHECK(program.streams[one.stream].number == (one.communicator == 0 ? 24 : 28));
    between_layers += one.communicator == 0 ? 1 : 0;
    buckets += one.communicator == 1 && one.kind == CollectiveKind::kAllReduce ? 1 : 0;
  }
  CHECK(between_layers == 3 * std::size_t{3 * 4});
  CHECK(buckets == program.first_buckets.size() + 2 * program.buckets.size());
}

TEST_CASE("buckets sum each gradient of a rank's parts once, as large as the knob allows") {
  for (const char* degree : {"tensor.degree=1", "tensor.degree=2"}) {
    const program::Program program = program_of({degree});
    CHECK(bucket_bytes(program) == parameter_bytes(program));
    const program::Program small = program_of({degree, "ddp.bucket_cap_mb=0.01"});
    CHECK(small.buckets.size() > program.buckets.size());
    CHECK(bucket_bytes(small) == parameter_bytes(small));
  }
}

TEST_CASE("bucket sums begin during backward, and only the update waits for them") {
  const program::Program program = program_of(with(kPairs, {"ddp.bucket_cap_mb=0.01"}));
  std::map<Index, int> recorded_on;
  std::size_t beside = 0, waits = 0, under_way = 0;  // sums that nobody has waited for yet
  in_order(program, 0, [&](const program::Command& command) {
    const program::Action& action = command.action;
    if (const auto* one = std::get_if<program::RecordEvent>(&action))
      recorded_on[one->event] = program.streams[one->stream].number;
    const auto* sum = std::get_if<program::Collective>(&action);
    if (sum && sum->communicator == 1 && sum->kind == CollectiveKind::kAllReduce) ++under_way;
    if (const auto* one = std::get_if<program::Launch>(&action))
      beside += under_way > 0 && program.operations[one->operation].is_gradient ? 1 : 0;
    const auto* wait = std::get_if<program::StreamWait>(&action);
    if (!wait || recorded_on[wait->event] != 28 || under_way == 0) return;
    ++waits;
    CHECK(under_way == (waits == 1 ? program.first_buckets : program.buckets).size());
    under_way = 0;
  });
  CHECK(waits == 3);
  CHECK(beside > 30);
}

TEST_CASE("a batch is a tensor group's: its ranks read the same, and others others") {
  const program::Program program = program_of(kPairs);
  CHECK(program.samples_per_step == 2 * 2);
  CHECK(program.gpus == 4);
  CHECK(program.gpus_of_batch == 2);
  CHECK(program.computed_ranks == 4);
  CHECK(program.data.replicas == 2);
  CHECK(program.model_flops == 2 * program_of({"parallel.world_size=2"}).model_flops);
  CHECK(program.step_flops > 1.9 * program_of({"parallel.world_size=2"}).step_flops);
}

TEST_CASE("a group of all ranks is tensor parallelism alone") {
  const auto text = [](const program::Program& program) {
    std::string all = test::listing_of(program);
    in_order(program, 0, [&](const program::Command& command) {
      all += std::to_string(command.action.index()) + "/" + std::to_string(command.line) + " ";
    });
    for (const program::Buffer& buffer : program.buffers)
      all += buffer.name + std::to_string(buffer.bytes) + "\n";
    for (const program::Stream& stream : program.streams) all += stream.name;
    return all;
  };
  for (const Settings& more : {Settings{}, Settings{"tensor.sequence_parallel=true"}}) {
    const program::Program all = program_of(with({"tensor.degree=4"}, more));
    CHECK(text(all) == text(program_of(more)));
    CHECK(all.communicators.size() == 1);
    CHECK(all.communicators.front().groups == 1);
  }
}

TEST_CASE("with parts of the sequence a norm's gradients are summed before their bucket is") {
  const program::Program program =
      program_of(with(kPairs, {"tensor.sequence_parallel=true", "ddp.bucket_cap_mb=0.001"}));
  program::validate(program);
  std::map<Index, bool> is_summed;  // by gradient of a norm
  int norms = 0;
  in_order(program, 0, [&](const program::Command& command) {
    const auto* sum = std::get_if<program::Collective>(&command.action);
    if (sum && sum->communicator == 0)
      for (const Index buffer : program.payloads[sum->receive]) is_summed[buffer] = true;
    const auto* launch = std::get_if<program::Launch>(&command.action);
    if (!launch) return;
    const program::Operation& one = program.operations[launch->operation];
    if (one.framework.find("reducer::mul_out") == std::string::npos) return;
    const std::string& name = program.buffers[one.reads[0]].name;
    if (name.find("norm") == std::string::npos) return;
    ++norms;
    CHECK(is_summed[one.reads[0]]);
    is_summed[one.reads[0]] = false;
  });
  CHECK(norms == 3 * 2 * (2 * 3 + 1));
}

TEST_CASE(
    "every rank calls the collectives of its own groups, and has its own part of a sequence") {
  for (const char* degree : {"tensor.degree=1", "tensor.degree=2"}) {
    const program::Program one =
        program_of({degree, "tensor.sequence_parallel=true", "model.dropout=0.1", "steps=1"});
    const program::Program all = with_every_rank(one);
    program::validate(all);
    std::map<std::pair<Index, std::int64_t>, std::vector<int>> met;
    for (const program::Thread& thread : all.threads)
      for (const program::Command& command : thread.commands)
        if (const auto* sum = std::get_if<program::Collective>(&command.action))
          met[{sum->communicator, sum->sequence}].push_back(thread.rank);
    for (auto& [key, ranks] : met) {
      std::ranges::sort(ranks);
      CHECK(ranks == all.communicators[key.first].gpus);
    }
    const std::size_t each = one.operations.size();
    REQUIRE(all.operations.size() == 4 * each);
    int dropouts = 0, parts = 0;
    for (std::size_t i = 0; i < all.operations.size(); ++i) {
      const auto rank = static_cast<std::int64_t>(i / each);
      const auto& function = all.operations[i].function;
      if (const auto* dropout = std::get_if<program::Dropout>(&function)) {
        ++dropouts;
        CHECK(dropout->rank == rank % dropout->ranks);
      }
      const auto* runs = std::get_if<program::CopyRuns>(&function);
      if (!runs || runs->rank_step == 0) continue;
      ++parts;
      CHECK(runs->first == rank % one.communicators[0].ranks);
    }
    CHECK(dropouts > 0);
    CHECK(parts > 0);
  }
  const program::Program own = only_rank(program_of(kPairs), 3);
  CHECK(own.communicators[0].gpus == std::vector<int>{2, 3});
  CHECK(own.communicators[1].gpus == std::vector<int>{1, 3});
}

TEST_CASE("the listing has a mesh of two dimensions, and DDP around what is cut") {
  const std::string text = listing_of({"tensor.degree=2", "loader.shuffle=true"});
  CHECK_THAT(
      text,
      Contains("mesh = init_device_mesh(\"cuda\", (2, 2), mesh_dim_names=(\"dp\", \"tp\"))\n") &&
          Contains("parallelize_module(block, mesh[\"tp\"], plan)\n") &&
          Contains("model = DistributedDataParallel(model, device_ids=[rank], "
                   "device_mesh=mesh[\"dp\"])\n"));
  CHECK_THAT(text, Contains("num_replicas=2, rank=rank // 2, shuffle=True)") &&
                       Contains("# of each tensor group") && !Contains("implicit_replication"));
  CHECK_THAT(listing_of({"tensor.degree=2", "tensor.sequence_parallel=true"}),
             Contains("parallelize_module(model, mesh[\"tp\"], {"));
  CHECK_THAT(listing_of({"tensor.degree=2", "accumulate_steps=2", "ddp.no_sync=true"}),
             Contains("with model.no_sync()"));
  CHECK_THAT(listing_of({"tensor.degree=2", "data.source=tensor"}),
             Contains("X, Y = X[rank // 2::2], Y[rank // 2::2]"));
  CHECK_THAT(listing_of({}), Contains("init_device_mesh(\"cuda\", (4,))") && !Contains("mesh[") &&
                                 !Contains("DistributedSampler"));
}

TEST_CASE("tensor groups that would differ are refused with what to write") {
  const auto refusal = [](const Settings& more) -> std::string {
    try {
      program_of(more);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(refusal({"tensor.degree=8"}),
             Contains("tensor.degree = 8 is more than parallel.world_size = 4; write 4, or 0"));
  CHECK_THAT(refusal({"tensor.degree=3"}),
             Contains("does not divide 4 ranks into equal groups; write one of 1, 2, 4, or 0"));
  CHECK_THAT(refusal({"machine=h200-8x2", "parallel.world_size=12", "tensor.degree=4"}),
             Contains("12 ranks do not fill their nodes of 8 GPUs") &&
                 Contains("write parallel.world_size = 16, or tensor.degree = 0"));
  machine::Machine three = machine::load_machine("h200-8x2");
  three.nodes = 3;
  program::Config config;
  config.set_text("tensor.degree=12");
  CHECK_THROWS_WITH(tensor_degree(config, three, 24), Contains("a divisor or a multiple of 8"));
  CHECK_THAT(refusal({"tensor.degree=2", "collective.expanded=true"}),
             Contains("not built for the groups of tensor.degree"));
  CHECK_THAT(refusal({"tensor.degree=2", "tensor.sequence_parallel=true", "model.seq_len=15"}),
             Contains("tokens to tensor.degree = 2 ranks"));
  CHECK_THAT(refusal({"tensor.degree=2", "ddp.no_sync=true"}), Contains("accumulate_steps is 1"));
  CHECK_THAT(refusal({"tensor.degre=2"}), Contains("did you mean tensor.degree"));
}

TEST_CASE("DDP's knobs and the sampler's matter where tensor groups are not all ranks") {
  program::Config config;
  config.set_text("data.name=digits");  // of which numbers are computed
  config.set_text("parallel.strategy=tensor");
  config.set_text("parallel.world_size=4");
  for (const char* knob : {"ddp.bucket_cap_mb", "sampler.set_epoch"})
    CHECK(program::idle_because(config, knob) == "tensor.degree = 0");
  config.set_text("tensor.degree=2");
  for (const char* knob : {"ddp.bucket_cap_mb", "sampler.set_epoch", "tensor.degree"})
    CHECK(program::idle_because(config, knob).empty());
  CHECK_FALSE(program::idle_because(config, "uneven_batches").empty());
}
