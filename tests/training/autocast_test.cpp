// The type of every operation as PyTorch's autocast for CUDA has it (docs/source/amp.rst), and
// where TF32 is used (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32).
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "support/config.h"
#include "train/autograd/tape.h"
#include "train/build.h"
#include "train/model/models.h"
#include "training/training_run.h"

using namespace trainscope;
using program::ElementType;
using program::Index;
using program::Operation;
using program::Part;
using program::Program;
using test::config_of;

namespace {

Program build(const std::vector<std::string>& settings) {
  const program::Config config = config_of(settings);
  return train::build_program(config, train::machine_of(config));
}

const std::vector<std::string> kMlp{"model.name=mlp", "data.name=digits", "loop.evaluate=false"};
const std::vector<std::string> kCnn{"model.name=cnn", "data.name=digits", "loop.evaluate=false"};
const std::vector<std::string> kGpt{"model.name=gpt-mini", "data.name=text", "model.seq_len=32",
                                    "model.dropout=0.1"};

// The type of an operand: of what an operation reads or writes.
ElementType type_of(const Program& program, Index buffer) {
  return program.buffers[buffer].type;
}

// Calls `check` for each operation that computes this part of this function; there must be one.
template <typename Function>
void each(const Program& program, Part part, const std::function<void(const Operation&)>& check) {
  int found = 0;
  for (const Operation& operation : program.operations) {
    const auto* function = std::get_if<Function>(&operation.function);
    if (!function || function->part != part) continue;
    ++found;
    INFO(operation.kernel << " (" << operation.framework << ")");
    check(operation);
  }
  CHECK(found > 0);
}

template <typename Function>
void all_in(const Program& program, Part part, ElementType type) {
  each<Function>(program, part, [&](const Operation& operation) {
    CHECK(operation.type == type);
    for (const auto* list : {&operation.reads, &operation.writes})
      for (const Index operand : *list)
        if (type_of(program, operand) != ElementType::kInt64)
          CHECK(type_of(program, operand) == type);
  });
}

std::vector<Index> weights(const Program& program) {
  std::vector<Index> found;
  for (Index i = 0; i < program.buffers.size(); ++i)
    if (program.buffers[i].role == program::Role::kParameter) found.push_back(i);
  return found;
}

// How often a step of the main thread launches a cast of this buffer.
int casts_of(const Program& program, Index buffer) {
  int count = 0;
  for (const program::Command& command : program.threads[0].commands) {
    const auto* launch = std::get_if<program::Launch>(&command.action);
    if (!launch) continue;
    const Operation& operation = program.operations[launch->operation];
    count +=
        std::holds_alternative<program::Cast>(operation.function) && operation.reads[0] == buffer
            ? 1
            : 0;
  }
  return count;
}

}  // namespace

TEST_CASE(
    "under autocast matrix products, convolutions and attention are narrow, forward and back") {
  for (const auto& [word, type] : {std::pair{"precision=fp16", ElementType::kFp16},
                                   std::pair{"precision=bf16", ElementType::kBf16}}) {
    const Program mlp = build(test::with(kMlp, {word}));
    const Program cnn = build(test::with(kCnn, {word}));
    const Program gpt = build(test::with(kGpt, {word}));
    for (const Part part : {Part::kForward, Part::kInputGradient, Part::kWeightGradient}) {
      if (part != Part::kInputGradient) all_in<program::Linear>(mlp, part, type);
      all_in<program::Convolution>(cnn, part, type);
      all_in<program::Linear>(gpt, part, type);
    }
    all_in<program::Linear>(mlp, Part::kBiasGradient, type);
    all_in<program::Attention>(gpt, Part::kForward, type);
    all_in<program::Attention>(gpt, Part::kInputGradient, type);
  }
}

