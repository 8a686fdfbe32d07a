// BERT (arXiv:1810.04805), GPT-2, GPT-3 XL (arXiv:2005.14165) and OPT (arXiv:2205.01068) as Hugging
// Face's transformers has them (src/transformers/models/{bert,gpt2,opt}/modeling_*.py).

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "base/error.h"
#include "train/listing/model_lines.h"
#include "train/model/published_models.h"

namespace trainscope::train {
namespace {

using Family = program::AttentionCode;

struct Transformer {
  std::string_view name;
  Family family;
  std::int64_t layers;
  std::int64_t width;
  std::int64_t heads;
  std::int64_t vocabulary;
  std::int64_t positions;

  std::int64_t hidden() const { return 4 * width; }
};

// GPT-3's Table 2.1 gives the XL model 24 heads of width 128 beside a width of 2048, which they do
// not fill. These are 16 heads of 128: with them the parameters are the 1.3 billion of the table
// (with 24 of 128 they would be 1.5), and 2048 cannot be split among 24.
constexpr std::array kTransformers{
    Transformer{"bert-large", Family::kBert, 24, 1024, 16, 30522, 512},
    Transformer{"gpt2", Family::kGpt2, 12, 768, 12, 50257, 1024},
    Transformer{"gpt2-large", Family::kGpt2, 36, 1280, 20, 50257, 1024},
    Transformer{"gpt3-xl", Family::kGpt2, 24, 2048, 16, 50257, 2048},
    // What NeuSight (ASPLOS'25) measured as GPT3-XL: its gpt3_xl.json has all 24 heads of 128.
    Transformer{"gpt2-2.9b", Family::kGpt2, 24, 3072, 24, 50257, 2048},
    Transformer{"opt-1.3b", Family::kOpt, 24, 2048, 32, 50272, 2048},
};

const Transformer* find(std::string_view name) {
  const auto* found = std::find_if(kTransformers.begin(), kTransformers.end(),
                                   [&](const Transformer& model) { return model.name == name; });
  return found == kTransformers.end() ? nullptr : found;
}

// What knobs say of how the model is written.
struct Variant {
  double dropout = 0;
  AttentionWay attention;
  bool writes_gelu = false;
};

class TransformerBuilder {
 public:
  TransformerBuilder(const Transformer& model, std::int64_t batch, const Variant& variant)
      : model_(model), builder_(batch), variant_(variant) {
    builder_.initialise_normal(0.02);  // initializer_range, init_std
  }

  Graph build(std::int64_t length) {
    const Tensor tokens = builder_.tokens(length);
    switch (model_.family) {
      case Family::kBert:
        return bert(tokens);
      case Family::kGpt2:
        return gpt2(tokens);
      case Family::kOpt:
        return opt(tokens);
      default:
        break;
    }
    return {};
  }

 private:
  Tensor linear(const std::string& name, const Tensor& x, std::int64_t outputs) {
    return builder_.linear(name, x, outputs);
  }
  Tensor norm(const std::string& name, const Tensor& x) { return builder_.layer_norm(name, x); }
  Tensor dropout(const Tensor& x) { return builder_.dropout(x, variant_.dropout); }

  // The weights and biases of modules, in this order.
  void declare(const std::string& prefix, const std::vector<std::string>& modules) {
    for (const std::string& module : modules)
      builder_.declare({prefix + module + ".weight", prefix + module + ".bias"});
  }

  // ---- BERT: a norm after each sum --------------------------------------------------------------

  Graph bert(const Tensor& tokens) {
    const std::string embeddings = "bert.embeddings.";
    const std::int64_t width = model_.width;
    Tensor x = builder_.embedding(embeddings + "word_embeddings", tokens, model_.vocabulary, width);
    builder_.declare({embeddings + "position_embeddings.weight"});
    x = builder_.segments(embeddings + "token_type_embeddings", x, 2);
    x = builder_.positions(embeddings + "position_embeddings", x, model_.positions);
    x = dropout(norm(embeddings + "LayerNorm", x));
    for (std::int64_t i = 0; i < model_.layers; ++i) {
      builder_.next_block();
      x = bert_layer(fmt::format("bert.encoder.layer.{}.", i), x);
    }
    builder_.end_blocks();
    const std::string head = "cls.predictions.";
    builder_.declare({head + "bias"});
    x = builder_.gelu(linear(head + "transform.dense", x, width));
    x = norm(head + "transform.LayerNorm", x);
    return builder_.finish(builder_.tied_linear(x, embeddings + "word_embeddings", head + "bias"));
  }

