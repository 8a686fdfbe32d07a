// Attention without the flash kernel: its launches, what they move, and their memory.

#include <algorithm>
#include <catch2/catch.hpp>

#include "support/attention_launches.h"

using namespace trainscope;
using namespace trainscope::train;
using program::Operation;
using program::Phase;
using test::attention;
using test::frameworks;
using test::gpt;
using test::kHeads;
using test::kLength;
using test::kWidth;
using test::Launched;
using test::launched;

namespace {

// How often a number of the scores is read or written; a token's of one projection.
double passes(const std::vector<Launched>& launches, double batch, bool of_scores) {
  const double scores = 4 * batch * kHeads * kLength * kLength;
  const double tokens = 4 * batch * kHeads * kLength * kWidth;
  double bytes = 0;
  for (const Launched& one : launches) {
    const bool is_product = one.operation->kind == program::OperationKind::kGemm;
    const bool over_scores =
        is_product || one.operation->m == static_cast<std::int64_t>(scores / 4);
    const double of_it = is_product ? scores : over_scores ? one.operation->bytes : 0;
    bytes += of_scores ? of_it : one.operation->bytes - of_it;
  }
  return bytes / (of_scores ? scores : tokens);
}

}  // namespace

TEST_CASE("the flash kernel's three gradients are put together to that of one projection") {
  const std::vector<std::string> flash{"attention.kernel=flash", "precision=bf16",
                                       "machine=a100-sxm-1", "batch_size=4"};
  const auto backward = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = flash;
    all.insert(all.end(), more.begin(), more.end());
    return gpt(all);
  };
  const program::Program program = backward({});
  const std::vector<Launched> launches = launched(program, Phase::kBackward);
  const auto kernel = std::ranges::find_if(launches, [](const Launched& one) {
    return std::holds_alternative<program::Attention>(one.operation->function);
  });
  REQUIRE(launches.end() - kernel > 1);
  const Operation& cat = *(kernel + 1)->operation;
  CHECK(cat.kernel == "CatArrayBatchedCopy");
  CHECK(cat.framework == "SplitBackward0");
  CHECK(cat.is_gradient);
  CHECK(cat.bytes == Approx(2 * 3 * 2 * 4 * kHeads * kLength * kWidth));  // read, written; BF16
  CHECK(cat.reads == kernel->operation->writes);
  CHECK(program.buffers[cat.reads[0]].elements() == program.buffers[cat.writes[0]].elements());
  const program::Program fused = backward({"compile.fuse=true"});
  CHECK(std::ranges::count(frameworks(launched(fused, Phase::kBackward)), "triton_poi_fused_cat") ==
        1);
  // Of three projections each takes its own.
  const program::Program three = backward({"model.name=bert-large", "data.name=auto"});
  CHECK(std::ranges::count(frameworks(launched(three, Phase::kBackward)), "SplitBackward0") == 0);
}

TEST_CASE("attention is launched as the math backend does it") {
  const program::Program several = gpt({"batch_size=2"});
  CHECK(frameworks(attention(several, Phase::kForward)) ==
        std::vector<std::string>{"aten::mul", "aten::mul", "aten::clone", "aten::clone",
                                 "aten::bmm", "aten::add_", "aten::softmax", "aten::clone",
                                 "aten::bmm", "aten::clone"});
  CHECK(frameworks(attention(several, Phase::kBackward)) ==
        std::vector<std::string>{"UnsafeViewBackward0", "BmmBackward0", "BmmBackward0",
                                 "SoftmaxBackward0", "SoftmaxBackward0", "BmmBackward0",
                                 "BmmBackward0", "MulBackward0", "MulBackward0", "SplitBackward0"});
  // The heads of one sequence need no copy.
  const program::Program one = gpt({"batch_size=1"});
  CHECK(frameworks(attention(one, Phase::kForward)) ==
        std::vector<std::string>{"aten::mul", "aten::mul", "aten::bmm", "aten::add_",
                                 "aten::softmax", "aten::bmm", "aten::clone"});
  CHECK(attention(one, Phase::kBackward).size() == 9);
}

