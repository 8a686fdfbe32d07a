// Sequence parallelism's program: what each rank has a part of, what is gathered and scattered.
#include "train/parallel/sequence_parallel.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "support/built_program.h"
#include "support/program_order.h"
#include "train/model/models.h"
#include "train/parallel/cut_layers.h"
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

const Settings kGpt{"model.name=gpt-mini", "data.name=text", "model.width=32",   "model.blocks=3",
                    "model.heads=4",       "batch_size=2",   "model.seq_len=16", "model.dropout=0"};
const Settings kGpt2{"model.name=gpt2-large", "model.seq_len=64", "batch_size=2"};
const Settings kBert{"model.name=bert-large", "model.seq_len=64", "batch_size=2"};
const Settings kOpt{"model.name=opt-1.3b", "model.seq_len=64", "batch_size=2"};
const std::vector<Settings> kModels{kGpt, kGpt2, kBert, kOpt};

const Settings kCommon{"machine=h200-8", "steps=3", "loop.evaluate=false"};

program::Config config_of(const Settings& settings) {
  return test::config_of(with(kCommon, settings));
}

Settings ranks(int count) {
  return {"parallel.strategy=tensor", "parallel.world_size=" + std::to_string(count)};
}

Settings in_parts(int count) {
  return with(ranks(count), {"tensor.sequence_parallel=true"});
}

program::Program program_of(const Settings& settings, const Settings& more = {}) {
  return test::program_of(with(with(kCommon, settings), more));
}

Graph graph_of(const Settings& settings) {
  const program::Config config = config_of(settings);
  return build_model(config, training_data(config), config.whole("batch_size"));
}

// A step's, a letter each: g gathers, s scatters, r reduces to all.
std::string kinds_of_step(const program::Program& program) {
  std::string kinds;
  for (const program::Collective& one : collectives_of(program))
    kinds += one.kind == CollectiveKind::kAllGather       ? 'g'
             : one.kind == CollectiveKind::kReduceScatter ? 's'
                                                          : 'r';
  REQUIRE(kinds.size() % 3 == 0);
  const std::string step = kinds.substr(0, kinds.size() / 3);
  CHECK(kinds == step + step + step);
  return step;
}

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// That a ring of ranks sends in a step, in multiples of (ranks - 1) / ranks.
double sent_in_step(const program::Program& program) {
  double sent = 0;
  for (const program::Collective& one : collectives_of(program))
    sent += static_cast<double>(one.bytes) * (one.kind == CollectiveKind::kAllReduce ? 2 : 1);
  return sent / 3;
}

// Of them those between pairs: without the sums of norms' gradients, and without what the
// embeddings and the head gather.
double sent_between_pairs(const program::Program& program) {
  double sent = 0;
  std::vector<double> gathered;
  for (const program::Collective& one : collectives_of(program)) {
    if (one.kind == CollectiveKind::kAllReduce) continue;
    sent += static_cast<double>(one.bytes);
    if (one.kind == CollectiveKind::kAllGather) gathered.push_back(static_cast<double>(one.bytes));
  }
  const std::size_t each = gathered.size() / 3;
  // The head's is the middle one of a step, the embeddings' the last.
  return sent / 3 - gathered[each / 2 - 1] - gathered[each - 1];
}

