#include "train/listing/attention_listing.h"

#include <fmt/format.h>

#include "train/model/published_models.h"

namespace trainscope::train {
namespace {

// By a learner; null: none is.
const program::Attention* written_out(const Graph& graph) {
  for (const Layer& layer : graph.layers) {
    const auto* attention = std::get_if<program::Attention>(&layer.function);
    if (attention && attention->eager && attention->code == program::AttentionCode::kLearner)
      return attention;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> attention_lines(const Graph& graph, std::string_view model) {
  const program::Attention* attention = written_out(graph);
  if (!attention) return {};
  const bool registers = is_transformer(model) || is_llama(model);
  std::vector<std::string> lines;
  if (attention->causal)
    lines.push_back(
        fmt::format("mask = torch.tril(torch.ones({0}, {0}, device=device))", attention->length));
  lines.emplace_back(registers ? "def attention(module, q, k, v, *args, **kwargs):"
                               : "def attention(q, k, v):");
  if (attention->is_grouped())
    lines.emplace_back(
        "    k, v = (t.repeat_interleave(module.num_key_value_groups, 1) for t in (k, v))");
  lines.emplace_back("    att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))");
  if (attention->causal)
    lines.emplace_back("    att = att.masked_fill(mask == 0, float(\"-inf\"))");
  lines.emplace_back("    att = F.softmax(att, dim=-1)");
  if (attention->dropout > 0)
    lines.push_back(fmt::format("    att = F.dropout(att, {:g})", attention->dropout));
  lines.emplace_back("    y = (att @ v).transpose(1, 2).contiguous()");
  lines.emplace_back(registers ? "    return y, None" : "    return y");
  if (registers)
    lines.emplace_back("transformers.AttentionInterface.register(\"written_out\", attention)");
  return lines;
}

}  // namespace trainscope::train
