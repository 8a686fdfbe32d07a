// Llama: its norms, rotations and shared keys as launches, and what parallel strategies do to them.

#include <algorithm>
#include <catch2/catch.hpp>

#include "program/idle_knobs.h"
#include "support/attention_launches.h"
#include "support/built_program.h"
#include "train/model/model_flops.h"
#include "train/model/models.h"
#include "train/parallel/cut_layers.h"

using namespace trainscope;
using namespace trainscope::train;
using Catch::Matchers::Contains;
using program::Phase;
using test::Launched;
using test::Settings;
using test::with;

namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t kLength = 64, kBatch = 2, kWidth = 2048, kHeads = 32, kKeyHeads = 4;

const Settings kTiny{"model.name=tinyllama-1.1b",
                     "machine=h100-sxm-8",
                     "model.seq_len=64",
                     "batch_size=2",
                     "steps=1",
                     "loop.evaluate=false"};
const Settings kBf16{"model.dtype=bf16"}, kAutocast{"precision=bf16"};
const Settings kFlash{"precision=bf16", "attention.kernel=flash"};
const Settings kWritten{"model.rms_norm=written_out"};

program::Program tiny(const Settings& more = {}) {
  return test::program_of(with(kTiny, more));
}

Graph graph_of(const Settings& settings) {
  const program::Config config = test::config_of(settings);
  return build_model(config, training_data(config), config.whole("batch_size"));
}

template <typename Function>
bool names(const Launched& one) {
  return std::holds_alternative<Function>(one.operation->function);
}

// Launches behind the last product, up to the first that names such a function.
template <typename Function>
std::vector<Launched> first_of(const program::Program& program, Phase phase) {
  std::vector<Launched> launches;
  for (const Launched& one : test::launched(program, phase)) {
    const bool is_apart = !std::holds_alternative<std::monostate>(one.operation->function) &&
                          !names<program::Cast>(one) && !names<Function>(one);
    if (is_apart) launches.clear();
    if (is_apart) continue;
    launches.push_back(one);
    if (names<Function>(one)) return launches;
  }
  return {};
}

double bytes_of(const std::vector<Launched>& launches) {
  double bytes = 0;
  for (const Launched& one : launches) bytes += one.operation->bytes;
  return bytes;
}

std::int64_t count(const program::Program& program, Phase phase, std::string_view kernel) {
  const auto all = test::launched(program, phase);
  return std::ranges::count_if(
      all, [&](const Launched& one) { return one.operation->kernel == kernel; });
}

}  // namespace

TEST_CASE("a norm that is written out is six kernels, eight of narrow numbers, and one fused") {
  const Names written{"aten::pow",   "aten::mean", "aten::add",
                      "aten::rsqrt", "aten::mul",  "aten::mul"};
  const program::Program fp32 = tiny(kWritten), bf16 = tiny(with(kWritten, kBf16));
  std::vector<Launched> norm = first_of<program::RmsNorm>(fp32, Phase::kForward);
  // Behind what makes the cosines and sines, which comes before the first block.
  REQUIRE(norm.size() > 6);
  norm.erase(norm.begin(), norm.end() - 6);
  CHECK(test::frameworks(norm) == written);
  norm = first_of<program::RmsNorm>(bf16, Phase::kForward);
  REQUIRE(norm.size() > 8);
  norm.erase(norm.begin(), norm.end() - 8);
  CHECK(test::frameworks(norm) == Names{"aten::to", "aten::pow", "aten::mean", "aten::add",
                                        "aten::rsqrt", "aten::mul", "aten::to", "aten::mul"});
  const program::Program fused = tiny();
  CHECK(count(fused, Phase::kForward, "rms_norm") == 2 * 22 + 1);
  CHECK(count(fused, Phase::kForward, "rsqrt") == 0);
  CHECK(count(fp32, Phase::kForward, "rsqrt") == 2 * 22 + 1);
  CHECK(count(tiny(with(kWritten, {"compile.fuse=true"})), Phase::kForward, "rsqrt") == 0);
}

TEST_CASE("a norm that is written out passes through its numbers many times as often") {
  const program::Program fp32 = tiny(kWritten);
  std::vector<Launched> norm = first_of<program::RmsNorm>(fp32, Phase::kForward);
  norm.erase(norm.begin(), norm.end() - 6);
  // pow 2, mean 1, the products 2 each; a weight, and numbers a row.
  const double numbers = 4.0 * kBatch * kLength * kWidth, row = 4.0 * kBatch * kLength;
  CHECK(bytes_of(norm) == Approx(7 * numbers + 4.0 * kWidth + 6 * row));
  const program::Operation& last = *norm.back().operation;
  REQUIRE(last.as_one_call);
  const auto fused = first_of<program::RmsNorm>(tiny(), Phase::kForward);
  CHECK(last.as_one_call->bytes == fused.back().operation->bytes);
  CHECK(last.as_one_call->flops == fused.back().operation->flops);
  CHECK(fused.back().operation->bytes == Approx(2 * numbers + 4.0 * kWidth + row));
}

