// Llama (arXiv:2302.13971, 2307.09288, 2407.21783) as Hugging Face's transformers has it
// (src/transformers/models/llama/modeling_llama.py).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "base/error.h"
#include "train/listing/model_lines.h"
#include "train/model/published_models.h"

namespace trainscope::train {
namespace {

struct Llama {
  std::string_view name;
  std::int64_t layers;
  std::int64_t width;
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t hidden;
  std::int64_t vocabulary;
  std::int64_t positions;
  double theta;
  bool tied = false;  // the head has the embedding's weight
};

// The models' config.json: TinyLlama/TinyLlama-1.1B-intermediate-step-1431k-3T,
// meta-llama/Llama-2-7b-hf, Meta-Llama-3-8B, Llama-3.2-1B. What the last one does to frequencies of
// long texts (rope_scaling) changes no time; its positions are those that it was trained with.
constexpr std::array kLlamas{
    Llama{"tinyllama-1.1b", 22, 2048, 32, 4, 5632, 32000, 2048, 10000},
    Llama{"llama-2-7b", 32, 4096, 32, 32, 11008, 32000, 4096, 10000},
    Llama{"llama-3-8b", 32, 4096, 32, 8, 14336, 128256, 8192, 500000},
    Llama{"llama-3.2-1b", 16, 2048, 32, 8, 8192, 128256, 8192, 500000, true},
};

const Llama* find(std::string_view name) {
  const auto* found = std::ranges::find(kLlamas, name, &Llama::name);
  return found == kLlamas.end() ? nullptr : found;
}

class LlamaBuilder {
 public:
  LlamaBuilder(const Llama& model, std::int64_t batch, const AttentionWay& attention,
               bool writes_norms)
      : model_(model), builder_(batch), attention_(attention), writes_norms_(writes_norms) {
    builder_.initialise_normal(0.02);  // initializer_range
  }

  Graph build(std::int64_t length) {
    const std::string embedding = "model.embed_tokens";
    Tensor x =
        builder_.embedding(embedding, builder_.tokens(length), model_.vocabulary, model_.width);
    for (std::int64_t i = 0; i < model_.layers; ++i) {
      builder_.next_block();
      x = layer(fmt::format("model.layers.{}.", i), x);
    }
    builder_.end_blocks();
    x = norm("model.norm", x);
    return builder_.finish(model_.tied ? builder_.tied_linear(x, embedding)
                                       : linear("lm_head", x, model_.vocabulary));
  }

 private:
  Tensor linear(const std::string& name, const Tensor& x, std::int64_t outputs) {
    return builder_.linear(name, x, outputs, false);
  }
  Tensor norm(const std::string& name, const Tensor& x) {
    return builder_.rms_norm(name, x, writes_norms_);
  }

  // The constructor makes the norms behind the attention and the perceptron.
  Tensor layer(const std::string& name, Tensor x) {
    declare(name + "self_attn.", {"q_proj", "k_proj", "v_proj", "o_proj"});
    declare(name + "mlp.", {"gate_proj", "up_proj", "down_proj"});
    x = builder_.add(x, attend(name + "self_attn.", norm(name + "input_layernorm", x)));
    return builder_.add(x, perceptron(name + "mlp.", norm(name + "post_attention_layernorm", x)));
  }

  Tensor attend(const std::string& name, const Tensor& x) {
    const std::int64_t shared = model_.kv_heads * (model_.width / model_.heads);
    Tensor q = linear(name + "q_proj", x, model_.width);
    Tensor k = linear(name + "k_proj", x, shared);
    const Tensor v = linear(name + "v_proj", x, shared);
    q = builder_.rotate(q, model_.heads, model_.theta);
    k = builder_.rotate(k, model_.kv_heads, model_.theta);
    const Tensor y = builder_.attention(q, k, v, model_.heads, true, attention_, model_.kv_heads);
    return linear(name + "o_proj", y, model_.width);
  }

