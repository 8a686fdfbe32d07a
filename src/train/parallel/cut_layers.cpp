#include "train/parallel/cut_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/error.h"
#include "train/model/models.h"
#include "train/parallel/sequence_parallel.h"

namespace trainscope::train {
namespace {

constexpr std::int64_t kProjections = 3;  // of a layer that gives queries, keys and values

// Two linear layers or more, and what lies between them: places among the graph's layers.
struct Pair {
  std::vector<std::size_t> columns;
  std::vector<std::size_t> between;
  std::size_t rows = 0;
};

class PairFinder {
 public:
  explicit PairFinder(const Graph& graph)
      : graph_(graph),
        written_by_(graph.values.size(), kNobody),
        readers_(graph.values.size()),
        users_(graph.parameters.size()),
        taken_(graph.layers.size()) {
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      written_by_[graph.layers[i].output] = i;
      for (const ValueId input : graph.layers[i].inputs) ++readers_[input];
      for (const ParameterId parameter : graph.layers[i].parameters) ++users_[parameter];
    }
    ++readers_[graph.logits];
  }

  std::vector<Pair> pairs() {
    std::vector<Pair> all;
    for (std::size_t i = 0; i < graph_.layers.size(); ++i)
      if (auto pair = pair_before(i)) all.push_back(std::move(*pair));
    return all;
  }

 private:
  static constexpr std::size_t kNobody = SIZE_MAX;

  // A linear layer with weights of its own, and of no other pair.
  bool can_be_cut(std::size_t i) const {
    const Layer& layer = graph_.layers[i];
    return !taken_[i] && std::holds_alternative<program::Linear>(layer.function) &&
           std::ranges::all_of(layer.parameters, [&](ParameterId id) { return users_[id] == 1; });
  }

  std::optional<Pair> pair_before(std::size_t rows) {
    if (!can_be_cut(rows)) return std::nullopt;
    Pair pair;
    pair.rows = rows;
    if (!go_back(graph_.layers[rows].inputs[0], pair)) return std::nullopt;
    taken_[rows] = true;
    for (const std::size_t column : pair.columns) taken_[column] = true;
    return pair;
  }

  // From a value to the linear layers that it follows from, on every way to it.
  bool go_back(ValueId value, Pair& pair) const {
    const std::size_t at = written_by_[value];
    if (at == kNobody || readers_[value] != 1) return false;
    const Layer& layer = graph_.layers[at];
    if (std::holds_alternative<program::Linear>(layer.function)) {
      pair.columns.push_back(at);
      return can_be_cut(at);
    }
    pair.between.push_back(at);
    const bool is_own = std::holds_alternative<program::Activation>(layer.function) ||
                        std::holds_alternative<program::Product>(layer.function) ||
                        std::holds_alternative<program::Rotate>(layer.function) ||
                        std::holds_alternative<program::Attention>(layer.function);
    return is_own &&
           std::ranges::all_of(layer.inputs, [&](ValueId input) { return go_back(input, pair); });
  }

  const Graph& graph_;
  std::vector<std::size_t> written_by_;  // layer, by value
  std::vector<int> readers_;             // by value
  std::vector<int> users_;               // by parameter
  std::vector<bool> taken_;              // by layer
};

class Cutter {
 public:
  Cutter(Graph& graph, int ranks) : graph_(graph), ranks_(ranks) { graph.ranks = ranks; }

  void cut(const Pair& pair) {
    bool packed = false;
    for (const std::size_t at : pair.between) packed = cut_between(graph_.layers[at]) || packed;
    for (const std::size_t at : pair.columns) cut_columns(graph_.layers[at], packed);
    cut_rows(graph_.layers[pair.rows]);
  }

  // Rows of the vocabulary, of the embedding and of the head, as torch.chunk shares them out: the
  // last rank may have fewer, of which it has as many as the others here, and reads no more of
  // them.
  void cut_vocabulary() {
    graph_.own_classes = (graph_.classes + ranks_ - 1) / ranks_;
    if (graph_.own_classes * (ranks_ - 1) >= graph_.classes)
      throw InputError(fmt::format(
          "tensor.loss_parallel cannot share out a vocabulary of {} to {} ranks: the last of them "
          "would have nothing; set parallel.world_size or tensor.degree to {} or less",
          graph_.classes, ranks_, most_ranks()));
    for (Layer& layer : graph_.layers) {
      if (layer.output == graph_.logits) cut_head(layer);
      auto* table = std::get_if<program::Embedding>(&layer.function);
      if (!table) continue;
      table->vocabulary = graph_.own_classes;
      table->ranks = ranks_;
      layer.cut = Cut::kVocabulary;
      cut_classes(graph_.parameters[layer.parameters[0]]);
    }
  }

 private:
  void cut_head(Layer& head) {
    auto& linear = std::get<program::Linear>(head.function);
    linear.outputs = graph_.own_classes;
    graph_.values[head.output] = linear.rows * linear.outputs;
    head.cut = Cut::kColumns;
    for (const ParameterId id : head.parameters) cut_classes(graph_.parameters[id]);
  }

  // Once, where head and embedding have one matrix.
  void cut_classes(Parameter& parameter) const {
    if (parameter.initial.by_rank) return;
    const std::int64_t width = parameter.elements / graph_.classes;
    parameter.whole = parameter.elements;
    parameter.elements = graph_.own_classes * width;
    parameter.initial.by_rank = true;
    parameter.initial.ranks = ranks_;
  }

  // Of which each has some of the classes.
  std::int64_t most_ranks() const {
    std::int64_t ranks = ranks_;
    while ((graph_.classes + ranks - 1) / ranks * (ranks - 1) >= graph_.classes) --ranks;
    return ranks;
  }

