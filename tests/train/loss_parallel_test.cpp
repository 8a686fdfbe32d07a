// A vocabulary that ranks share out: what each has of embedding, head and loss, what is summed over
// them, and how it is written.
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

constexpr std::int64_t kBatch = 2, kTokens = 64, kSteps = 3;

const Settings kGpt{"model.name=gpt-mini", "data.name=text", "model.width=32",   "model.blocks=3",
                    "model.heads=4",       "batch_size=2",   "model.seq_len=64", "model.dropout=0"};
const Settings kGpt2{"model.name=gpt2-large", "model.seq_len=64", "batch_size=2"};
const Settings kBert{"model.name=bert-large", "model.seq_len=64", "batch_size=2"};
const Settings kOpt{"model.name=opt-1.3b", "model.seq_len=64", "batch_size=2"};
const std::vector<Settings> kModels{kGpt, kGpt2, kBert, kOpt};

program::Config config_of(const Settings& settings) {
  return test::config_of(with({"machine=h200-8", "steps=3", "loop.evaluate=false"}, settings));
}

Settings ranks(int count, const Settings& more = {}) {
  return with({"parallel.strategy=tensor", "parallel.world_size=" + std::to_string(count)}, more);
}

const Settings kShared{"tensor.loss_parallel=true"};
const Settings kInParts{"tensor.loss_parallel=true", "tensor.sequence_parallel=true"};

program::Program program_of(const Settings& settings, const Settings& more = {}) {
  const program::Config config = config_of(with(settings, more));
  return train::build_program(config, train::machine_of(config));
}

Graph graph_of(const Settings& settings) {
  const program::Config config = config_of(settings);
  return build_model(config, training_data(config), config.whole("batch_size"));
}

struct Sizes {
  std::int64_t vocabulary;
  std::int64_t width;
};
Sizes sizes_of(const Graph& whole) {
  for (const Layer& layer : whole.layers)
    if (const auto* table = std::get_if<program::Embedding>(&layer.function))
      return {table->vocabulary, table->width};
  return {};
}

// Of a step, in order.
std::vector<program::Collective> of_step(const program::Program& program) {
  std::vector<program::Collective> all = collectives_of(program);
  REQUIRE(all.size() % kSteps == 0);
  all.resize(all.size() / kSteps);
  return all;
}

std::int64_t bytes_of(const program::Program& program, program::Role role) {
  std::int64_t bytes = 0;
  for (const program::Buffer& buffer : program.buffers) {
    const bool is_on_its_way = role == program::Role::kGradient && !buffer.name.ends_with(".grad");
    if (buffer.role == role && !is_on_its_way) bytes += buffer.bytes;
  }
  return bytes;
}

// Of each operation of that kernel that the first step launches, in order.
std::vector<const program::Operation*> launched(const program::Program& program,
                                                std::string_view framework) {
  std::vector<const program::Operation*> found;
  in_order(program, 0, [&](const program::Command& command) {
    const auto* launch = std::get_if<program::Launch>(&command.action);
    if (launch && program.operations[launch->operation].framework == framework)
      found.push_back(&program.operations[launch->operation]);
  });
  REQUIRE(found.size() % kSteps == 0);
  found.resize(found.size() / kSteps);
  return found;
}

std::size_t place_of(const std::vector<std::string>& names, const std::string& name,
                     std::size_t from = 0) {
  const auto at = std::find(names.begin() + static_cast<std::ptrdiff_t>(from), names.end(), name);
  INFO(name);
  REQUIRE(at != names.end());
  return static_cast<std::size_t>(at - names.begin());
}

}  // namespace