TEST_CASE(
    "a node of autograd launches both its products, and a softmax's two kernels, in one call") {
  const auto backward = attention(gpt({"batch_size=2"}), Phase::kBackward);
  std::vector<bool> same;
  for (const Launched& one : backward) same.push_back(one.same_operator);
  CHECK(same ==
        std::vector<bool>{false, false, true, false, true, false, true, false, false, false});
}

TEST_CASE("the last launch names the function, with all operands and the work of one call") {
  const program::Program program = gpt({"batch_size=2"});
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    const auto launches = attention(program, phase);
    const Operation& last = *launches.back().operation;
    const std::size_t products = phase == Phase::kForward ? 2 : 4;
    CHECK(last.reads.size() == (phase == Phase::kForward ? 1 : 3));
    CHECK(last.writes.size() == (phase == Phase::kForward ? 2 : 1));
    double flops = 0;
    for (const Launched& one : launches) {
      CHECK(std::holds_alternative<std::monostate>(one.operation->function) ==
            (one.operation != &last));
      CHECK(one.operation->is_gradient == (phase == Phase::kBackward));
      if (one.operation->kind == program::OperationKind::kGemm) flops += one.operation->flops;
    }
    CHECK(flops == 2 * static_cast<double>(products) * 2 * kHeads * kLength * kLength * kWidth);
    REQUIRE(last.as_one_call);
    CHECK(last.as_one_call->flops == flops);
  }
}

TEST_CASE("the scores go to memory and back between the products") {
  const program::Program eager = gpt({"batch_size=2"});
  const auto forward = attention(eager, Phase::kForward);
  CHECK(passes(forward, 2, true) == Approx(1 + 2 + 2 + 1));
  // Scaling and copies: each reads and writes; a product has two operands beside the scores.
  CHECK(passes(forward, 2, false) == Approx(2 * (2 + 2 + 1 + 1) + 2 * 2));
  // The softmax's gradient takes two kernels, each of two operands and a result.
  CHECK(passes(attention(eager, Phase::kBackward), 2, true) == Approx(4 + 2 * 3));

  const program::Program fused = gpt({"batch_size=2", "compile.fuse=true"});
  const auto compiled = attention(fused, Phase::kForward);
  CHECK(frameworks(compiled) == std::vector<std::string>{"triton_poi_fused_clone_mul",
                                                         "triton_poi_fused_clone_mul", "aten::bmm",
                                                         "triton_per_fused__softmax_add",
                                                         "aten::bmm", "triton_poi_fused_clone"});
  CHECK(passes(compiled, 2, true) == Approx(1 + 2 + 1));
}

TEST_CASE("scores live from the product that writes them to the softmax that reads them") {
  const program::Program program = gpt({"batch_size=2"});
  const auto is_scores = [&](program::Index buffer) {
    return program.buffers[buffer].name.ends_with("probabilities, before softmax");
  };
  std::vector<std::string> events;
  for (const program::Command& command : program.threads[0].commands) {
    if (const auto* alloc = std::get_if<program::Alloc>(&command.action))
      if (is_scores(alloc->buffer)) events.push_back("allocated");
    if (const auto* free = std::get_if<program::Free>(&command.action))
      if (is_scores(free->buffer)) events.push_back("freed");
    const auto* launch = std::get_if<program::Launch>(&command.action);
    if (!launch || command.phase != Phase::kForward) continue;
    const Operation& one = program.operations[launch->operation];
    if (one.kernel.starts_with("bmm") || one.kernel == "softmax") events.push_back(one.kernel);
  }
  CHECK(events == std::vector<std::string>{"allocated", "bmm 8 of 128x128x32", "softmax", "freed",
                                           "bmm 8 of 128x32x128"});
}

TEST_CASE("a recomputed block launches its attention again, but for what nothing reads") {
  const auto count = [](const program::Program& program, std::string_view framework) {
    const auto all = launched(program, Phase::kBackward);
    return std::count_if(all.begin(), all.end(), [&](const Launched& one) {
      return one.operation->framework == framework;
    });
  };
  CHECK(count(gpt({"batch_size=2"}), "aten::bmm") == 0);
  CHECK(count(gpt({"batch_size=2", "checkpoint.enabled=true"}), "aten::bmm") == 2);
}