  Tensor perceptron(const std::string& name, const Tensor& x) {
    const Tensor gate = builder_.silu(linear(name + "gate_proj", x, model_.hidden));
    const Tensor y = builder_.product(gate, linear(name + "up_proj", x, model_.hidden));
    return linear(name + "down_proj", y, model_.width);
  }

  void declare(const std::string& prefix, const std::vector<std::string>& modules) {
    for (const std::string& module : modules) builder_.declare({prefix + module + ".weight"});
  }

  const Llama& model_;
  GraphBuilder builder_;
  AttentionWay attention_;
  bool writes_norms_;
};

// Sizes are written, and of other defaults of its configuration what differs.
std::string constructor_of(const Llama& model, const AttentionWay& way) {
  std::string text = fmt::format(
      "LlamaForCausalLM(LlamaConfig(hidden_size={}, num_hidden_layers={}, num_attention_heads={}",
      model.width, model.layers, model.heads);
  if (model.kv_heads != model.heads)
    text += fmt::format(", num_key_value_heads={}", model.kv_heads);
  text += fmt::format(",\n    intermediate_size={}, max_position_embeddings={}", model.hidden,
                      model.positions);
  if (model.vocabulary != 32000) text += fmt::format(", vocab_size={}", model.vocabulary);
  if (model.theta != 10000) text += fmt::format(", rope_theta={:.1f}", model.theta);
  if (model.tied) text += ", tie_word_embeddings=True";
  const char* attention = way.kernel != AttentionKernel::kEager          ? "without_mask"
                          : way.code == program::AttentionCode::kLearner ? "written_out"
                                                                         : "eager";
  return text + fmt::format(", use_cache=False, attn_implementation=\"{}\"))", attention);
}

// Modules that, called one after the other, are the model.
constexpr std::string_view kParts = R"(class Block(nn.Module):
    def __init__(self, layer, rotary):
        super().__init__()
        self.layer, self.rotary = layer, rotary
    def forward(self, x):
        places = torch.arange(x.size(1), device=x.device)[None]
        return self.layer(x, position_embeddings=self.rotary(x, places))
blocks = [Block(layer, model.model.rotary_emb) for layer in model.model.layers]
parts = [model.model.embed_tokens, *blocks, model.model.norm, model.lm_head])";

ListedModel listed_llama(const AttentionWay& way, bool writes_norms, std::int64_t length) {
  ListedModel listed = listed_of_library(way.kernel != AttentionKernel::kEager);
  if (!writes_norms)
    listed.before.emplace_back(
        "transformers.models.llama.modeling_llama.LlamaRMSNorm = nn.RMSNorm");
  if (way.kernel == AttentionKernel::kEager && way.code != program::AttentionCode::kLearner)
    listed.parts = mask_lines("model.model.layers", length);
  for (std::string& line : lines_of(kParts)) listed.parts.push_back(std::move(line));
  return listed;
}

}  // namespace

bool is_llama(std::string_view model) {
  return find(model) != nullptr;
}

std::int64_t vocabulary_of_llama(std::string_view model) {
  const Llama* known = find(model);
  return known ? known->vocabulary : 0;
}

Graph build_llama(const program::Config& config, const TrainingData& data, std::int64_t batch) {
  const Llama* known = find(config.word("model.name"));
  assert(known);
  Llama model = *known;
  model.vocabulary = vocabulary_of(config);
  check_text(model.name, model.positions, data);
  const AttentionWay way = attention_way(config, program::AttentionCode::kLlama);
  const bool writes_norms = config.word("model.rms_norm") == "written_out";
  Graph graph = LlamaBuilder(model, batch, way, writes_norms).build(data.shape.tokens);
  graph.blocks = "model.model.layers";
  graph.listing = lines_of("model = " + constructor_of(model, way) + ".to(device)");
  graph.listed = listed_llama(way, writes_norms, data.shape.tokens);
  return graph;
}

}  // namespace trainscope::train