TEST_CASE("under autocast layer norm, softmax and loss are FP32") {
  const Program mlp = build(test::with(kMlp, {"precision=fp16"}));
  const Program gpt = build(test::with(kGpt, {"precision=fp16"}));
  for (const Part part : {Part::kForward, Part::kInputGradient}) {
    for (const Program* program : {&mlp, &gpt}) {
      all_in<program::LogSoftmax>(*program, part, ElementType::kFp32);
      all_in<program::NllLoss>(*program, part, ElementType::kFp32);
    }
    all_in<program::LayerNorm>(gpt, part, ElementType::kFp32);
  }
  all_in<program::LayerNorm>(gpt, Part::kWeightGradient, ElementType::kFp32);
  all_in<program::Embedding>(gpt, Part::kForward, ElementType::kFp32);
  all_in<program::Embedding>(gpt, Part::kWeightGradient, ElementType::kFp32);
}

TEST_CASE("under autocast what is on no list computes in the type that comes in") {
  const Program cnn = build(test::with(kCnn, {"precision=fp16"}));
  const Program gpt = build(test::with(kGpt, {"precision=fp16"}));
  for (const Part part : {Part::kForward, Part::kInputGradient}) {
    all_in<program::Activation>(cnn, part, ElementType::kFp16);  // of a batch norm's
    all_in<program::MaxPooling>(cnn, part, ElementType::kFp16);
    all_in<program::Activation>(gpt, part, ElementType::kFp16);  // of a linear layer's
    // A batch norm's image is FP16; its weights, moments and their gradients stay FP32.
    each<program::BatchNorm>(cnn, part, [&](const Operation& operation) {
      CHECK(operation.type == ElementType::kFp16);
      CHECK(type_of(cnn, operation.reads[0]) == ElementType::kFp16);
      CHECK(type_of(cnn, operation.writes[0]) == ElementType::kFp16);
      const bool forward = part == Part::kForward;
      for (std::size_t i = forward ? 1 : 2; i < operation.reads.size(); ++i)
        CHECK(type_of(cnn, operation.reads[i]) == ElementType::kFp32);
      for (std::size_t i = 1; i < operation.writes.size(); ++i)
        CHECK(type_of(cnn, operation.writes[i]) == ElementType::kFp32);
    });
  }
}

// The residual stream of gpt-mini is FP32, and what a linear layer or a dropout adds to it narrow:
// one kernel reads both types. Backward hands the sum's gradient on in each type.
TEST_CASE("under autocast a sum of two types is wide, without a copy of the narrow one") {
  const Program gpt = build(test::with(kGpt, {"precision=fp16"}));
  int mixed = 0;
  for (const Operation& operation : gpt.operations) {
    if (!std::holds_alternative<program::Add>(operation.function) || operation.is_gradient)
      continue;
    CHECK(type_of(gpt, operation.writes[0]) == ElementType::kFp32);
    CHECK(type_of(gpt, operation.reads[0]) == ElementType::kFp32);
    mixed += type_of(gpt, operation.reads[1]) == ElementType::kFp16 ? 1 : 0;
  }
  CHECK(mixed == 4);
  each<program::Dropout>(gpt, Part::kInputGradient, [&](const Operation& operation) {
    CHECK(type_of(gpt, operation.reads[0]) == type_of(gpt, operation.writes[0]));
  });
}

TEST_CASE("under autocast each weight is cast once a forward, and its gradient back") {
  for (const auto& model : {kMlp, kCnn, kGpt}) {
    INFO(model[0]);
    for (const int batches : {1, 3}) {
      const Program program = build(test::with(
          model, {"precision=fp16", "steps=2", "accumulate_steps=" + std::to_string(batches)}));
      int cast = 0;
      for (const Index weight : weights(program)) {
        INFO(program.buffers[weight].name);
        const int count = casts_of(program, weight);
        CHECK((count == 0 || count == 2 * batches));
        cast += count > 0 ? 1 : 0;
        CHECK(program.buffers[weight].type == ElementType::kFp32);
      }
      CHECK(cast > 0);
    }
    // A gradient ends in FP32, beside its parameter.
    const Program program = build(test::with(model, {"precision=fp16"}));
    for (const Index gradient : program.gauges.gradients)
      CHECK(type_of(program, gradient) == ElementType::kFp32);
  }
  const Program wide = build(kGpt);
  REQUIRE(!wide.operations.empty());
  for (const Operation& operation : wide.operations)
    CHECK_FALSE(std::holds_alternative<program::Cast>(operation.function));
}

