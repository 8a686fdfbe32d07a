#include "train/parallel/sequence_parallel.h"

#include <algorithm>
#include <cassert>

namespace trainscope::train {
namespace {

bool works_by_token(const program::Function& function) {
  return std::holds_alternative<program::LayerNorm>(function) ||
         std::holds_alternative<program::RmsNorm>(function) ||
         std::holds_alternative<program::Dropout>(function) ||
         std::holds_alternative<program::Add>(function);
}

class SequenceCutter {
 public:
  explicit SequenceCutter(const Graph& cut) : graph_(cut), written_by_(cut.values.size()) {
    graph_.parts.resize(graph_.values.size());
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) written_by_[graph_.layers[i].output] = i;
  }

  Graph cut() {
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
      Layer& layer = graph_.layers[i];
      const bool looks_up = layer.cut == Cut::kVocabulary;
      before_pairs_ = before_pairs_ && (layer.cut == Cut::kNone || looks_up);
      if (layer.cut == Cut::kRows || looks_up) {
        make_part(layer.output);
      } else if (auto* places = std::get_if<program::AddPositions>(&layer.function);
                 places && graph_.is_part(layer.inputs[0])) {
        make_part(layer.output);
        cut_table(*places);
      } else if (has_part(layer)) {
        for (const ValueId input : layer.inputs) keep_part(input);
        cut_layer(layer);
      }
    }
    return std::move(graph_);
  }

 private:
  // Of a table whose vectors are added to a part: those of its places, or one for all tokens.
  void cut_table(program::AddPositions& table) const {
    if (table.batch == graph_.batch) {
      table.length /= graph_.ranks;
      table.ranks = graph_.ranks;
    } else {
      table.batch /= graph_.ranks;
    }
  }

  // Behind the head's gathering all is whole again.
  bool has_part(const Layer& layer) const {
    if (!works_by_token(layer.function)) return false;
    return before_pairs_ ||
           std::ranges::any_of(layer.inputs, [&](ValueId input) { return graph_.is_part(input); });
  }

  void make_part(ValueId value) {
    graph_.parts[value] = true;
    graph_.values[value] /= graph_.ranks;
  }

  void keep_part(ValueId value) {
    if (graph_.is_part(value)) return;
    graph_.layers[written_by_[value]].keeps_part = true;
    make_part(value);
  }

  // Of its weights' gradients each rank has those of its tokens.
  void cut_layer(Layer& layer) {
    make_part(layer.output);
    if (auto* norm = std::get_if<program::LayerNorm>(&layer.function)) {
      norm->rows /= graph_.ranks;
      for (SideResult& side : layer.side_results) side.elements /= graph_.ranks;
    } else if (auto* root = std::get_if<program::RmsNorm>(&layer.function)) {
      root->rows /= graph_.ranks;
      for (SideResult& side : layer.side_results) side.elements /= graph_.ranks;
    } else if (auto* dropout = std::get_if<program::Dropout>(&layer.function)) {
      dropout->elements /= graph_.ranks;
      layer.side_results[1].elements = dropout->elements;
      dropout->ranks = graph_.ranks;
    } else {
      std::get<program::Add>(layer.function).elements /= graph_.ranks;
    }
    for (const ParameterId id : layer.parameters) graph_.parameters[id].by_tokens = true;
  }

  Graph graph_;
  std::vector<std::size_t> written_by_;  // layer, by value
  bool before_pairs_ = true;
};

}  // namespace

Graph cut_sequence(const Graph& cut) {
  assert(cut.reads_tokens && cut.values[0] / cut.batch % cut.ranks == 0);
  return SequenceCutter(cut).cut();
}

}  // namespace trainscope::train