// The first operation of that kernel that is launched.
const program::Operation& launched(const program::Program& program, std::string_view kernel) {
  const program::Operation* found = nullptr;
  in_order(program, 0, [&](const program::Command& command) {
    const auto* launch = std::get_if<program::Launch>(&command.action);
    if (found || !launch) return;
    const program::Operation& one = program.operations[launch->operation];
    if (one.kernel == kernel) found = &one;
  });
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("norms, dropout and residual sums have equal parts of the tokens, up to the head") {
  for (const Settings& model : kModels)
    for (const int count : {1, 2, 4}) {
      INFO(model[0] << ", " << count << " ranks");
      const Graph whole = graph_of(with(model, {"model.dropout=0.1"}));
      const Graph own = cut_sequence(cut_layers(whole, count));
      int cut = 0, kept = 0, whole_norms = 0;
      for (std::size_t i = 0; i < whole.layers.size(); ++i) {
        const Layer &before = whole.layers[i], &layer = own.layers[i];
        const bool is_part = own.is_part(layer.output);
        if (layer.cut == Cut::kNone && !is_part) {
          whole_norms += std::holds_alternative<program::LayerNorm>(layer.function);
          continue;
        }
        CHECK(is_part == (layer.cut != Cut::kColumns));
        kept += layer.keeps_part;
        if (is_part) CHECK(own.values[layer.output] * count == whole.values[before.output]);
        if (const auto* norm = std::get_if<program::LayerNorm>(&layer.function)) {
          ++cut;
          CHECK(norm->rows * count == std::get<program::LayerNorm>(before.function).rows);
          CHECK(layer.side_results[0].elements == norm->rows);
          for (const ParameterId id : layer.parameters) CHECK(own.parameters[id].by_tokens);
        } else if (const auto* dropout = std::get_if<program::Dropout>(&layer.function)) {
          CHECK(dropout->elements == own.values[layer.output]);
          CHECK(dropout->ranks == count);
        }
      }
      CHECK(cut > 5);
      CHECK(kept == 1);
      CHECK_FALSE(own.is_part(own.logits));
      CHECK(whole_norms == (model == kBert ? 1 : 0));  // behind its head's first layer
      CHECK(own.parameter_count() == whole.parameter_count());
    }
}

TEST_CASE("a pair gathers before and scatters behind, and backward the other way round") {
  struct Case {
    Settings model;
    int pairs;
    int norms;  // that work on a part
  };
  for (const Case& one : {Case{kGpt, 6, 7}, {kGpt2, 72, 73}, {kOpt, 48, 49}, {kBert, 48, 49}}) {
    INFO(one.model[0]);
    const std::string sums = times(2 * one.norms, "r");  // of weights and biases
    CHECK(kinds_of_step(program_of(one.model, in_parts(4))) ==
          times(one.pairs, "gs") + "g" + times(one.pairs, "gs") + "g" + sums);
  }
}

TEST_CASE("between the pairs as much is sent as without sequence parallelism") {
  for (const Settings& model : {kGpt, kGpt2})
    for (const char* precision : {"precision=fp32", "precision=bf16"}) {
      INFO(model[0] << ", " << precision);
      const program::Program plain = program_of(with(model, ranks(4)), {precision});
      const program::Program parts = program_of(with(model, in_parts(4)), {precision});
      CHECK(sent_between_pairs(parts) == sent_in_step(plain));
      CHECK(sent_in_step(parts) < (model == kGpt ? 1.2 : 1.03) * sent_in_step(plain));
    }
  // Three projections share what is gathered, and what is scattered of their gradients.
  for (const Settings& model : {kOpt, kBert})
    CHECK(sent_between_pairs(program_of(model, in_parts(2))) * 6 ==
          Approx(sent_in_step(program_of(model, ranks(2))) * 4));
}

TEST_CASE("what is gathered and scattered has memory, and kernels wait for it") {
  for (const Settings& model : kModels)
    for (const Settings& how : {Settings{}, Settings{"checkpoint.enabled=true"},
                                Settings{"autocast.dtype=bf16"}, Settings{"model.dtype=bf16"},
                                Settings{"accumulate_steps=2"}, Settings{"model.dropout=0.1"},
                                Settings{"batch_size=1"}, Settings{"optimizer.impl=foreach"}}) {
      INFO(model[0] << (how.empty() ? "" : ", " + how[0]));
      const program::Program program = program_of(with(model, in_parts(4)), how);
      program::validate(program);
      std::set<Index> alive;
      bool waits = false;
      in_order(program, 0, [&](const program::Command& command) {
        const program::Action& action = command.action;
        if (const auto* one = std::get_if<program::Alloc>(&action))
          REQUIRE(alive.insert(one->buffer).second);
        if (const auto* one = std::get_if<program::Free>(&action)) {
          REQUIRE_FALSE(waits);
          REQUIRE(alive.erase(one->buffer) == 1);
        }
        if (const auto* one = std::get_if<program::Collective>(&action)) {
          const auto bytes_of = [&](Index payload) {
            const Index buffer = program.payloads[payload].front();
            REQUIRE(program.payloads[payload].size() == 1);
            REQUIRE(alive.contains(buffer));
            return program.buffers[buffer].bytes;
          };
          const std::int64_t given = bytes_of(one->send), got = bytes_of(one->receive);
          CHECK(one->bytes == std::max(given, got));
          CHECK(given * (one->kind == CollectiveKind::kAllGather ? 4 : 1) ==
                got * (one->kind == CollectiveKind::kReduceScatter ? 4 : 1));
          waits = true;
        }
        if (std::holds_alternative<program::StreamWait>(action)) waits = false;
        const auto* launch = std::get_if<program::Launch>(&action);
        if (!launch) return;
        CHECK_FALSE(waits);
        const program::Operation& operation = program.operations[launch->operation];
        for (const auto* list : {&operation.reads, &operation.writes})
          for (const Index buffer : *list) {
            const program::Role role = program.buffers[buffer].role;
            INFO(operation.kernel << ", " << program.buffers[buffer].name);
            if (role == program::Role::kActivation || role == program::Role::kGradient)
              REQUIRE(alive.contains(buffer));
          }
      });
    }
}

TEST_CASE("kernels between the pairs do and move their part alone") {
  const Settings more{"model.dropout=0.1"};
  const program::Program plain = program_of(with(kGpt2, ranks(4)), more);
  const program::Program parts = program_of(with(kGpt2, in_parts(4)), more);
  for (const char* kernel : {"layer_norm", "layer_norm_backward", "dropout", "dropout_backward",
                             "layer_norm_backward of the weights"}) {
    INFO(kernel);
    const program::Operation &all = launched(plain, kernel), &one = launched(parts, kernel);
    CHECK(one.flops * 4 == Approx(all.flops));
    CHECK(one.bytes * 4 == Approx(all.bytes).epsilon(0.1));  // weights are whole
    CHECK(parts.buffers[one.reads[0]].bytes * 4 == plain.buffers[all.reads[0]].bytes);
  }
}

TEST_CASE("a block that is computed again gathers and scatters again, but for its last sum") {
  const auto count = [](const Settings& more) {
    return collectives_of(program_of(with(kGpt, in_parts(2)), more)).size();
  };
  CHECK(count({"checkpoint.enabled=true"}) == count({}) + std::size_t{3 * 3 * 3});
}

TEST_CASE("where every rank is built, each copies and draws its own part") {
  const program::Program one = program_of(with(kGpt, in_parts(4)), {"model.dropout=0.1"});
  const program::Program all = with_every_rank(one);
  const std::size_t each = one.operations.size();
  REQUIRE(all.operations.size() == 4 * each);
  int copies = 0, dropouts = 0;
  for (std::size_t i = 0; i < all.operations.size(); ++i) {
    const auto rank = static_cast<std::int64_t>(i / each);
    const auto* runs = std::get_if<program::CopyRuns>(&all.operations[i].function);
    if (runs && runs->rank_step > 0) {
      ++copies;
      CHECK(runs->first == rank);
    }
    const auto* dropout = std::get_if<program::Dropout>(&all.operations[i].function);
    if (!dropout) continue;
    ++dropouts;
    CHECK(dropout->ranks == 4);
    CHECK(dropout->rank == rank);
  }
  CHECK(copies >= 4 * 2);  // the embeddings' part, and that of the head's gradient
  CHECK(dropouts >= 4 * 7);
  const program::Program third = only_rank(one, 2);
  CHECK(std::ranges::any_of(third.operations, [](const program::Operation& operation) {
    const auto* runs = std::get_if<program::CopyRuns>(&operation.function);
    return runs && runs->first == 2;
  }));
}

TEST_CASE("the listing says where the sequence is cut, and where it is whole") {
  const auto lines = [](const Settings& model, const Settings& more = {}) {
    return test::listing_of(program_of(with(model, in_parts(4)), more));
  };
  CHECK_THAT(lines(kGpt),
             Contains("\"norm_1\": SequenceParallel(),\n"
                      "    \"qkv\": ColwiseParallel(input_layouts=Shard(1)),\n"
                      "    \"projection\": RowwiseParallel(output_layouts=Shard(1)),") &&
                 Contains("\"position\": PrepareModuleOutput(\n"
                          "        output_layouts=Replicate(), desired_output_layouts=Shard(1)),\n"
                          "    \"last_norm\": SequenceParallel(),\n"
                          "    \"head\": PrepareModuleInput(\n") &&
                 !Contains("each nn.Dropout"));
  CHECK_THAT(lines(kGpt, {"model.dropout=0.1"}), Contains("# and each nn.Dropout"));
  CHECK_THAT(lines(kGpt2), Contains("\"transformer.ln_f\": SequenceParallel()") &&
                               Contains("\"lm_head\": PrepareModuleInput("));
  CHECK_THAT(lines(kOpt), Contains("\"self_attn\": PrepareModuleInput(input_kwarg_layouts={") &&
                              Contains("\"self_attn.k_proj\": ColwiseParallel(),") &&
                              Contains("\"final_layer_norm\": SequenceParallel(sequence_dim=0),\n"
                                       "    \"fc1\": ColwiseParallel(input_layouts=Shard(0)),\n"
                                       "    \"fc2\": RowwiseParallel(output_layouts=Shard(0)),}"));
  // They count what their embedding gives, which is a part of the sequence.
  const char* whole = "model.register_forward_pre_hook(lambda module, args, kwargs: (args, {";
  for (const Settings& model : {kGpt2, kOpt}) CHECK_THAT(lines(model), Contains(whole));
  for (const Settings& model : {kGpt, kBert}) CHECK_THAT(lines(model), !Contains(whole));
  CHECK_THAT(
      lines(kBert),
      Contains("\"attention.self\": PrepareModuleInput(") &&
          Contains("\"bert.embeddings.LayerNorm\": SequenceParallel(use_local_output=True),") &&
          Contains("\"cls.predictions.transform.dense\": PrepareModuleInput("));
}

TEST_CASE("what has no sequence, or cannot share it out, is refused in a sentence") {
  const auto fails = [](const Settings& settings, const Settings& more, const char* words) {
    INFO(words);
    CHECK_THROWS_WITH(program_of(settings, more), Contains(words));
  };
  for (const char* model : {"model.name=mlp", "model.name=cnn"})
    fails({model}, in_parts(2), "shares out the tokens of a text, and model.name = ");
  fails(kGpt, with(in_parts(4), {"model.seq_len=18"}),
        "cannot share out model.seq_len = 18 tokens to parallel.world_size = 4 ranks");
  fails(kGpt, with(in_parts(2), {"clip_grad_norm=1"}), "is not built for parallel.strategy");
}
