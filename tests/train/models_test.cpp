// The published models, against what is published of them and what PyTorch says of the same modules
// (tests/golden/models.py).

#include "train/model/models.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/files.h"
#include "support/config.h"
#include "train/autograd/tape.h"
#include "train/build.h"

using namespace trainscope;
using Catch::Matchers::Contains;
using nlohmann::json;
using program::Program;
using test::config_of;

namespace {

const json& golden() {
  static const json all = json::parse(
      read_file(TRAINSCOPE_SOURCE_DIR "/tests/golden/models.json", std::size_t{1} << 20));
  return all.at("models");
}

program::Config model_config(const std::string& model, const std::vector<std::string>& more = {}) {
  program::Config config = config_of(more);
  config.set_text(std::string("model.name=").append(model));
  return config;
}

train::Graph graph_of(const program::Config& config, std::int64_t batch) {
  return train::build_model(config, train::training_data(config), batch);
}

// A model's training step over a batch, without a loop around it.
struct Step {
  Program program;
  train::Graph graph;
  train::Plan plan;
};

Step step_of(const program::Config& config, std::int64_t batch, const train::Precision& precision,
             bool fused = false) {
  using program::ElementType;
  Step step;
  step.graph = graph_of(config, batch);
  const auto add_input = [&](const char* name, std::int64_t elements, ElementType type) {
    program::Buffer buffer;
    buffer.name = name;
    buffer.bytes = elements * program::size_of(type);
    buffer.type = type;
    step.program.buffers.push_back(buffer);
    return static_cast<program::Index>(step.program.buffers.size() - 1);
  };
  const ElementType type = step.graph.reads_tokens ? ElementType::kInt64 : ElementType::kFp32;
  train::BatchBuffers inputs;
  inputs.x = add_input("x", step.graph.values[0], type);
  inputs.y = add_input("y", step.graph.rows, ElementType::kInt64);
  const train::ModelBuffers model = train::add_model_buffers(
      step.program, step.graph, program::ElementType::kFp32, program::MemoryKind::kDevice);
  train::PlanBuffers buffers(program::MemoryKind::kDevice);
  train::TapeOptions options;
  options.precision = precision;
  options.compile.fuse = fused;
  if (fused) options.pieces.resize(step.graph.layers.size());
  step.plan = train::plan_training(step.program, step.graph, model, buffers, inputs, options);
  return step;
}

// Bytes that forward and loss allocate, that are there when backward begins, and that it reads.
std::int64_t kept_bytes(const Step& step) {
  std::set<program::Index> there, read;
  for (const auto* list : {&step.plan.forward, &step.plan.loss, &step.plan.scale})
    for (const train::PlannedLaunch& launch : *list) {
      there.insert(launch.allocated.begin(), launch.allocated.end());
      for (const program::Index buffer : launch.freed) there.erase(buffer);
    }
  for (const train::PlannedLaunch& launch : step.plan.backward)
    for (const program::Index buffer : step.program.operations[launch.operation].reads)
      if (there.contains(buffer)) read.insert(buffer);
  std::int64_t bytes = 0;
  for (const program::Index buffer : read) bytes += step.program.buffers[buffer].bytes;
  return bytes;
}

std::vector<std::string> settings_of(const std::string& how) {
  if (how == "flash") return {"attention.kernel=flash"};
  if (how == "written") return {"attention.kernel=flash", "model.rms_norm=written_out"};
  if (how == "dropout") return {"attention.kernel=flash", "model.dropout=0.1"};
  return {};
}

template <typename Function>
std::int64_t layers_of(const train::Graph& graph) {
  return std::count_if(graph.layers.begin(), graph.layers.end(), [](const train::Layer& layer) {
    return std::holds_alternative<Function>(layer.function);
  });
}

// Multiplications, each with an addition, of the matrix products and convolutions of a forward.
double forward_multiplications(const Step& step) {
  double flops = 0;
  for (const train::PlannedLaunch& launch : step.plan.forward) {
    const program::Operation& operation = step.program.operations[launch.operation];
    if (operation.kind == program::OperationKind::kGemm) flops += operation.flops;
  }
  return flops / 2;
}

struct Shape {
  std::string name;
  double layers, width, vocabulary;
};

const Shape kTransformers[] = {{"bert-large", 24, 1024, 30522}, {"gpt2", 12, 768, 50257},
                               {"gpt2-large", 36, 1280, 50257}, {"gpt2-2.9b", 24, 3072, 50257},
                               {"gpt3-xl", 24, 2048, 50257},    {"opt-1.3b", 24, 2048, 50272}};

}  // namespace

