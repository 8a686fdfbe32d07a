// Tensor parallelism's program: which layers are cut, what is summed over the ranks, and when.
#include "train/parallel/tensor_parallel.h"

#include <catch2/catch.hpp>
#include <set>

#include "support/built_program.h"
#include "support/program_order.h"
#include "train/model/models.h"
#include "train/parallel/cut_layers.h"

using namespace trainscope;
using namespace trainscope::train;
using Catch::Matchers::Contains;
using program::Index;
using test::collectives_of;
using test::in_order;
using test::Settings;
using test::with;

namespace {

const Settings kCommon{"machine=h200-8", "steps=3", "loop.evaluate=false"};

program::Config config_of(const Settings& settings) {
  return test::config_of(with(kCommon, settings));
}

Settings ranks(int count) {
  return {"parallel.strategy=tensor", "parallel.world_size=" + std::to_string(count)};
}

program::Program program_of(const Settings& settings, const Settings& more = {}) {
  return test::program_of(with(with(kCommon, settings), more));
}

Graph graph_of(const Settings& settings) {
  const program::Config config = config_of(settings);
  return build_model(config, training_data(config), config.whole("batch_size"));
}

const Settings kMlp{"model.name=mlp", "model.layers=3", "model.hidden=64", "batch_size=8"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text", "model.width=32",  "model.blocks=3",
                    "model.heads=4",       "batch_size=2",   "model.seq_len=16"};
const Settings kGpt2{"model.name=gpt2-large", "model.seq_len=64", "batch_size=1"};
const Settings kBert{"model.name=bert-large", "model.seq_len=64", "batch_size=1"};
const Settings kOpt{"model.name=opt-1.3b", "model.seq_len=64", "batch_size=1"};
const std::vector<Settings> kModels{kMlp, kGpt, kGpt2, kBert, kOpt};

Settings both(Settings a, const Settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<std::string> names_of(const Settings& settings, Cut cut) {
  std::vector<std::string> names;
  for (const CutName& one : cut_names(cut_layers(graph_of(settings), 2)))
    if (one.cut == cut) names.push_back(one.name);
  return names;
}

}  // namespace

TEST_CASE("linear layers are cut in pairs, the first by its outputs, the second by its inputs") {
  using Names = std::vector<std::string>;
  CHECK(names_of(kMlp, Cut::kColumns) == Names{"0", "4"});
  CHECK(names_of(kMlp, Cut::kRows) == Names{"2", "6"});
  CHECK(names_of(kGpt, Cut::kColumns) == Names{"qkv", "up"});
  CHECK(names_of(kGpt, Cut::kRows) == Names{"projection", "down"});
  CHECK(names_of(kGpt2, Cut::kColumns) == Names{"attn.c_attn", "mlp.c_fc"});
  CHECK(names_of(kBert, Cut::kRows) == Names{"attention.output.dense", "output.dense"});
  CHECK(names_of(kOpt, Cut::kColumns) ==
        Names{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "fc1"});
}

TEST_CASE("ranks have equal parts of what is cut, and all of the rest") {
  for (const Settings& model : kModels)
    for (const int count : {1, 2, 4}) {
      INFO(model[0] << ", " << count << " ranks");
      const Graph whole = graph_of(model), own = cut_layers(whole, count);
      CHECK(own.parameter_count() == whole.parameter_count());
      std::int64_t cut = 0;
      for (std::size_t i = 0; i < whole.layers.size(); ++i) {
        const auto* linear = std::get_if<program::Linear>(&own.layers[i].function);
        if (!linear) continue;
        const auto& before = std::get<program::Linear>(whole.layers[i].function);
        const bool columns = own.layers[i].cut == Cut::kColumns;
        const bool rows = own.layers[i].cut == Cut::kRows;
        CHECK(linear->outputs * (columns ? count : 1) == before.outputs);
        CHECK(linear->inputs * (rows ? count : 1) == before.inputs);
        CHECK(own.values[own.layers[i].output] == linear->rows * linear->outputs);
        CHECK(own.parameters[own.layers[i].parameters[0]].elements ==
              linear->inputs * linear->outputs);
        cut += columns || rows;
      }
      CHECK(cut > 0);
    }
}

TEST_CASE("each pair is one sum in forward, and one for each layer that reads its input") {
  struct Case {
    Settings model;
    std::size_t sums;  // of a step
  };
  // Of the first pair of an mlp the input needs no gradient.
  for (const Case& one : {Case{kMlp, 2 + 1}, {kGpt, 3 * 4}, {kGpt2, 36 * 4}, {kOpt, 24 * 6}}) {
    INFO(one.model[0]);
    const program::Program program = program_of(one.model, ranks(4));
    const auto all = collectives_of(program);
    REQUIRE(all.size() == 3 * one.sums);
    std::int64_t sequence = 0;
    for (const program::Collective& sum : all) {
      CHECK(sum.kind == program::CollectiveKind::kAllReduce);
      CHECK(sum.sequence == sequence++);
      CHECK(sum.send == sum.receive);
    }
  }
}

TEST_CASE("what is summed is a copy that has memory, and kernels wait for the sum") {
  for (const Settings& model : kModels)
    for (const Settings& how :
         {Settings{}, Settings{"checkpoint.enabled=true"}, Settings{"autocast.dtype=bf16"},
          Settings{"model.dtype=bf16"}, Settings{"accumulate_steps=2"}}) {
      INFO(model[0] << (how.empty() ? "" : ", " + how[0]));
      const program::Program program = program_of(both(model, ranks(4)), how);
      program::validate(program);
      std::set<Index> alive;
      Index copied = program::kNoIndex;
      bool waits = false;
      int sums = 0, reads = 0;
      in_order(program, 0, [&](const program::Command& command) {
        const program::Action& action = command.action;
        if (const auto* one = std::get_if<program::Alloc>(&action))
          REQUIRE(alive.insert(one->buffer).second);
        if (const auto* one = std::get_if<program::Free>(&action))
          REQUIRE(alive.erase(one->buffer) == 1);
        const auto* copy = std::get_if<program::Copy>(&action);
        const bool on_device =
            copy && program.buffers[copy->from].kind == program::MemoryKind::kDevice;
        if (on_device && program.buffers[copy->to].kind == program::MemoryKind::kDevice) {
          REQUIRE(alive.contains(copy->to));
          REQUIRE(alive.contains(copy->from));
          copied = copy->to;
        }
        if (const auto* one = std::get_if<program::Collective>(&action)) {
          REQUIRE(program.payloads[one->send] == std::vector<Index>{copied});
          CHECK(one->bytes == program.buffers[copied].bytes);
          waits = true;
          ++sums;
        }
        if (std::holds_alternative<program::StreamWait>(action)) waits = false;
        const auto* launch = std::get_if<program::Launch>(&action);
        if (!launch) return;
        CHECK_FALSE(waits);
        for (const Index buffer : program.operations[launch->operation].reads) {
          const program::Role role = program.buffers[buffer].role;
          INFO(program.operations[launch->operation].kernel << ", "
                                                            << program.buffers[buffer].name);
          if (role != program::Role::kActivation || program.buffers[buffer].is_view) continue;
          REQUIRE(alive.contains(buffer));
          ++reads;
        }
      });
      CHECK(sums > 0);
      CHECK(reads > 0);
    }
}

TEST_CASE("under autocast the sums of forward are narrow, and those of backward FP32") {
  const auto bytes_of = [](const program::Program& program) {
    std::vector<std::int64_t> bytes;
    for (const program::Collective& one : collectives_of(program)) bytes.push_back(one.bytes);
    bytes.resize(bytes.size() / 3);  // of a step
    return bytes;
  };
  const auto wide = bytes_of(program_of(kGpt, ranks(2)));
  const auto narrow = bytes_of(program_of(both(kGpt, ranks(2)), {"autocast.dtype=bf16"}));
  REQUIRE(wide.size() == 12);
  REQUIRE(narrow.size() == 12);
  for (std::size_t i = 0; i < 6; ++i) CHECK(narrow[i] * 2 == wide[i]);
  for (std::size_t i = 6; i < 12; ++i) CHECK(narrow[i] == wide[i]);
}

TEST_CASE("a block that is computed again is summed again, but for its last sum") {
  const auto sums = [](const Settings& more) {
    return collectives_of(program_of(both(kGpt, ranks(2)), more)).size();
  };
  CHECK(sums({"checkpoint.enabled=true"}) == sums({}) + std::size_t{3 * 3 * 1});
}

TEST_CASE("arithmetic that is cut is shared out, and all of it is counted") {
  const double alone = program_of(kGpt2).step_flops;
  for (const int count : {2, 4}) {
    const program::Program program = program_of(kGpt2, ranks(count));
    CHECK(program.gpus_of_batch == count);
    CHECK(program.stages == 1);
    CHECK(program.samples_per_step == 1);
    // The head, the norms and the update of what is whole every rank does.
    CHECK(program.step_flops > alone);
    CHECK(program.step_flops < 1.6 * alone);
  }
}

TEST_CASE("the listing says how each layer is cut") {
  const auto lines = [](const Settings& model) {
    return test::listing_of(program_of(model, ranks(4)));
  };
  CHECK_THAT(lines(kGpt), Contains("mesh = init_device_mesh(\"cuda\", (4,))") &&
                              Contains("\"qkv\": ColwiseParallel(),") &&
                              Contains("\"down\": RowwiseParallel(),}") &&
                              Contains("for block in model.blocks:\n    parallelize_module(block, "
                                       "mesh, plan)") &&
                              Contains("with implicit_replication():\n        optimizer.step()") &&
                              Contains("# the same on every rank"));
  CHECK_THAT(lines(kGpt),
             Contains("# q, k and v of one projection are cut each by itself\n"
                      "for p in [p for block in model.blocks for p in block.qkv.parameters()]:\n"
                      "    p.data = p.data.unflatten(0, (3, 4, -1))") &&
                 !Contains("Conv1D"));
  CHECK_THAT(lines(kGpt2), Contains("    block.attn.c_attn = linear(block.attn.c_attn)\n") &&
                               Contains("    block.mlp.c_proj = linear(block.mlp.c_proj)\n") &&
                               Contains("    block.attn.split_size //= 4  # of its heads"));
  CHECK_THAT(lines(kGpt2), Contains("# transformers' Conv1D is replaced by nn.Linear"));
  CHECK_THAT(lines(kOpt), !Contains("of one projection") &&
                              Contains("    block.self_attn.num_heads //= 4  # of its heads"));
  CHECK_THAT(lines(kMlp), Contains("\"4\": ColwiseParallel(),") &&
                              Contains("\nparallelize_module(model, mesh, plan)"));
}

TEST_CASE("what cannot be cut, or is not built, is refused in a sentence") {
  const auto fails = [](const Settings& settings, const Settings& more, const char* words) {
    INFO(words);
    CHECK_THROWS_WITH(program_of(settings, more), Contains(words));
  };
  fails({"model.name=cnn"}, ranks(2), "cuts pairs of linear layers, and this model has none");
  fails(kGpt, ranks(8), "cannot share out 4 heads in equal parts");
  fails({"model.name=mlp-784-128-10"}, ranks(3),
        "cannot share out 128 outputs of a linear layer in equal parts");
  for (const char* knob :
       {"clip_grad_norm=1", "scaler.enabled=true", "uneven_batches=true", "model.detach=1"})
    fails(both(kMlp, ranks(2)), {knob}, "is not built for parallel.strategy = tensor");
  fails(kMlp, both(ranks(2), {"straggler.rank=2"}), "straggler.rank = 2 is no rank");
  fails(kMlp, {"parallel.strategy=tensor", "parallel.world_size=64"}, "parallel.world_size");
}