  Tensor bert_layer(const std::string& layer, const Tensor& x) {
    const std::string self = layer + "attention.self.", output = layer + "attention.output.";
    const Tensor q = linear(self + "query", x, model_.width);
    const Tensor k = linear(self + "key", x, model_.width);
    const Tensor v = linear(self + "value", x, model_.width);
    Tensor y = builder_.attention(q, k, v, model_.heads, false, variant_.attention);
    y = dropout(linear(output + "dense", y, model_.width));
    const Tensor attended = norm(output + "LayerNorm", builder_.add(y, x));
    y = builder_.gelu(linear(layer + "intermediate.dense", attended, model_.hidden()));
    y = dropout(linear(layer + "output.dense", y, model_.width));
    return norm(layer + "output.LayerNorm", builder_.add(y, attended));
  }

  // ---- GPT-2: a norm before each branch ---------------------------------------------------------

  Graph gpt2(const Tensor& tokens) {
    const std::string module = "transformer.";
    Tensor x = builder_.embedding(module + "wte", tokens, model_.vocabulary, model_.width);
    x = dropout(builder_.positions(module + "wpe", x, model_.positions));
    for (std::int64_t i = 0; i < model_.layers; ++i) {
      builder_.next_block();
      x = gpt2_block(fmt::format("transformer.h.{}.", i), x);
    }
    builder_.end_blocks();
    return builder_.finish(builder_.tied_linear(norm(module + "ln_f", x), module + "wte"));
  }

  Tensor gpt2_block(const std::string& block, Tensor x) {
    Tensor y = linear(block + "attn.c_attn", norm(block + "ln_1", x), 3 * model_.width);
    y = builder_.attention(y, model_.heads, true, variant_.attention);
    x = builder_.add(x, dropout(linear(block + "attn.c_proj", y, model_.width)));
    y = linear(block + "mlp.c_fc", norm(block + "ln_2", x), model_.hidden());
    y = builder_.gelu(y, true, variant_.writes_gelu);
    y = linear(block + "mlp.c_proj", y, model_.width);
    return builder_.add(x, dropout(y));
  }

  // ---- OPT: as GPT-2, with ReLU and three projections -------------------------------------------

  Graph opt(const Tensor& tokens) {
    constexpr std::int64_t kOffset = 2;  // OPTLearnedPositionalEmbedding: rows that stay unused
    const std::string module = "model.decoder.";
    Tensor x = builder_.embedding(module + "embed_tokens", tokens, model_.vocabulary, model_.width);
    x = builder_.positions(module + "embed_positions", x, model_.positions + kOffset);
    declare(module, {"final_layer_norm"});
    for (std::int64_t i = 0; i < model_.layers; ++i) {
      builder_.next_block();
      x = opt_layer(fmt::format("model.decoder.layers.{}.", i), x);
    }
    builder_.end_blocks();
    x = norm(module + "final_layer_norm", x);
    return builder_.finish(builder_.tied_linear(x, module + "embed_tokens"));
  }

  Tensor opt_layer(const std::string& layer, Tensor x) {
    const std::string self = layer + "self_attn.";
    declare(self, {"k_proj", "v_proj", "q_proj", "out_proj"});
    Tensor y = norm(layer + "self_attn_layer_norm", x);
    const Tensor q = linear(self + "q_proj", y, model_.width);
    const Tensor k = linear(self + "k_proj", y, model_.width);
    const Tensor v = linear(self + "v_proj", y, model_.width);
    y = builder_.attention(q, k, v, model_.heads, true, variant_.attention);
    x = builder_.add(x, dropout(linear(self + "out_proj", y, model_.width)));
    declare(layer, {"fc1", "fc2"});
    y = builder_.relu(linear(layer + "fc1", norm(layer + "final_layer_norm", x), model_.hidden()));
    return builder_.add(x, dropout(linear(layer + "fc2", y, model_.width)));
  }

