#include "train/compile/compiled_pieces.h"

#include <algorithm>
#include <numeric>

#include "train/autograd/tape.h"
#include "train/parallel/ddp_buckets.h"

namespace trainscope::train {
namespace {

std::vector<std::int64_t> bytes_of_layers(const Graph& graph, program::ElementType type) {
  std::vector<std::int64_t> bytes;
  for (const Layer& layer : graph.layers) {
    std::int64_t& sum = bytes.emplace_back(0);
    for (const ParameterId id : layer.parameters)
      if (graph.parameters[id].trained)
        sum += graph.parameters[id].elements * program::size_of(type);
  }
  return bytes;
}

// Where the nodes of the graph that Dynamo hands over begin among the layers: a block that is
// recomputed is one node (torch.ops.higher_order.tag_activation_checkpoint), and is not cut.
std::vector<std::size_t> begins_of_nodes(const Graph& graph, int checkpoint_every) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const int block = graph.layers[i].block;
    const bool is_one = is_recomputed(block, checkpoint_every);
    if (i == 0 || !is_one || block != graph.layers[i - 1].block) begins.push_back(i);
  }
  return begins;
}

std::vector<int> pieces_of_ddp(const program::Config& config, const TrainSettings& settings,
                               const Graph& graph) {
  std::vector<std::size_t> begins = begins_of_nodes(graph, settings.checkpoint_every);
  begins.push_back(graph.layers.size());
  const std::vector<std::int64_t> bytes = bytes_of_layers(graph, settings.parameter_type);
  std::vector<std::int64_t> of_nodes;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i)
    of_nodes.push_back(
        std::accumulate(bytes.begin() + begins[i], bytes.begin() + begins[i + 1], std::int64_t{0}));
  // The cap of the first bucket stays what it is whatever bucket_cap_mb says.
  const std::vector<int> cut =
      pieces_at_buckets(of_nodes, BucketCaps{}.first, bucket_caps(config).others);
  std::vector<int> pieces;
  for (std::size_t i = 0; i < cut.size(); ++i) pieces.resize(begins[i + 1], cut[i]);
  return pieces;
}

std::vector<int> pieces_of_blocks(const Graph& graph) {
  std::vector<int> pieces;
  for (const Layer& layer : graph.layers)
    pieces.push_back(layer.block == 0 ? PlannedLaunch::kNotCompiled : layer.block - 1);
  return pieces;
}

}  // namespace

std::vector<int> pieces_at_buckets(const std::vector<std::int64_t>& bytes, std::int64_t first,
                                   std::int64_t others) {
  std::vector<int> pieces(bytes.size());
  std::int64_t size = 0;
  int from_behind = 0, last_filled = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    if (size >= (from_behind == 0 ? first : others)) {
      size = 0;
      ++from_behind;
    }
    size += bytes[i];
    pieces[i] = from_behind;
    if (size > 0) last_filled = from_behind;
  }
  for (int& piece : pieces) piece = last_filled - std::min(piece, last_filled);
  return pieces;
}

std::vector<int> compiled_pieces(const program::Config& config, const TrainSettings& settings,
                                 const Graph& graph) {
  if (!settings.compile.any()) return {};
  if (settings.ddp && settings.compile.optimize_ddp) return pieces_of_ddp(config, settings, graph);
  if (settings.fsdp && config.word("fsdp.wrap") == "block") return pieces_of_blocks(graph);
  return std::vector<int>(graph.layers.size(), 0);
}

int count_pieces(const std::vector<int>& pieces) {
  return pieces.empty() ? 0 : *std::ranges::max_element(pieces) + 1;
}

}  // namespace trainscope::train
