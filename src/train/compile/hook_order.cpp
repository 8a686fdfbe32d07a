#include "train/compile/hook_order.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "train/compile/compiled_pieces.h"

namespace trainscope::train {
namespace {

// A node that is ready: a parameter's, or else the piece before, which comes after all of them.
using Ready = std::optional<ParameterId>;

bool comes_after(const Ready& a, const Ready& b) {
  return !a && b;
}

// std::push_heap and std::pop_heap step by step, the same wherever this is compiled.
class ReadyQueue {
 public:
  void push(Ready one) {
    heap_.emplace_back();
    rise(heap_.size() - 1, one);
  }

  Ready pop() {
    const Ready first = heap_.front(), last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return first;
    std::size_t hole = 0;
    for (std::size_t child = 2; child <= heap_.size(); child = 2 * (hole + 1)) {
      if (child == heap_.size() || comes_after(heap_[child], heap_[child - 1])) --child;
      heap_[hole] = heap_[child];
      hole = child;
    }
    rise(hole, last);
    return first;
  }

  bool empty() const { return heap_.empty(); }

 private:
  void rise(std::size_t hole, Ready one) {
    for (; hole > 0 && comes_after(heap_[(hole - 1) / 2], one); hole = (hole - 1) / 2)
      heap_[hole] = heap_[(hole - 1) / 2];
    heap_[hole] = one;
  }

  std::vector<Ready> heap_;
};

// transformers' GPT-2 has torch.addmm(bias, x, weight) where others have F.linear.
bool takes_bias_first(const Layer& layer) {
  return std::holds_alternative<program::Linear>(layer.function) &&
         layer.name.find(".c_") != std::string::npos && layer.parameters.size() == 2;
}

class PieceInputs {
 public:
  PieceInputs(const Graph& graph, const std::vector<int>& pieces) : graph_(graph), pieces_(pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      piece_of_[graph.layers[i].output] = pieces[i];
      for (const ParameterId id : graph.layers[i].parameters) first_use_.try_emplace(id, pieces[i]);
    }
  }

  // What the backward of a piece makes ready, in the order of what its forward was given.
  std::vector<Ready> made_ready(int piece) {
    ready_.clear();
    given_.clear();
    values_.clear();
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      if (pieces_[i] == piece) add(graph_.layers[i], piece);
    return std::move(ready_);
  }

 private:
  void add(const Layer& layer, int piece) {
    const bool bias_first = takes_bias_first(layer);
    if (bias_first) add_parameter(layer.parameters[1], piece);
    for (const ValueId value : layer.inputs) add_value(value, piece);
    for (const ParameterId id : layer.parameters) add_parameter(id, piece);
  }

  void add_parameter(ParameterId id, int piece) {
    const Parameter& one = graph_.parameters[id];
    if (!one.trained || !one.reached || !given_.insert(id).second) return;
    if (first_use_.at(id) == piece) ready_.emplace_back(id);
  }

  // The piece before is ready once all of its results that this one reads have a gradient.
  void add_value(ValueId value, int piece) {
    const auto from = piece_of_.find(value);
    if (from == piece_of_.end() || from->second != piece - 1 || piece == 0) return;
    if (!values_.insert(value).second) return;
    std::erase(ready_, Ready());
    ready_.emplace_back();
  }

  const Graph& graph_;
  const std::vector<int>& pieces_;
  std::map<ValueId, int> piece_of_;       // that computes it
  std::map<ParameterId, int> first_use_;  // the piece
  std::vector<Ready> ready_;
  std::set<ParameterId> given_;
  std::set<ValueId> values_;
};

}  // namespace

std::vector<ParameterId> hook_order(const Graph& graph, const std::vector<int>& pieces) {
  std::vector<ParameterId> order;
  PieceInputs inputs(graph, pieces);
  for (int piece = count_pieces(pieces); piece-- > 0;) {
    ReadyQueue queue;
    for (const Ready& one : inputs.made_ready(piece)) queue.push(one);
    while (!queue.empty())
      if (const Ready one = queue.pop()) order.push_back(*one);
  }
  return order;
}

}  // namespace trainscope::train