TEST_CASE("each rank has as many rows of embedding and head as torch.chunk gives the first") {
  for (const Settings& model : kModels)
    for (const int count : {1, 2, 4}) {
      INFO(model[0] << ", " << count << " ranks");
      const Graph whole = graph_of(model), own = cut_layers(whole, count, true);
      const auto [vocabulary, width] = sizes_of(whole);
      const std::int64_t rows = (vocabulary + count - 1) / count;
      CHECK(own.own_classes == rows);
      CHECK(own.classes == whole.classes);
      CHECK(own.parameter_count() == whole.parameter_count());
      CHECK(own.values[own.logits] == kBatch * kTokens * rows);
      std::set<ParameterId> tables;
      for (std::size_t i = 0; i < own.layers.size(); ++i) {
        const Layer& layer = own.layers[i];
        if (const auto* table = std::get_if<program::Embedding>(&layer.function)) {
          CHECK(table->vocabulary == rows);
          CHECK(table->ranks == count);
          CHECK(layer.cut == Cut::kVocabulary);
          tables.insert(layer.parameters[0]);
        }
        if (layer.output != own.logits) continue;
        CHECK(std::get<program::Linear>(layer.function).outputs == rows);
        CHECK(layer.cut == Cut::kColumns);
        tables.insert(layer.parameters[0]);
        if (layer.parameters.size() > 1)
          CHECK(own.parameters[layer.parameters[1]].elements == rows);
      }
      CHECK(tables.size() == (model == kGpt ? 2 : 1));  // the others have one matrix for both
      for (const ParameterId id : tables) CHECK(own.parameters[id].elements == rows * width);
    }
}

TEST_CASE("a step sums as many bytes more as the closed formula says") {
  for (const Settings& model : {kGpt, kGpt2, kOpt}) {
    INFO(model[0]);
    const auto width = sizes_of(graph_of(model)).width;
    const std::int64_t tokens = kBatch * kTokens;
    const auto plain = of_step(program_of(model, ranks(4)));
    const auto shared = of_step(program_of(model, ranks(4, kShared)));
    // The embedding's vectors, the gradient of what the head reads, three numbers a token.
    REQUIRE(shared.size() == plain.size() + 5);
    const auto sum = [](const std::vector<program::Collective>& all) {
      std::int64_t bytes = 0;
      for (const program::Collective& one : all) bytes += one.bytes;
      return bytes;
    };
    CHECK(sum(shared) - sum(plain) == 4 * (2 * tokens * width + 3 * tokens));
    CHECK(shared.front().bytes == 4 * tokens * width);
    CHECK(std::ranges::count_if(shared, &program::Collective::maximum) == 1);
    const auto largest = std::ranges::find_if(shared, &program::Collective::maximum);
    for (const auto one : {largest, largest + 1, largest + 2}) {
      CHECK(one->kind == CollectiveKind::kAllReduce);
      CHECK(one->bytes == 4 * tokens);
    }
    CHECK((largest + 3)->bytes == 4 * tokens * width);  // backward begins with the head
  }
}

TEST_CASE("with parts of the sequence the embedding is scattered, and the head's gradient") {
  for (const Settings& model : kModels) {
    INFO(model[0]);
    const auto width = sizes_of(graph_of(model)).width;
    const std::int64_t bytes = 4 * kBatch * kTokens * width;
    const auto plain = of_step(program_of(model, ranks(4, {"tensor.sequence_parallel=true"})));
    const auto shared = of_step(program_of(model, ranks(4, kInParts)));
    const auto count = [](const std::vector<program::Collective>& all, CollectiveKind kind) {
      return std::ranges::count(all, kind, &program::Collective::kind);
    };
    CHECK(shared.front().kind == CollectiveKind::kReduceScatter);
    CHECK(shared.front().bytes == bytes);
    // BERT's head has a layer before it which every rank has whole: that gathers as ever.
    const bool is_bert = model == kBert;
    CHECK(count(shared, CollectiveKind::kReduceScatter) ==
          count(plain, CollectiveKind::kReduceScatter) + (is_bert ? 1 : 2));
    CHECK(count(shared, CollectiveKind::kAllReduce) ==
          count(plain, CollectiveKind::kAllReduce) + (is_bert ? 4 : 3));
    // Of the first gather in backward a scatter has become; tables of positions gather for
    // themselves.
    CHECK(count(shared, CollectiveKind::kAllGather) ==
          count(plain, CollectiveKind::kAllGather) + (is_bert ? 2 : 1));
  }
}