  const Transformer& model_;
  GraphBuilder builder_;
  Variant variant_;
};

// Of the defaults of its configuration only what differs is written, on two lines: in front what
// its shape is, then how it runs. Of padding there is none here, and a table that keeps a row for
// it cannot be cut by ranks and given its first values.
std::string constructor_of(const Transformer& model, const Variant& variant) {
  const std::string vocabulary = model.vocabulary == find(model.name)->vocabulary
                                     ? ""
                                     : fmt::format(", vocab_size={}", model.vocabulary);
  const AttentionWay& way = variant.attention;
  const char* attention = way.kernel != AttentionKernel::kEager ? ""
                          : way.code == Family::kLearner ? ", attn_implementation=\"written_out\""
                                                         : ", attn_implementation=\"eager\"";
  const double dropped = way.kernel == AttentionKernel::kEager ? way.dropout : 0;
  const char* gelu = variant.writes_gelu ? "" : ", activation_function=\"gelu_pytorch_tanh\"";
  switch (model.family) {
    case Family::kBert:
      return fmt::format(
          "BertForMaskedLM(BertConfig(hidden_size={}, num_hidden_layers={}, "
          "num_attention_heads={}, intermediate_size={}{},\n    hidden_dropout_prob={:g}, "
          "attention_probs_dropout_prob={:g}, pad_token_id=None{}))",
          model.width, model.layers, model.heads, model.hidden(), vocabulary, variant.dropout,
          dropped, attention);
    case Family::kGpt2:
      return fmt::format(
          "GPT2LMHeadModel(GPT2Config(n_embd={}, n_layer={}, n_head={}, "
          "n_positions={}{}{},\n    resid_pdrop={:g}, embd_pdrop={:g}, attn_pdrop={:g}, "
          "use_cache=False{}))",
          model.width, model.layers, model.heads, model.positions, vocabulary, gelu,
          variant.dropout, variant.dropout, dropped,
          *attention ? attention : ", attn_implementation=\"without_mask\"");
    case Family::kOpt:
      return fmt::format(
          "OPTForCausalLM(OPTConfig(hidden_size={}, num_hidden_layers={}, num_attention_heads={}, "
          "ffn_dim={}{},\n    dropout={:g}, attention_dropout={:g}, use_cache=False, "
          "pad_token_id=None{}))",
          model.width, model.layers, model.heads, model.hidden(), vocabulary, variant.dropout,
          dropped, attention);
    default:
      break;
  }
  return {};
}

const char* blocks_of(const Transformer& model) {
  switch (model.family) {
    case Family::kBert:
      return "model.bert.encoder.layer";
    case Family::kGpt2:
      return "model.transformer.h";
    case Family::kOpt:
      return "model.model.decoder.layers";
    default:
      break;
  }
  return "";
}

// What its forward does before the blocks, as a module: `takes` of `module`, and what is returned.
std::vector<std::string> embeddings_of(std::string_view takes, std::string_view returned) {
  std::vector<std::string> of;
  for (std::size_t begin = 0; begin < takes.size();) {
    const std::size_t end = std::min(takes.find(' ', begin), takes.size());
    of.emplace_back(takes.substr(begin, end - begin));
    begin = end + 1;
  }
  return {"class Embeddings(nn.Module):",
          "    def __init__(self, of):",
          "        super().__init__()",
          fmt::format("        self.{} = of.{}", fmt::join(of, ", self."), fmt::join(of, ", of.")),
          "    def forward(self, x):",
          "        places = torch.arange(x.size(1), device=x.device)[None]",
          fmt::format("        return {}", returned)};
}

// Modules that, called one after the other, are the model. They are given no mask, which eager
// attention needs where SDPA has `is_causal`.
std::vector<std::string> parts_of(const Transformer& model, const Variant& variant,
                                  std::int64_t length) {
  std::vector<std::string> lines;
  switch (model.family) {
    case Family::kBert:
      return {"parts = [model.bert.embeddings, *model.bert.encoder.layer, model.cls]"};
    case Family::kGpt2:
      lines = embeddings_of("wte wpe drop", "self.drop(self.wte(x) + self.wpe(places))");
      lines.emplace_back(
          "parts = [Embeddings(model.transformer), *model.transformer.h, model.transformer.ln_f, "
          "model.lm_head]");
      break;
    case Family::kOpt:
      lines =
          embeddings_of("embed_tokens embed_positions",
                        "self.embed_tokens(x) + self.embed_positions(None, position_ids=places)");
      lines.emplace_back("decoder = model.model.decoder");
      lines.emplace_back(
          "parts = [Embeddings(decoder), *decoder.layers, decoder.final_layer_norm, "
          "model.lm_head]");
      break;
    default:
      return {};
  }
  if (variant.attention.kernel != AttentionKernel::kEager ||
      variant.attention.code == Family::kLearner)
    return lines;
  const std::vector<std::string> mask = mask_lines(blocks_of(model), length);
  lines.insert(lines.begin(), mask.begin(), mask.end());
  return lines;
}

const char* fewer_heads_of(const Transformer& model) {
  if (model.family == Family::kOpt) return "block.self_attn.num_heads //=";
  return model.family == Family::kGpt2 ? "block.attn.split_size //=" : "";
}

ListedModel listed_model(const Transformer& model, const Variant& variant, std::int64_t length) {
  ListedModel listed = listed_of_library(model.family == Family::kGpt2 &&
                                         variant.attention.kernel != AttentionKernel::kEager);
  listed.takes_positions = model.family != Family::kBert;
  listed.fewer_heads = fewer_heads_of(model);
  listed.parts = parts_of(model, variant, length);
  return listed;
}

}  // namespace

bool is_transformer(std::string_view model) {
  return find(model) != nullptr;
}

std::int64_t vocabulary_of(const program::Config& config) {
  const std::string& name = config.word("model.name");
  const Transformer* known = find(name);
  if (!known && !is_llama(name)) return 0;
  const std::int64_t size = config.whole("model.vocab_size");
  if (size > 0) return size;
  return known ? known->vocabulary : vocabulary_of_llama(name);
}

ListedModel listed_of_library(bool without_mask) {
  ListedModel listed;
  // Under a name of which transformers knows no mask it makes none.
  if (without_mask)
    listed.before = {
        "# else each forward asks the GPU whether sequences are packed, and waits",
        "transformers.AttentionInterface.register(\"without_mask\", sdpa_attention_forward)"};
  listed.whole = "model.register_forward_hook(lambda module, args, output: output.logits)";
  listed.checkpoints =
      "model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={\"use_reentrant\": "
      "False})";
  listed.is_recomputed = "gradient_checkpointing";
  listed.has_init_weights = true;
  listed.takes_positions = true;
  listed.parts_before_blocks = 1;
  return listed;
}

std::vector<std::string> mask_lines(std::string_view blocks, std::int64_t length) {
  return {fmt::format("mask = torch.full(({0}, {0}), -torch.inf, device=device).triu(1)", length),
          fmt::format("for block in {}:", blocks), "    block.register_forward_pre_hook(",
          "        lambda block, args, kwargs: (args, kwargs | {\"attention_mask\": mask}), "
          "with_kwargs=True)"};
}

void check_text(std::string_view model, std::int64_t positions, const TrainingData& data) {
  const std::int64_t length = data.shape.tokens;
  if (length == 0)
    throw InputError(
        fmt::format("{} reads text, and {} has none; set data.name = tokens", model, data.name));
  if (length > positions)
    throw InputError(
        fmt::format("{} has {} positions, and model.seq_len = {} needs more; set "
                    "model.seq_len = {} or less",
                    model, positions, length, positions));
}

Graph build_transformer(const program::Config& config, const TrainingData& data,
                        std::int64_t batch) {
  const Transformer* known = find(config.word("model.name"));
  assert(known);
  Transformer model = *known;
  model.vocabulary = vocabulary_of(config);
  check_text(model.name, model.positions, data);
  const Variant variant{config.number("model.dropout"), attention_way(config, model.family),
                        config.word("model.gelu") == "written_out"};
  Graph graph = TransformerBuilder(model, batch, variant).build(data.shape.tokens);
  graph.blocks = blocks_of(model);
  graph.listing = lines_of(fmt::format("model = {}.to(device)", constructor_of(model, variant)));
  graph.listed = listed_model(model, variant, data.shape.tokens);
  return graph;
}

}  // namespace trainscope::train