TEST_CASE("optimizer, clipping and scaler stay FP32") {
  const Program program =
      build(test::with(kMlp, {"precision=fp16", "scaler.enabled=true", "clip_grad_norm=1"}));
  int found = 0;
  for (const Operation& operation : program.operations) {
    if (operation.kind != program::OperationKind::kOptimizer) continue;
    ++found;
    INFO(operation.kernel);
    CHECK(operation.type == ElementType::kFp32);
  }
  CHECK(found > 0);
}

TEST_CASE("TF32 is off for matrix products and on for convolutions, until the switches say else") {
  const auto linear = [](const std::vector<std::string>& more) {
    ElementType type = ElementType::kInt32;
    each<program::Linear>(build(test::with(kCnn, more)), Part::kWeightGradient,
                          [&](const Operation& operation) { type = operation.type; });
    return type;
  };
  const auto conv = [](const std::vector<std::string>& more) {
    ElementType type = ElementType::kInt32;
    each<program::Convolution>(build(test::with(kCnn, more)), Part::kForward,
                               [&](const Operation& operation) { type = operation.type; });
    return type;
  };
  CHECK(linear({}) == ElementType::kFp32);
  CHECK(conv({}) == ElementType::kTf32);
  CHECK(linear({"matmul.allow_tf32=true"}) == ElementType::kTf32);
  CHECK(linear({"precision=tf32"}) == ElementType::kTf32);
  CHECK(linear({"precision=tf32", "matmul.allow_tf32=false"}) == ElementType::kFp32);
  CHECK(conv({"cudnn.allow_tf32=false"}) == ElementType::kFp32);
  CHECK(conv({"precision=fp16"}) == ElementType::kFp16);
  // A T4 (compute capability 7.5) has no TF32.
  CHECK(conv({"machine=t4-1"}) == ElementType::kFp32);
  CHECK(linear({"machine=t4-1", "precision=tf32"}) == ElementType::kFp32);
}

TEST_CASE("the gradient of a bias is a sum, and TF32 is for products") {
  const Program program = build(test::with(kMlp, {"precision=tf32"}));
  all_in<program::Activation>(program, Part::kForward, ElementType::kFp32);
  each<program::Linear>(program, Part::kBiasGradient, [](const Operation& operation) {
    CHECK(operation.type == ElementType::kFp32);
  });
}

TEST_CASE("evaluating is model.eval(): no dropout, and batch norms use their running moments") {
  int norms = 0;
  for (const auto& settings : {kGpt, kCnn}) {
    const program::Config config = config_of(settings);
    const train::TrainingData data = train::training_data(config);
    const train::Graph graph = train::build_model(config, data, 4);
    Program program;
    const train::ModelBuffers model =
        train::add_model_buffers(program, graph, ElementType::kFp32, program::MemoryKind::kDevice);
    const auto add = [&](std::int64_t elements, ElementType type) {
      program.buffers.push_back({"input", elements * program::size_of(type)});
      program.buffers.back().type = type;
      return static_cast<Index>(program.buffers.size() - 1);
    };
    const train::BatchBuffers batch{
        add(graph.values[0], graph.reads_tokens ? ElementType::kInt64 : ElementType::kFp32),
        add(graph.rows, ElementType::kInt64)};
    const Index correct = add(1, ElementType::kFp32);
    train::PlanBuffers buffers(program::MemoryKind::kDevice);
    const train::Plan plan =
        train::plan_evaluation(program, graph, model, buffers, batch, {}, correct);
    CHECK(plan.backward.empty());
    const std::vector<Index> parameters = weights(program);
    for (const train::PlannedLaunch& launch : plan.forward) {
      const Operation& operation = program.operations[launch.operation];
      CHECK_FALSE(std::holds_alternative<program::Dropout>(operation.function));
      if (const auto* norm = std::get_if<program::BatchNorm>(&operation.function)) {
        ++norms;
        CHECK_FALSE(norm->training);
      }
      for (const Index written : operation.writes)
        CHECK(std::find(parameters.begin(), parameters.end(), written) == parameters.end());
    }
  }
  CHECK(norms > 0);
}