TEST_CASE("the loss is loss_parallel's kernels and collectives, in its order") {
  const program::Program program = program_of(kGpt2, ranks(4, kShared));
  std::vector<std::string> names;
  in_order(program, 0, [&](const program::Command& command) {
    if (const auto* launch = std::get_if<program::Launch>(&command.action))
      names.push_back(program.operations[launch->operation].framework);
    if (const auto* one = std::get_if<program::Collective>(&command.action))
      names.emplace_back(one->maximum ? "largest" : "sum");
  });
  std::size_t at = 0;
  for (const char* name :
       {"aten::amax", "largest", "aten::sub", "aten::exp", "aten::sum", "sum", "aten::log",
        "aten::sub", "aten::gather", "sum", "aten::sum", "aten::zeros_like", "aten::index_put_",
        "aten::exp", "aten::add", "aten::mul"})
    at = place_of(names, name, at) + 1;
  CHECK(std::ranges::count(names, "aten::log_softmax") == 0);
  CHECK(std::ranges::count(names, "aten::nll_loss") == 0);
  // What reads all of a rank's logits does so in FP32, by their part.
  const std::int64_t logits = 4 * kBatch * kTokens * ((50257 + 3) / 4);
  for (const char* name : {"aten::amax", "aten::exp"})
    for (const program::Operation* one : launched(program, name)) {
      INFO(name);
      CHECK(program.buffers[one->reads[0]].bytes == logits);
    }
}

TEST_CASE(
    "backward of the loss holds five tensors as large as a rank's logits, by loss.py's names") {
  const program::Program program = program_of(kGpt2, ranks(4, kShared));
  const std::int64_t logits = 4 * kBatch * kTokens * ((50257 + 3) / 4);
  std::set<Index> alive;
  std::ptrdiff_t at_sum = 0, at_product = 0, at_exponential = 0;
  in_order(program, 0, [&](const program::Command& command) {
    if (const auto* one = std::get_if<program::Alloc>(&command.action)) alive.insert(one->buffer);
    if (const auto* one = std::get_if<program::Free>(&command.action)) alive.erase(one->buffer);
    const auto* launch = std::get_if<program::Launch>(&command.action);
    if (!launch) return;
    const program::Operation& one = program.operations[launch->operation];
    if (program.buffers[one.reads.empty() ? 0 : one.reads[0]].bytes != logits) return;
    const auto count = std::ranges::count_if(
        alive, [&](Index buffer) { return program.buffers[buffer].bytes == logits; });
    if (one.framework == "aten::exp") at_exponential = std::max(at_exponential, count);
    if (one.framework == "aten::add") at_sum = count;
    if (one.framework == "aten::mul") at_product = count;
  });
  CHECK(at_exponential == 4);  // of the log-probabilities; in forward there are three
  CHECK(at_sum == 5);
  CHECK(at_product == 5);
}

TEST_CASE("the gradient of an embedding is computed of all rows, and each rank takes its own") {
  const program::Program program = program_of(kGpt2, ranks(4, kShared));
  const auto gradients = launched(program, "EmbeddingBackward0");
  REQUIRE(gradients.size() == 1);
  const program::Buffer& whole = program.buffers[gradients[0]->writes[0]];
  CHECK(whole.elements() == 4 * ((50257 + 3) / 4) * 1280);
  bool is_taken = false;
  for (const program::Operation& one : program.operations) {
    const auto* runs = std::get_if<program::CopyRuns>(&one.function);
    if (!runs || one.reads[0] != gradients[0]->writes[0]) continue;
    is_taken = true;
    CHECK(runs->rank_step == 1);
    CHECK(program.buffers[one.writes[0]].elements() * 4 == whole.elements());
  }
  CHECK(is_taken);
}

