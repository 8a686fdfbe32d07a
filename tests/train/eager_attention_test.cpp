// Attention as a model writes it out: its launches, what they move, and what is kept of them.

#include "train/kernels/eager_attention.h"

#include <catch2/catch.hpp>
#include <map>

#include "support/attention_launches.h"

using namespace trainscope;
using program::Operation;
using program::Phase;
using test::attention;
using test::frameworks;
using test::kHeads;
using test::kLength;
using test::Launched;
using test::launched;

namespace {

constexpr double kBatch = 2, kScores = kBatch * kHeads * kLength * kLength;
constexpr double kOfMask = 1 / (kBatch * kHeads);  // bytes that each score has of it

program::Program eager(std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"attention.kernel=eager", "batch_size=2"});
  return test::gpt(more);
}

const std::vector<std::string> kBf16{"precision=bf16"}, kFp16{"precision=fp16"};

// Bytes that are read and written of each score, by all but the products.
double bytes_of_score(const std::vector<Launched>& launches) {
  double bytes = 0;
  for (const Launched& one : launches)
    if (one.operation->m == static_cast<std::int64_t>(kScores)) bytes += one.operation->bytes;
  return bytes / kScores;
}

double bytes(const std::vector<Launched>& launches) {
  double bytes = 0;
  for (const Launched& one : launches) bytes += one.operation->bytes;
  return bytes;
}

// The bytes of attention's buffers but its result that forward leaves to backward.
std::map<std::string, std::int64_t> kept(const program::Program& program) {
  std::map<std::string, std::int64_t> kept;
  const std::string layer = "attention 1: ";
  for (const program::Command& command : program.threads[0].commands) {
    if (const auto* alloc = std::get_if<program::Alloc>(&command.action)) {
      const program::Buffer& buffer = program.buffers[alloc->buffer];
      if (buffer.name.starts_with(layer)) kept[buffer.name.substr(layer.size())] = buffer.bytes;
    }
    if (const auto* free = std::get_if<program::Free>(&command.action))
      if (const std::string& name = program.buffers[free->buffer].name; name.starts_with(layer))
        kept.erase(name.substr(layer.size()));
  }
  return kept;
}

}  // namespace

TEST_CASE("attention that is written out launches a kernel for each operator") {
  CHECK(frameworks(attention(eager(), Phase::kForward)) ==
        std::vector<std::string>{"aten::clone", "aten::clone", "aten::bmm", "aten::mul", "aten::eq",
                                 "aten::clone", "aten::masked_fill_", "aten::softmax",
                                 "aten::clone", "aten::bmm", "aten::clone"});
  CHECK(frameworks(attention(eager(), Phase::kBackward)) ==
        std::vector<std::string>{"UnsafeViewBackward0", "BmmBackward0", "BmmBackward0",
                                 "SoftmaxBackward0", "SoftmaxBackward0", "MaskedFillBackward0",
                                 "MaskedFillBackward0", "MulBackward0", "BmmBackward0",
                                 "BmmBackward0", "ViewBackward0", "ViewBackward0", "ViewBackward0",
                                 "SplitBackward0"});
}

TEST_CASE("under autocast a written-out softmax is FP32, between two casts where it reads BF16") {
  CHECK(frameworks(attention(eager(kBf16), Phase::kForward)) ==
        std::vector<std::string>{"aten::clone", "aten::clone", "aten::bmm", "aten::mul", "aten::eq",
                                 "aten::clone", "aten::masked_fill_", "aten::to", "aten::softmax",
                                 "aten::to", "aten::clone", "aten::bmm", "aten::clone"});
  CHECK(frameworks(attention(eager(kBf16), Phase::kBackward)) ==
        std::vector<std::string>{"UnsafeViewBackward0", "BmmBackward0", "BmmBackward0",
                                 "ToCopyBackward0", "SoftmaxBackward0", "SoftmaxBackward0",
                                 "ToCopyBackward0", "MaskedFillBackward0", "MaskedFillBackward0",
                                 "MulBackward0", "BmmBackward0", "BmmBackward0", "ViewBackward0",
                                 "ViewBackward0", "ViewBackward0", "SplitBackward0"});
  // Its kernel reads FP16 and writes FP32.
  CHECK(attention(eager(kFp16), Phase::kForward).size() == 12);
  CHECK(attention(eager(kFp16), Phase::kBackward).size() == 15);
  // Weights that are narrow themselves are nothing to autocast.
  CHECK(attention(eager({"model.dtype=bf16"}), Phase::kForward).size() == 11);
}

TEST_CASE("each operator that is written out reads all scores and writes them") {
  const auto of_score = [](const std::vector<std::string>& precision, Phase phase) {
    return bytes_of_score(attention(eager(precision), phase));
  };
  // Scale, mask (a copy that is filled), softmax; in backward the softmax reads two, after a
  // product of two.
  CHECK(of_score({}, Phase::kForward) == Approx(4 * 2 * (1 + 2 + 1) + kOfMask));
  CHECK(of_score({}, Phase::kBackward) == Approx(4 * (3 + 3 + 2 * (2 + 1)) + kOfMask));
  CHECK(of_score(kBf16, Phase::kForward) == Approx(2 * 2 * 3 + 6 + 8 + 6 + kOfMask));
  CHECK(of_score(kBf16, Phase::kBackward) == Approx(2 * 2 * 3 + 6 + 12 + 12 + 6 + kOfMask));
  CHECK(of_score(kFp16, Phase::kForward) == Approx(2 * 2 * 3 + 6 + 6 + kOfMask));
  CHECK(of_score(kFp16, Phase::kBackward) == Approx(2 * 2 * 3 + 6 + 12 + 10 + kOfMask));
}

