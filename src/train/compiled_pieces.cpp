#include "train/compiled_pieces.h"

#include <algorithm>

#include "base/error.h"
#include "train/ddp_buckets.h"
#include "train/tape.h"

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

bool has_batch_norm(const Graph& graph) {
  return std::ranges::any_of(graph.layers, [](const Layer& layer) {
    return std::holds_alternative<program::BatchNorm>(layer.function);
  });
}

// A piece that is cut out by DDPOptimizer does not know that the moments it writes stay where they
// are ("skipping cudagraphs due to mutated inputs").
void refuse_to_replay(const TrainSettings& settings, const Graph& graph) {
  if (settings.compile.cuda_graph && has_batch_norm(graph))
    throw InputError(
        "PyTorch makes no CUDA graphs of batch norms in a model that is cut at the buckets of "
        "DistributedDataParallel; set compile.optimize_ddp = false, or compile.cuda_graph = false");
}

std::vector<int> pieces_of_ddp(const program::Config& config, const TrainSettings& settings,
                               const Graph& graph) {
  refuse_to_replay(settings, graph);
  // The cap of the first bucket stays what it is whatever bucket_cap_mb says.
  return pieces_at_buckets(bytes_of_layers(graph, settings.parameter_type), BucketCaps{}.first,
                           bucket_caps(config).others);
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