TEST_CASE("parameters, gradients and the optimizer's state are less by what others have") {
  for (const Settings& model : {kGpt2, kOpt}) {
    INFO(model[0]);
    const auto [vocabulary, width] = sizes_of(graph_of(model));
    const std::int64_t rows = (vocabulary + 3) / 4;
    const Settings adam{"optimizer.name=adamw", "optimizer.impl=fused"};
    const program::Program plain = program_of(model, ranks(4, adam));
    const program::Program shared = program_of(model, with(ranks(4, adam), kShared));
    const std::int64_t less = 4 * (vocabulary - rows) * width;
    for (const program::Role role : {program::Role::kParameter, program::Role::kGradient})
      CHECK(bytes_of(plain, role) - bytes_of(shared, role) == less);
    CHECK(bytes_of(plain, program::Role::kOptimizerState) -
              bytes_of(shared, program::Role::kOptimizerState) ==
          2 * less);
    CHECK(shared.parameters == plain.parameters);
  }
}

TEST_CASE("the head's products are shared out, and all of their arithmetic is counted") {
  const double alone = program_of(kGpt2).step_flops;
  const double plain = program_of(kGpt2, ranks(4)).step_flops;
  const double shared = program_of(kGpt2, ranks(4, kShared)).step_flops;
  const auto [vocabulary, width] = sizes_of(graph_of(kGpt2));
  const double head =
      3 * 2.0 * static_cast<double>(kBatch * kTokens) * static_cast<double>(vocabulary * width);
  CHECK(shared < plain - 2.9 * head);
  CHECK(shared > alone);
  CHECK(shared < alone + 0.5 * head);
  CHECK(program_of(kGpt2, ranks(4, kShared)).model_flops ==
        program_of(kGpt2, ranks(4)).model_flops);
}

TEST_CASE("what is shared out has memory where it is read, and kernels wait for sums") {
  for (const Settings& model : kModels)
    for (const Settings& sharing : {kShared, kInParts})
      for (const Settings& how :
           {Settings{}, Settings{"checkpoint.enabled=true"}, Settings{"autocast.dtype=bf16"},
            Settings{"model.dtype=bf16"}, Settings{"accumulate_steps=2"}, Settings{"batch_size=1"},
            Settings{"optimizer.impl=foreach"}}) {
        INFO(model[0] << ", " << sharing.back() << (how.empty() ? "" : ", " + how[0]));
        const program::Program program = program_of(with(model, ranks(4, sharing)), how);
        program::validate(program);
        std::set<Index> alive;
        bool waits = false;
        int sums = 0, reads = 0;
        in_order(program, 0, [&](const program::Command& command) {
          const program::Action& action = command.action;
          if (const auto* one = std::get_if<program::Alloc>(&action))
            REQUIRE(alive.insert(one->buffer).second);
          if (const auto* one = std::get_if<program::Free>(&action))
            REQUIRE(alive.erase(one->buffer) == 1);
          if (const auto* one = std::get_if<program::Collective>(&action)) {
            for (const Index payload : {one->send, one->receive})
              REQUIRE(alive.contains(program.payloads[payload].front()));
            waits = true;
            ++sums;
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
              if (role != program::Role::kActivation && role != program::Role::kGradient) continue;
              REQUIRE(alive.contains(buffer));
              ++reads;
            }
        });
        CHECK(sums > 0);
        CHECK(reads > 0);
      }
}

TEST_CASE("where every rank is built, each has its own rows, places and classes") {
  const program::Program one = program_of(kGpt, ranks(4, kInParts));
  const program::Program all = with_every_rank(one);
  const std::size_t each = one.operations.size();
  REQUIRE(all.operations.size() == 4 * each);
  int found = 0;
  const auto check = [&](const auto* function, std::int64_t rank) {
    if (!function || function->ranks == 1) return;
    ++found;
    CHECK(function->ranks == 4);
    CHECK(function->rank == rank);
  };
  for (std::size_t i = 0; i < all.operations.size(); ++i) {
    const auto rank = static_cast<std::int64_t>(i / each);
    check(std::get_if<program::Embedding>(&all.operations[i].function), rank);
    check(std::get_if<program::AddPositions>(&all.operations[i].function), rank);
    check(std::get_if<program::SharedLoss>(&all.operations[i].function), rank);
  }
  CHECK(found >= 4 * (1 + 1 + 8));
}