TEST_CASE("what is written out keeps its mask, and under autocast its probabilities twice") {
  const auto scores = static_cast<std::int64_t>(kScores);
  const auto mask = static_cast<std::int64_t>(kLength * kLength);
  using Kept = std::map<std::string, std::int64_t>;
  CHECK(kept(eager()) == Kept{{"mask", mask}, {"probabilities", 4 * scores}});
  CHECK(kept(eager(kBf16)) == Kept{{"mask", mask},
                                   {"probabilities", 2 * scores},
                                   {"probabilities in float32", 4 * scores}});
}

TEST_CASE(
    "written out or not, the function that is computed and its work as one call are the same") {
  const program::Program written = eager(), math = test::gpt({"batch_size=2"});
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    const auto launches = attention(written, phase);
    const Operation &last = *launches.back().operation,
                    &of_math = *attention(math, phase).back().operation;
    CHECK(last.reads.size() == of_math.reads.size());
    CHECK(last.writes.size() == of_math.writes.size());
    REQUIRE(last.as_one_call);
    CHECK(last.as_one_call->flops == of_math.as_one_call->flops);
    CHECK(last.as_one_call->bytes == of_math.as_one_call->bytes);
    for (const Launched& one : launches) {
      CHECK(std::holds_alternative<std::monostate>(one.operation->function) ==
            (one.operation != &last));
      CHECK(one.operation->is_gradient == (phase == Phase::kBackward));
    }
  }
}

TEST_CASE("compiled, what is written out is one kernel between the products") {
  const std::vector<std::string> fused{"compile.fuse=true"};
  const program::Program written = eager(fused),
                         math = test::gpt({"batch_size=2", "compile.fuse=true"});
  CHECK(frameworks(attention(written, Phase::kForward)) ==
        std::vector<std::string>{"triton_poi_fused_clone", "triton_poi_fused_clone", "aten::bmm",
                                 "triton_per_fused__softmax_masked_fill_mul",
                                 "triton_poi_fused_clone", "aten::bmm", "triton_poi_fused_clone"});
  for (const Phase phase : {Phase::kForward, Phase::kBackward})
    CHECK(bytes(attention(written, phase)) == Approx(bytes(attention(math, phase))).epsilon(0.1));
  CHECK(kept(written).size() == 1);
}

TEST_CASE("a recomputed block writes its attention out again") {
  const auto count = [](const program::Program& program) {
    const auto all = launched(program, Phase::kBackward);
    return std::count_if(all.begin(), all.end(), [](const Launched& one) {
      return one.operation->framework == "aten::masked_fill_";
    });
  };
  CHECK(count(eager(kBf16)) == 0);
  const program::Program again = eager({"precision=bf16", "checkpoint.enabled=true"});
  CHECK(count(again) == 1);
  CHECK(kept(again).empty());
}

namespace {

program::Program transformers(const std::string& model, std::vector<std::string> more = {}) {
  more.insert(more.begin(),
              {"model.name=" + model, "data.name=tokens", "attention.kernel=transformers",
               "model.seq_len=64", "batch_size=2", "steps=1"});
  const program::Config config = test::config_of(more);
  return train::build_program(config, train::machine_of(config));
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("Hugging Face's models write attention out in three ways") {
  CHECK(frameworks(attention(transformers("gpt2"), Phase::kForward)) ==
        Names{"aten::clone", "aten::clone", "aten::bmm", "aten::div", "aten::where",
              "aten::softmax", "aten::clone", "aten::bmm", "aten::clone"});
  CHECK(frameworks(attention(transformers("bert-large"), Phase::kForward)) ==
        Names{"aten::clone", "aten::clone", "aten::bmm", "aten::div", "aten::add", "aten::softmax",
              "aten::clone", "aten::bmm", "aten::clone"});
  // The queries are scaled, and all three made contiguous.
  CHECK(frameworks(attention(transformers("opt-1.3b"), Phase::kForward)) ==
        Names{"aten::mul", "aten::clone", "aten::clone", "aten::clone", "aten::bmm", "aten::add",
              "aten::max", "aten::softmax", "aten::bmm", "aten::clone"});
  CHECK_THROWS_WITH(transformers("gpt-mini", {"data.name=text"}),
                    Catch::Matchers::Contains("attention.kernel = eager"));
}

TEST_CASE("the gradient of OPT's torch.max is five kernels of one node") {
  const program::Program opt = transformers("opt-1.3b");
  const auto launches = attention(opt, Phase::kBackward);
  const auto of_max = std::count_if(launches.begin(), launches.end(), [](const Launched& one) {
    return one.operation->framework == "MaximumBackward0";
  });
  CHECK(of_max == 5);
}

TEST_CASE("dropped probabilities are written beside those that are kept, and a mask") {
  const auto more = [](const char* model, Phase phase) {
    const auto bytes_of = [&](const std::string& dropout) {
      return bytes(attention(transformers(model, {"attention.dropout=" + dropout}), phase));
    };
    return bytes_of("0.1") - bytes_of("0");
  };
  constexpr double kSide = 64, kGpt2Heads = 12, kBertHeads = 16;
  CHECK(more("gpt2", Phase::kForward) == Approx((4 + 4 + 1) * 2 * kGpt2Heads * kSide * kSide));
  CHECK(more("gpt2", Phase::kBackward) == Approx((4 + 4 + 1) * 2 * kGpt2Heads * kSide * kSide));
  CHECK(more("bert-large", Phase::kForward) == Approx(9 * 2 * kBertHeads * kSide * kSide));
  CHECK(kept(transformers("gpt2", {"attention.dropout=0.1"})).size() == 3);
}
