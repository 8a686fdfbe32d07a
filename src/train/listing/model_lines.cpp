#include "train/listing/model_lines.h"

#include <algorithm>

namespace trainscope::train {
namespace {

// Modules are made in the order of the graph's parameters.
constexpr const char* kBlock = R"(class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.norm_1, self.qkv = nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.projection, self.norm_2 = nn.Linear(width, width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.of_head, self.dropout = width // heads, nn.Dropout(dropout))";

constexpr const char* kForward = R"(
    def forward(self, x):)";

constexpr const char* kUnlessKept = R"(
        if not self.is_recomputed: return self.layers(x))";

constexpr const char* kRecomputed = R"(
        return checkpoint(self.layers, x, use_reentrant=False)
    def layers(self, x):)";

constexpr const char* kHeads = R"(
        qkv = self.qkv(self.norm_1(x)).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (-1, self.of_head)).transpose(1, 2) for t in qkv))";

constexpr const char* kOwnAttention = R"(
        y = attention(q, k, v))";

constexpr const char* kAttention = R"(
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2))";

constexpr const char* kRest = R"(
        x = x + self.dropout(self.projection(y.flatten(2)))
        y = F.gelu(self.up(self.norm_2(x)), approximate="tanh")
        return x + self.dropout(self.down(y))
class GPT(nn.Module):
    def __init__(self, vocabulary, length, width, heads, blocks, dropout):
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(blocks))
        self.last_norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.init_weights()
    def init_weights(self):
        for name, p in self.named_parameters():
            if p.dim() > 1: nn.init.normal_(p, std=0.02)
            else: nn.init.constant_(p, float("norm" in name and "weight" in name))
    def embed(self, x):
        places = torch.arange(x.size(1), device=x.device)[None]
        return self.dropout(self.token(x) + self.position(places))
    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks: x = block(x)
        return self.head(self.last_norm(x)))";

constexpr const char* kParts = R"(class Embeddings(nn.Module):
    def __init__(self, of):
        super().__init__()
        self.token, self.position, self.dropout = of.token, of.position, of.dropout
    forward = GPT.embed
parts = [Embeddings(model), *model.blocks, model.last_norm, model.head])";

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

ListedModel listed_gpt(bool written_out, int checkpoint_every) {
  ListedModel listed;
  std::string block = std::string(kBlock) + kForward;
  if (checkpoint_every > 1) block += kUnlessKept;
  if (checkpoint_every > 0) block += kRecomputed;
  listed.before = lines_of(block + kHeads + (written_out ? kOwnAttention : kAttention) + kRest);
  listed.is_recomputed = "is_recomputed";
  listed.has_init_weights = true;
  listed.parts = lines_of(kParts);
  listed.parts_before_blocks = 1;
  return listed;
}

}  // namespace trainscope::train