TEST_CASE("a rotation is five kernels and nine backward, its tables are made once a forward") {
  const program::Program program = tiny(kBf16);
  const auto forward = first_of<program::Rotate>(program, Phase::kForward);
  CHECK(test::frameworks(forward) ==
        Names{"aten::mul", "aten::neg", "aten::cat", "aten::mul", "aten::add"});
  const double numbers = 2.0 * kBatch * kLength * kWidth, table = 2.0 * kLength * kWidth / kHeads;
  CHECK(bytes_of(forward) == Approx((2 + 1 + 2 + 2 + 3) * numbers + 2 * table));
  const auto backward = test::launched(program, Phase::kBackward);
  const auto last = std::ranges::find_if(backward, names<program::Rotate>);
  REQUIRE(last - backward.begin() >= 9);
  const std::vector<Launched> of_rotation(last - 8, last + 1);
  CHECK(test::frameworks(of_rotation) ==
        Names{"MulBackward0", "NegBackward0", "SliceBackward0", "SliceBackward0", "SliceBackward0",
              "SliceBackward0", "autograd::engine", "MulBackward0", "autograd::engine"});
  CHECK(count(program, Phase::kForward, "cos") == 1);
  CHECK(count(program, Phase::kForward, "sin") == 1);
  CHECK(count(tiny({"checkpoint.enabled=true"}), Phase::kBackward, "cos") == 0);
}

TEST_CASE("under autocast a rotation gives FP32, and attention casts it back") {
  const program::Program program = tiny(kFlash);
  for (const Launched& one : test::launched(program, Phase::kForward)) {
    const program::Operation& operation = *one.operation;
    const auto type = [&](program::Index buffer) { return program.buffers[buffer].type; };
    if (names<program::Rotate>(one)) {
      CHECK(type(operation.reads[0]) == program::ElementType::kBf16);
      CHECK(type(operation.writes[0]) == program::ElementType::kFp32);
    }
    if (names<program::Attention>(one))
      CHECK(type(operation.reads[0]) == program::ElementType::kBf16);
  }
}

TEST_CASE("heads that share keys: flash sums gradients behind its kernel, math repeats before") {
  const program::Program flash = tiny(kFlash);
  const std::int64_t layers = 22;
  CHECK(count(flash, Phase::kBackward, "sum over heads") == 2 * layers);
  CHECK(count(flash, Phase::kForward, "sum over heads") == 0);
  const auto forward = first_of<program::Attention>(flash, Phase::kForward);
  REQUIRE(!forward.empty());
  const double all = 2.0 * kBatch * kLength * kWidth, shared = all * kKeyHeads / kHeads;
  CHECK(forward.back().operation->bytes ==
        Approx(2 * all + 2 * shared + 4.0 * kBatch * kHeads * kLength));
  const auto names_of = test::frameworks(test::attention(tiny(kAutocast), Phase::kForward));
  CHECK(std::ranges::count(names_of, "aten::repeat_interleave") == 2);
  const program::Program eager = tiny(with(kAutocast, {"attention.kernel=transformers"}));
  CHECK(count(eager, Phase::kBackward, "sum over heads") == 2 * layers);
  CHECK_THROWS_WITH(tiny({"attention.kernel=flash"}), Contains("share keys and values"));
  CHECK_NOTHROW(test::program_of({"model.name=llama-2-7b", "machine=h100-sxm-8", "model.seq_len=64",
                                  "batch_size=1", "steps=1", "attention.kernel=flash",
                                  "loop.evaluate=false"}));
}

TEST_CASE("Llama's arithmetic is six operations a token and weight, and attention's") {
  for (const char* name : {"tinyllama-1.1b", "llama-2-7b", "llama-3-8b", "llama-3.2-1b"}) {
    INFO(name);
    const Graph graph = graph_of({std::string("model.name=") + name, "model.seq_len=64"});
    double multiplied = 0, attention = 0;
    for (const Layer& layer : graph.layers) {
      if (const auto* linear = std::get_if<program::Linear>(&layer.function))
        multiplied += static_cast<double>(linear->inputs * linear->outputs);
      if (const auto* one = std::get_if<program::Attention>(&layer.function))
        attention += 12.0 * static_cast<double>(one->length * one->heads * one->width);
    }
    const auto tokens = static_cast<double>(graph.rows);
    CHECK(model_flops(graph) == Approx(tokens * (6 * multiplied + attention)));
    // A table that is looked up is no product; a head that is the same matrix is.
    const auto all = static_cast<double>(graph.parameter_count());
    CHECK((multiplied > 0.85 * all && multiplied < all));
  }
}

