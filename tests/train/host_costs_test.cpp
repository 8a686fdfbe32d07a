// What an operator costs its host thread: a convolution and a batch norm several times an `add`.
#include "train/kernels/host_costs.h"

#include <catch2/catch.hpp>
#include <map>

#include "support/built_program.h"

using namespace trainscope;
using namespace trainscope::train;
using program::Part;
using test::program_of;

namespace {

// Of the last step, by the operator's name and whether it is backward's: launches, and what they
// cost of the profile's operators.
struct Cost {
  int launches = 0;
  double host = 0;
};

std::map<std::string, Cost> costs(const program::Program& program) {
  std::map<std::string, Cost> all;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands) {
      const auto* launch = std::get_if<program::Launch>(&command.action);
      if (!launch) continue;
      const program::Operation& operation = program.operations[launch->operation];
      Cost& cost = all[operation.framework];
      ++cost.launches;
      if (!launch->same_operator) cost.host += operation.host_cost;
    }
  return all;
}

}  // namespace

TEST_CASE("a product, a convolution and a batch norm cost several operators, an addition one") {
  program::Linear linear;
  program::Convolution convolution;
  program::BatchNorm norm;
  CHECK(host_cost(program::Add{}) == 1);
  CHECK(host_cost(linear) == Approx(5.24).epsilon(0.01));
  CHECK(host_cost(convolution) == Approx(5.6).epsilon(0.01));
  CHECK(host_cost(norm) == Approx(6.7).epsilon(0.01));
  linear.part = convolution.part = Part::kInputGradient;
  norm.part = Part::kInputGradient;
  CHECK(host_cost(linear) == Approx(2.49).epsilon(0.01));
  CHECK(host_cost(convolution) == Approx(2.98).epsilon(0.01));
  CHECK(host_cost(norm) == Approx(2.4).epsilon(0.01));
  linear.part = Part::kBiasGradient;
  CHECK(host_cost(linear) == 1);  // its sum is an operator of its own
}

// ddp-a100-2ranks of HolisticTraceAnalysis: 159 kernels that add 1 to a number, in three steps.
TEST_CASE("each batch norm counts its batches by a kernel, in training and not compiled") {
  const auto counts = [](const test::Settings& more) {
    const auto all = costs(program_of(test::with(
        {"model.name=resnet50", "batch_size=2", "steps=1", "data.source=tensor"}, more)));
    const auto found = all.find("aten::add_");
    return found == all.end() ? 0 : found->second.launches;
  };
  CHECK(counts({}) == 53);
  // Warmed up, captured, and replayed without a launch of its own.
  CHECK(counts({"compile.cuda_graph=true", "steps=3"}) == 2 * 53);
  CHECK(counts({"compile.fuse=true"}) == 0);
  const auto evaluated = program_of(
      {"model.name=cnn", "model.batch_norm=true", "batch_size=8", "steps=2", "loop.evaluate=true"});
  const auto trained =
      program_of({"model.name=cnn", "model.batch_norm=true", "batch_size=8", "steps=2"});
  CHECK(costs(evaluated)["aten::add_"].launches == costs(trained)["aten::add_"].launches);
}

TEST_CASE("of a convolution's kernels the first costs its operator") {
  const auto all =
      costs(program_of({"model.name=resnet50", "batch_size=2", "steps=1", "data.source=tensor"}));
  CHECK(all.at("aten::conv2d").host == Approx(53 * 5.65).epsilon(0.01));
  CHECK(all.at("aten::batch_norm").host == Approx(53 * 6.73).epsilon(0.01));
  CHECK(all.at("aten::conv2d").launches >= 53);
}