TEST_CASE("published models have the published numbers of parameters") {
  // torchvision: num_params of each model's weights. Hugging Face: the models' cards, and
  // num_parameters() of the classes that published_models.h names.
  const std::map<std::string, std::int64_t> published{
      {"resnet18", 11'689'512},       {"resnet50", 25'557'032},
      {"resnet101", 44'549'160},      {"resnext50", 25'028'904},
      {"resnext101", 88'791'336},     {"gpt2", 124'439'808},
      {"gpt2-large", 774'030'080},    {"opt-1.3b", 1'315'758'080},
      {"bert-large", 335'174'458},    {"tinyllama-1.1b", 1'100'048'384},
      {"llama-2-7b", 6'738'415'616},  {"llama-3-8b", 8'030'261'248},
      {"llama-3.2-1b", 1'235'814'400}};
  for (const auto& [name, parameters] : published) {
    INFO(name);
    CHECK(graph_of(model_config(name), 1).parameter_count() == parameters);
  }
  // BertModel has a pooler where BertForMaskedLM has its head.
  const std::int64_t head = 1024 * 1025 + 2 * 1024 + 30522, pooler = 1024 * 1025;
  CHECK(published.at("bert-large") - head + pooler == 335'141'888);
  // "1.3B" of Table 2.1 of arXiv:2005.14165.
  CHECK(static_cast<double>(graph_of(model_config("gpt3-xl"), 1).parameter_count()) ==
        Approx(1.3e9).epsilon(0.02));
  CHECK(static_cast<double>(graph_of(model_config("gpt2-2.9b"), 1).parameter_count()) ==
        Approx(2.9e9).epsilon(0.02));
}

TEST_CASE("a vocabulary of one's own changes the embedding and the head that shares it alone") {
  // MPT-1b of llm-foundry's table (scripts/train/benchmarking/README.md: NumParams) is GPT-3 XL
  // with 50368 tokens.
  const program::Config mpt = model_config("gpt3-xl", {"model.vocab_size=50368"});
  CHECK(graph_of(mpt, 1).parameter_count() == 1'315'950'592);
  const auto listing = graph_of(mpt, 1).listing.front();
  CHECK_THAT(listing, Contains("vocab_size=50368"));
  for (const Shape& shape : kTransformers) {
    INFO(shape.name);
    const auto tokens = static_cast<std::int64_t>(shape.vocabulary) + 47;
    const train::Graph own = graph_of(model_config(shape.name), 1);
    const train::Graph wider =
        graph_of(model_config(shape.name, {"model.vocab_size=" + std::to_string(tokens)}), 1);
    // BERT's head has a bias for each token.
    const double row = shape.width + (shape.name == "bert-large" ? 1 : 0);
    CHECK(static_cast<double>(wider.parameter_count() - own.parameter_count()) == 47 * row);
    CHECK_THAT(own.listing.front(), !Contains("vocab_size"));
  }
}

TEST_CASE("published models list their parameters as named_parameters() does") {
  for (const auto& [name, model] : golden().items()) {
    INFO(name);
    std::vector<std::pair<std::string, std::int64_t>> ours;
    for (const train::Parameter& parameter : graph_of(model_config(name), 1).parameters)
      if (parameter.trained) ours.emplace_back(parameter.name, parameter.elements);
    CHECK(ours == model.at("parameters").get<decltype(ours)>());
  }
}

TEST_CASE("forward keeps for backward what PyTorch keeps, byte for byte") {
  for (const auto& [name, model] : golden().items()) {
    for (const auto& [how, bytes] : model.at("kept").items()) {
      INFO(name << " " << how);
      const Step step = step_of(model_config(name, settings_of(how)), 2, {});
      // What PyTorch keeps and we do not: the sum of the classes' weights of the loss; the numbers
      // of the positions and segments that it looks up; where the products are apart, which scores
      // the causal mask hides. What we keep besides: of each dropout the 8 bytes of its random
      // state.
      constexpr std::int64_t kLength = 128, kWhole = 8;
      std::int64_t more = 4;
      const bool looks_positions_up = layers_of<program::Rotate>(step.graph) == 0;
      if (step.graph.reads_tokens && looks_positions_up) more += kLength * kWhole;
      if (name == "bert-large") more += 2 * kLength * kWhole;
      if (how == "math" && name != "bert-large")
        more += layers_of<program::Attention>(step.graph) * kLength * kLength;
      more -= layers_of<program::Dropout>(step.graph) * kWhole;
      CHECK(kept_bytes(step) + more == bytes.get<std::int64_t>());
    }
  }
}

TEST_CASE("a recurrent network runs four kernels a step, and sums what each gives its weights") {
  constexpr std::int64_t kSteps = 14;
  const Step step = step_of(model_config("rnn", {"model.seq_len=14"}), 4, {});
  CHECK(step.graph.parameters.size() == 6);
  CHECK(step.plan.forward.size() == 1 + 4 * kSteps + 1);  // zeros, the steps, the head
  std::map<std::string, std::int64_t> backward;
  for (const train::PlannedLaunch& launch : step.plan.backward)
    ++backward[step.program.operations[launch.operation].framework];
  CHECK(backward["TanhBackward0"] == kSteps);
  // Of each product the weight's gradient, and of all but the first the state's; the head's two.
  CHECK(backward["AddmmBackward0"] == 2 * kSteps + (kSteps - 1) + 2);
  CHECK(backward["aten::sum"] == 2 * kSteps + 1);
  CHECK(backward["aten::add"] == 4 * (kSteps - 1));  // two weights and two biases
  // A step reads its part of the batch, of which no more is moved.
  for (const train::PlannedLaunch& launch : step.plan.forward) {
    const program::Operation& one = step.program.operations[launch.operation];
    const auto* linear = std::get_if<program::Linear>(&one.function);
    if (!linear || linear->steps == 1) continue;
    CHECK(linear->row_stride() == 784);
    CHECK(one.bytes == 4.0 * (4 * 56 + 56 * 128 + 128 + 4 * 128));
  }
}

TEST_CASE("a recurrent network reads a sample in equal steps, and is told how many there can be") {
  CHECK_THROWS_WITH(graph_of(model_config("rnn", {"model.seq_len=30"}), 1),
                    Catch::Contains("model.seq_len = 30 does not divide the 784 numbers") &&
                        Catch::EndsWith("set model.seq_len = 28"));
  CHECK_NOTHROW(graph_of(model_config("rnn", {"model.seq_len=784"}), 1));
  for (const char* how : {"precision=fp16", "autocast.dtype=bf16"})
    CHECK_THROWS_WITH(
        train::build_program(model_config("rnn", {"workload=train", how}),
                             machine::load_machine("h200-1")),
        Catch::Contains("is not built for model.name = rnn; leave it out, or set model.dtype"));
  CHECK_THROWS_WITH(train::build_program(model_config("rnn", {"workload=train", "data.name=text"}),
                                         machine::load_machine("h200-1")),
                    Catch::Contains("rnn reads images, and text has none"));
}

TEST_CASE("a fused forward keeps what Inductor's partitioner keeps, but for terms that are known") {
  int compared = 0;
  for (const auto& [name, model] : golden().items()) {
    if (!model.contains("compiled")) continue;
    INFO(name);
    const json& kept = model.at("kept");
    const char* how = kept.contains("dropout")   ? "dropout"
                      : kept.contains("written") ? "written"
                                                 : "all";
    const Step step = step_of(model_config(name, settings_of(how)), 2, {}, true);
    // A max pool's places take a byte there and eight here. OPT's ReLU leaves a byte a number for
    // its gradient besides its result, which the next product reads.
    constexpr std::int64_t kPlace = 8;
    std::int64_t more = 0;
    for (const train::Layer& layer : step.graph.layers) {
      const auto* relu = std::get_if<program::Activation>(&layer.function);
      if (std::holds_alternative<program::MaxPooling>(layer.function))
        more -= (kPlace - 1) * layer.side_results[0].elements;
      else if (name == "opt-1.3b" && relu)
        more += relu->elements;
    }
    const auto published = model.at("compiled").get<double>();
    CHECK(static_cast<double>(kept_bytes(step) + more) == Approx(published).epsilon(0.012));
    ++compared;
  }
  CHECK(compared >= 5);
}

TEST_CASE("a transformer layer keeps what Korthikanti et al. count, but for terms that are known") {
  // Equations 1 and 2 of arXiv:2205.05198, in bytes: s b h (34 + 5 a s / h) in 16 bits, with
  // dropout. One layer more keeps so much more.
  const std::int64_t s = 128, b = 3, h = 512, a = 8;
  const auto kept = [&](const char* blocks) {
    const program::Config config =
        model_config("gpt-mini", {"model.width=512", "model.heads=8", "model.dropout=0.1",
                                  "data.name=text", std::string("model.blocks=") + blocks});
    return kept_bytes(step_of(config, b, {.autocast = program::ElementType::kFp16}));
  };
  const std::int64_t published = 34 * s * b * h + 5 * a * s * s * b;
  const std::int64_t attention_dropout = 3 * a * s * s * b;  // not modelled: mask and result
  const std::int64_t sums = 2 * 2 * s * b * h;               // autocast: the norms' inputs are FP32
  const std::int64_t moments = 2 * 2 * 4 * s * b;            // of the two norms
  const std::int64_t weights = 2 * 12 * h * h;               // autocast: copies in FP16
  const std::int64_t random_states = 2 * 8;
  CHECK(kept("3") - kept("2") ==
        published - attention_dropout + sums + moments + weights + random_states);
}

TEST_CASE("ResNets multiply as often as torchvision says") {
  // GFLOPS of each model's weights (docs.pytorch.org/vision, table of classification weights):
  // multiplications of an image of 224 x 224.
  const std::map<std::string, double> published{{"resnet18", 1.81e9},
                                                {"resnet50", 4.09e9},
                                                {"resnet101", 7.80e9},
                                                {"resnext50", 4.23e9},
                                                {"resnext101", 16.41e9}};
  for (const auto& [name, multiplications] : published) {
    INFO(name);
    const Step step = step_of(model_config(name), 4, {});
    CHECK(forward_multiplications(step) / 4 == Approx(multiplications).epsilon(0.01));
  }
}

TEST_CASE("transformers multiply as often as Megatron's formula says") {
  // Appendix of arXiv:2104.04473: forward takes 24 B s l h² (1 + s / 6h) + 2 B s h V operations.
  // BERT's head has one product of h x h more.
  const double b = 2, s = 128;
  for (const Shape& model : kTransformers) {
    INFO(model.name);
    const double h = model.width;
    double flops =
        24 * b * s * model.layers * h * h * (1 + s / (6 * h)) + 2 * b * s * h * model.vocabulary;
    if (model.name == "bert-large") flops += 2 * b * s * h * h;
    const Step step = step_of(model_config(model.name), 2, {});
    CHECK(2 * forward_multiplications(step) == Approx(flops).epsilon(1e-12));
  }
}

TEST_CASE("a transformer's products are two operations a token and parameter") {
  // C = 2 N + 2 l s h a token, N without embeddings (arXiv:2001.08361, section 2.1, which counts
  // one of attention's two products; here both, so twice the second term). The head, whose weight
  // is the embedding's, comes on top.
  const double b = 2, s = 128;
  for (const Shape& model : kTransformers) {
    INFO(model.name);
    const Step step = step_of(model_config(model.name), 2, {});
    double parameters = 0;
    for (const train::Parameter& parameter : step.graph.parameters)
      if (parameter.name.find("embed") == std::string::npos &&
          !parameter.name.starts_with("transformer.w"))
        parameters += static_cast<double>(parameter.elements);
    const double head = 2 * model.width * model.vocabulary;
    const double attention = 4 * model.layers * s * model.width;
    CHECK(2 * forward_multiplications(step) ==
          Approx(b * s * (2 * parameters + attention + head)).epsilon(0.01));
  }
}

TEST_CASE("published models take the data that they can read, and say what else to give") {
  CHECK_THROWS_WITH(graph_of(model_config("gpt2", {"model.seq_len=2048"}), 1),
                    Catch::Contains("set model.seq_len = 1024 or less"));
  CHECK_NOTHROW(graph_of(model_config("opt-1.3b", {"model.seq_len=2048"}), 1));
  CHECK_THROWS_WITH(graph_of(model_config("resnet50", {"data.name=tokens"}), 1),
                    Catch::Contains("set data.name = imagenet"));
  CHECK_THROWS_WITH(graph_of(model_config("bert-large", {"data.name=digits"}), 1),
                    Catch::Contains("set data.name = tokens"));
  CHECK_THROWS_WITH(graph_of(model_config("gpt-mini", {"data.name=tokens"}), 1),
                    Catch::Contains("set data.name = text"));
  const train::Graph small = graph_of(model_config("resnet18", {"data.name=cifar10"}), 1);
  CHECK(small.classes == 10);
  CHECK(small.parameter_count() == 11'689'512 - 990 * 513);
}

TEST_CASE("published models are timed, and no number of them is computed") {
  for (const auto& [name, model] : golden().items()) {
    INFO(name);
    program::Config config = model_config(name, {"steps=1", "batch_size=1"});
    const Program program = train::build_program(config, machine::load_machine("h200-1"));
    CHECK(program.timing_only);
    CHECK(program.gauges.loss == program::kNoIndex);
  }
}