TEST_CASE("tensor parallelism cuts Llama's gate and up by columns, and shares heads of keys out") {
  const Graph whole = graph_of(kTiny);
  std::vector<std::string> columns, rows;
  for (const CutName& one : cut_names(cut_layers(whole, 2)))
    (one.cut == Cut::kColumns ? columns : rows).push_back(one.name);
  CHECK(columns == Names{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                         "mlp.gate_proj", "mlp.up_proj"});
  CHECK(rows == Names{"self_attn.o_proj", "mlp.down_proj"});
  const Graph cut = cut_layers(whole, 4);
  for (const Layer& layer : cut.layers) {
    if (const auto* attention = std::get_if<program::Attention>(&layer.function)) {
      CHECK(attention->heads == kHeads / 4);
      CHECK(attention->kv_heads == 1);
    }
    if (const auto* product = std::get_if<program::Product>(&layer.function))
      CHECK(product->elements == kBatch * kLength * 5632 / 4);
  }
  CHECK_THROWS_WITH(cut_layers(whole, 8), Contains("heads of keys"));
}

TEST_CASE("Llama trains in every parallel strategy, with norms and vocabulary shared out, too") {
  const Settings tensor{"parallel.strategy=tensor", "parallel.world_size=4",
                        "tensor.sequence_parallel=true"};
  const Settings fsdp{"parallel.strategy=fsdp", "parallel.world_size=4", "fsdp.param_dtype=bf16",
                      "attention.kernel=flash"};
  for (const Settings& how :
       {tensor, with(tensor, {"tensor.loss_parallel=true"}), fsdp,
        with(fsdp, {"tensor.degree=2", "checkpoint.enabled=true"}),
        Settings{"parallel.strategy=ddp", "parallel.world_size=4", "compile.fuse=true"},
        Settings{"parallel.strategy=pipeline", "parallel.world_size=4", "batch_size=8",
                 "pipeline.microbatches=4"}})
    for (const char* norm : {"model.rms_norm=fused", "model.rms_norm=written_out"}) {
      INFO(how[0] << ", " << how[2] << ", " << norm);
      CHECK_NOTHROW(tiny(with(how, {norm})));
    }
}

TEST_CASE("knobs that change nothing of Llama are told") {
  const auto idle = [](const char* model, const char* knob) {
    return program::idle_because(test::config_of({std::string("model.name=") + model}), knob);
  };
  CHECK(idle("llama-3-8b", "model.dropout") == "model.name = llama-3-8b");
  CHECK(idle("llama-3-8b", "model.gelu") == "model.name = llama-3-8b");
  CHECK(idle("llama-3-8b", "model.rms_norm").empty());
  CHECK(idle("gpt2", "model.rms_norm") == "model.name = gpt2");
  CHECK(idle("gpt2", "model.dropout").empty());
}

TEST_CASE("Llama is listed with its sizes, and what stands for its norms") {
  const Graph graph = graph_of({"model.name=llama-3-8b", "model.seq_len=64"});
  CHECK(graph.listing ==
        std::vector<std::string>{
            "model = LlamaForCausalLM(LlamaConfig(hidden_size=4096, num_hidden_layers=32, "
            "num_attention_heads=32, num_key_value_heads=8,",
            "    intermediate_size=14336, max_position_embeddings=8192, vocab_size=128256, "
            "rope_theta=500000.0, use_cache=False, "
            "attn_implementation=\"without_mask\")).to(device)"});
  const std::string fused = "transformers.models.llama.modeling_llama.LlamaRMSNorm = nn.RMSNorm";
  CHECK(graph.listed.before.back() == fused);
  CHECK(graph.listed.parts.back() ==
        "parts = [model.model.embed_tokens, *blocks, model.model.norm, model.lm_head]");
  const Graph written = graph_of({"model.name=llama-3-8b", "model.seq_len=64", kWritten[0]});
  CHECK(std::ranges::count(written.listed.before, fused) == 0);
  CHECK_THROWS_WITH(graph_of({"model.name=llama-2-7b", "model.seq_len=8192"}),
                    Contains("set model.seq_len = 4096 or less"));
}

TEST_CASE("a plan gives Llama's attention its tokens by name, and its perceptron by place") {
  const std::string lines =
      test::listing_of(tiny({"parallel.strategy=tensor", "parallel.world_size=2",
                             "tensor.sequence_parallel=true", "attention.kernel=eager"}));
  CHECK_THAT(lines, Contains("\"self_attn\": PrepareModuleInput(input_kwarg_layouts=") &&
                        Contains("\"mlp\": PrepareModuleInput(input_layouts=Shard(1), "
                                 "desired_input_layouts=Replicate()),") &&
                        Contains("t.repeat_interleave(module.num_key_value_groups, 1)"));
}

TEST_CASE("a stage's blocks of Llama get their angles and, where they need one, a mask") {
  const Settings pipeline{"parallel.strategy=pipeline", "parallel.world_size=2",
                          "pipeline.microbatches=2"};
  const std::string mask = "(args, kwargs | {\"attention_mask\": mask})";
  CHECK_THAT(test::listing_of(tiny(pipeline)),
             Contains("position_embeddings=self.rotary(x, places)") && !Contains(mask));
  CHECK_THAT(test::listing_of(tiny(with(pipeline, {"attention.kernel=transformers"}))),
             Contains(mask));
}