TEST_CASE("the listing says what one writes in PyTorch") {
  const auto lines = [](const Settings& model, const Settings& sharing) {
    return test::listing_of(program_of(with(model, ranks(4, sharing))));
  };
  CHECK_THAT(lines(kGpt, kShared),
             Contains("parallelize_module(model, mesh, {\n"
                      "    \"token\": RowwiseParallel(input_layouts=Replicate()),\n"
                      "    \"head\": ColwiseParallel(output_layouts=Shard(-1), "
                      "use_local_output=False),})") &&
                 Contains("    with loss_parallel():\n"
                          "        with sdpa_kernel(SDPBackend.MATH):\n"
                          "            out = model(x)\n"
                          "            loss = F.cross_entropy(out.flatten(0, 1), y.flatten())\n") &&
                 Contains("        loss.backward()\n") && !Contains("model.head.weight ="));
  CHECK_THAT(lines(kGpt2, kShared),
             Contains("\"transformer.wte\": RowwiseParallel(input_layouts=Replicate()),") &&
                 Contains("model.lm_head.weight = model.transformer.wte.weight"));
  CHECK_THAT(lines(kOpt, kInParts),
             Contains("\"model.decoder.embed_tokens\": RowwiseParallel(input_layouts=Replicate(), "
                      "output_layouts=Shard(1)),") &&
                 Contains("\"model.decoder.embed_positions\": PrepareModuleOutput(\n") &&
                 Contains("\"lm_head\": ColwiseParallel(input_layouts=Shard(1), "
                          "output_layouts=Shard(-1), use_local_output=False),})"));
  CHECK_THAT(lines(kBert, kShared),
             Contains("\"cls.predictions.decoder\": ColwiseParallel(output_layouts=Shard(-1),") &&
                 Contains("model.cls.predictions.bias = model.cls.predictions.decoder.bias"));
  CHECK_THAT(lines(kGpt, {}), !Contains("loss_parallel") && !Contains("\"token\""));
  // DistributedDataParallel between groups takes a matrix of two modules once.
  const Settings groups = with(kShared, {"tensor.degree=2"});
  CHECK_THAT(lines(kOpt, groups),
             Contains("table, head = model.model.decoder.embed_tokens, model.lm_head") &&
                 Contains("\ndel head.weight") &&
                 Contains("head.register_forward_pre_hook(lambda head, args: setattr(head, "
                          "\"weight\", table.weight))\nmodel = DistributedDataParallel(model") &&
                 !Contains("model.lm_head.weight ="));
  CHECK_THAT(lines(kBert, groups), Contains("model.cls.predictions.bias = None"));
  const auto sharded = [&](const Settings& model) {
    return test::listing_of(
        program_of(model, with(groups, {"parallel.strategy=fsdp", "parallel.world_size=4"})));
  };
  CHECK_THAT(sharded(kBert),
             Contains("model.cls.predictions.decoder.weight = model.bert.embeddings.") &&
                 Contains("\nmodel.apply(model._init_weights)") &&
                 !Contains("\nmodel.init_weights()"));
  CHECK_THAT(sharded(kGpt), Contains("\nmodel.init_weights()"));
}

TEST_CASE("what has no vocabulary, or cannot share it out, is refused in a sentence") {
  const auto fails = [](const Settings& settings, const Settings& more, const char* words) {
    INFO(words);
    CHECK_THROWS_WITH(program_of(settings, more), Contains(words));
  };
  for (const char* model : {"model.name=mlp", "model.name=cnn"})
    fails({model}, ranks(2, kShared), "shares out the vocabulary of a text, and model.name = ");
  fails(with(kGpt, {"model.heads=8"}), ranks(8, kShared),
        "cannot share out a vocabulary of 49 to 8 ranks: the last of them would have nothing; set "
        "parallel.world_size or tensor.degree to 7 or less");
  fails(kGpt, ranks(2, with(kShared, {"clip_grad_norm=1"})), "is not built for parallel.strategy");
}