  std::int64_t part_of(std::int64_t number, const char* what) const {
    if (number % ranks_ != 0)
      throw InputError(
          fmt::format("{} ranks of tensor parallelism cannot share out {} {} in equal parts; set "
                      "parallel.world_size or tensor.degree to a number that divides {}",
                      ranks_, number, what, number));
    return number / ranks_;
  }

  // Whether it is an attention whose queries, keys and values lie behind one another.
  bool cut_between(Layer& layer) {
    graph_.values[layer.output] /= ranks_;
    if (auto* activation = std::get_if<program::Activation>(&layer.function)) {
      activation->elements /= ranks_;
      return false;
    }
    if (auto* product = std::get_if<program::Product>(&layer.function)) {
      product->elements /= ranks_;
      return false;
    }
    if (auto* rotation = std::get_if<program::Rotate>(&layer.function)) {
      rotation->heads = part_of(rotation->heads, "heads of keys");
      return false;
    }
    auto& attention = std::get<program::Attention>(layer.function);
    attention.heads = part_of(attention.heads, "heads");
    attention.kv_heads = part_of(attention.kv_heads, "heads of keys and values");
    for (SideResult& side : layer.side_results) side.elements /= ranks_;
    return attention.packed;
  }

  void cut_columns(Layer& layer, bool packed) {
    auto& linear = std::get<program::Linear>(layer.function);
    linear.outputs = part_of(linear.outputs, "outputs of a linear layer");
    graph_.values[layer.output] /= ranks_;
    layer.cut = Cut::kColumns;
    for (const ParameterId id : layer.parameters)
      cut_parameter(graph_.parameters[id], packed ? kProjections : 1);
  }

  // Its bias every rank has whole.
  void cut_rows(Layer& layer) {
    auto& linear = std::get<program::Linear>(layer.function);
    linear.inputs = part_of(linear.inputs, "inputs of a linear layer");
    layer.cut = Cut::kRows;
    cut_parameter(graph_.parameters[layer.parameters[0]], linear.outputs);
  }

  void cut_parameter(Parameter& parameter, std::int64_t runs) const {
    parameter.elements /= ranks_;
    parameter.initial.by_rank = true;
    parameter.initial.runs = runs;
    parameter.initial.ranks = ranks_;
  }

  Graph& graph_;
  int ranks_;
};

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char one) { return std::isdigit(one) != 0; });
}

// Behind "transformer.h.3." or "block 4, "; of "linear 2", a module of nn.Sequential, its place
// there, where every other module is a ReLU.
std::string name_in_block(const std::string& name) {
  constexpr std::string_view kInSequence = "linear ";
  if (name.starts_with(kInSequence) && is_number(name.substr(kInSequence.size())))
    return std::to_string(2 * (std::stoll(name.substr(kInSequence.size())) - 1));
  if (const std::size_t comma = name.find(", "); comma != std::string::npos)
    return name.substr(comma + 2);
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    if (is_number(name.substr(begin, end - begin)) && end < name.size())
      return name.substr(end + 1);
    begin = end + 1;
  }
  return name;
}

}  // namespace

Graph cut_layers(const Graph& whole, int ranks, bool cuts_vocabulary) {
  Graph graph = whole;
  const std::vector<Pair> pairs = PairFinder(whole).pairs();
  if (pairs.empty())
    throw InputError(
        "parallel.strategy = tensor cuts pairs of linear layers, and this model has none; choose "
        "a transformer or an mlp, or parallel.strategy = ddp");
  Cutter cutter(graph, ranks);
  for (const Pair& pair : pairs) cutter.cut(pair);
  if (cuts_vocabulary) cutter.cut_vocabulary();
  return graph;
}

Graph build_own_model(const program::Config& config, const TrainSettings& settings,
                      std::int64_t samples) {
  Graph whole = build_model(config, settings.data, samples);
  if (!settings.tensor_parallel) return whole;
  Graph cut = cut_layers(whole, settings.tensor_ranks, settings.loss_parallel);
  cut.sums_in_backward = settings.ddp;
  return settings.sequence_parallel ? cut_sequence(cut) : cut;
}

bool is_added(const Graph& graph, const Layer& layer) {
  return std::ranges::any_of(graph.layers, [&](const Layer& other) {
    return std::holds_alternative<program::Add>(other.function) &&
           std::ranges::find(other.inputs, layer.output) != other.inputs.end();
  });
}

bool is_of_vocabulary(const Graph& graph, const Layer& layer) {
  return layer.cut == Cut::kVocabulary || (graph.own_classes > 0 && layer.output == graph.logits);
}

std::vector<CutName> cut_names(const Graph& graph) {
  const auto shares_input = [&](const Layer& layer) {
    return std::ranges::count_if(graph.layers, [&](const Layer& other) {
             return other.cut == Cut::kColumns && other.inputs == layer.inputs;
           }) > 1;
  };
  std::vector<CutName> names;
  for (const Layer& layer : graph.layers) {
    const bool is_norm = std::holds_alternative<program::LayerNorm>(layer.function) ||
                         std::holds_alternative<program::RmsNorm>(layer.function);
    const bool is_between = is_norm && layer.block > 0 && graph.is_part(layer.output);
    if ((layer.cut == Cut::kNone && !is_between) || is_of_vocabulary(graph, layer)) continue;
    const std::string name = name_in_block(layer.name);
    if (std::ranges::none_of(names, [&](const CutName& one) { return one.name == name; }))
      names.push_back({name, layer.cut, layer.cut == Cut::kColumns && shares_input(layer),
                       is_added(graph, layer)});
  }
  return names;
}

}  // namespace trainscope::train
