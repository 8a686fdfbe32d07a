#include "train/compile/fusion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/whole.h"
#include "train/compile/fusion_loop.h"
#include "train/kernels/kernels.h"

namespace trainscope::train {
namespace {

using program::Index;
using program::Operation;

// Operations that become one kernel, in the order in which they are computed.
struct Node {
  std::vector<Index> operations;
  FusionLoop loop;
  bool generated = false;  // by Inductor; else a call of a library
  PlannedLaunch like;      // where it stands; of what is not compiled, all that is known of it
};

// Draws from the one stream of random numbers stay in their order.
constexpr Index kRandomNumbers = program::kNoIndex;

struct Uses {
  std::vector<Index> reads;
  std::vector<Index> writes;
};

Uses uses_of(const Operation& operation) {
  Uses uses{operation.reads, operation.writes};
  const auto* dropout = std::get_if<program::Dropout>(&operation.function);
  if (dropout && dropout->part == program::Part::kForward && !dropout->again)
    uses.writes.push_back(kRandomNumbers);
  return uses;
}

bool contains(const std::vector<Index>& list, Index one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

// ---- Which operations go together --------------------------------------------------------------

class Grouping {
 public:
  explicit Grouping(const program::Program& program) : program_(program) {}

  void add(const PlannedLaunch& like) {
    const Index operation = like.operation;
    const Operation& one = program_.operations[operation];
    const std::optional<FusionLoop> loop = fusion_loop(one.function);
    const Uses uses = uses_of(one);
    const std::size_t node = loop ? find(one, *loop, uses) : nodes_.size();
    if (node == nodes_.size()) {
      nodes_.push_back({{operation}, loop.value_or(FusionLoop()), loop.has_value(), like});
    } else {
      join(nodes_[node], operation, *loop);
    }
    for (const Index buffer : uses.reads) note(last_use_, buffer, node);
    for (const Index buffer : uses.writes) {
      note(last_use_, buffer, node);
      note(last_write_, buffer, node);
    }
  }

  std::vector<Node> nodes() { return std::move(nodes_); }

 private:
  using Places = std::map<Index, std::size_t>;

  static void note(Places& places, Index buffer, std::size_t node) {
    std::size_t& place = places[buffer];
    place = std::max(place, node);
  }
  static void wait_for(const Places& places, Index buffer, std::size_t& earliest) {
    if (const auto place = places.find(buffer); place != places.end())
      earliest = std::max(earliest, place->second);
  }

  // The last node that it fits, of those after which everything it depends on is there.
  std::size_t find(const Operation& one, const FusionLoop& loop, const Uses& uses) const {
    std::size_t earliest = 0;
    for (const Index buffer : uses.reads) wait_for(last_write_, buffer, earliest);
    for (const Index buffer : uses.writes) wait_for(last_use_, buffer, earliest);
    for (std::size_t node = nodes_.size(); node-- > earliest;)
      if (fits(nodes_[node], one, loop)) return node;
    return nodes_.size();
  }

  bool fits(const Node& node, const Operation& one, const FusionLoop& loop) const {
    if (!node.generated) return false;
    const bool sums = loop.results > 0, node_sums = node.loop.results > 0;
    if (sums && node_sums && (loop.results != node.loop.results || loop.inner != node.loop.inner))
      return false;
    const bool same = loop.elements == node.loop.elements;
    const bool of_results = !sums && node_sums && loop.elements == node.loop.results;
    if (!same && !of_results) return false;
    return share(node, one, loop);
  }

  // A tensor in common; and what it reads of the node's results lies where it loops.
  bool share(const Node& node, const Operation& one, const FusionLoop& loop) const {
    bool shared = false;
    for (const Index id : node.operations) {
      const Operation& other = program_.operations[id];
      for (const Index buffer : one.reads) {
        shared = shared || contains(other.reads, buffer);
        if (!contains(other.writes, buffer)) continue;
        shared = true;
        const bool elsewhere = loop.gathers || fusion_loop(other.function)->scatters;
        if (elsewhere || program_.buffers[buffer].elements() != loop.elements) return false;
      }
    }
    return shared;
  }

  static void join(Node& node, Index operation, const FusionLoop& loop) {
    node.operations.push_back(operation);
    if (loop.results == 0) return;
    node.loop.results = loop.results;
    node.loop.inner = loop.inner;
  }

  const program::Program& program_;
  std::vector<Node> nodes_;
  Places last_use_, last_write_;
};

// ---- What each kernel reads and writes ---------------------------------------------------------

// Over all nodes of a plan, in order.
class Traffic {
 public:
  Traffic(const program::Program& program, const std::set<Index>& own,
          const std::vector<Index>& kept)
      : program_(program), own_(own), kept_(kept) {}

  void add(const Node& node) {
    for (const Index buffer : read(node)) uses_[buffer].push_back({nodes_, true});
    for (const Index buffer : written(node))
      if (uses_[buffer].empty() || uses_[buffer].back().node != nodes_)
        uses_[buffer].push_back({nodes_, false});
    ++nodes_;
  }

  // Buffers that the node reads before it writes them, each once.
  std::vector<Index> read(const Node& node) const {
    std::vector<Index> read;
    std::set<Index> there;
    for (const Index id : node.operations) {
      for (const Index buffer : program_.operations[id].reads)
        if (there.insert(buffer).second) read.push_back(buffer);
      for (const Index buffer : program_.operations[id].writes) there.insert(buffer);
    }
    return read;
  }

  // What it leaves to others, each once. `number`: of the node, from 0.
  std::vector<Index> left(const Node& node, std::size_t number) const {
    std::vector<Index> left = written(node);
    std::erase_if(left, [&](Index buffer) { return !is_read_after(buffer, number); });
    return left;
  }

  std::vector<Index> written(const Node& node) const {
    std::vector<Index> written;
    for (const Index id : node.operations)
      for (const Index buffer : program_.operations[id].writes)
        if (!contains(written, buffer)) written.push_back(buffer);
    return written;
  }

 private:
  struct Use {
    std::size_t node = 0;
    bool reads = false;  // before it writes
  };

  bool is_read_after(Index buffer, std::size_t node) const {
    if (!own_.contains(buffer)) return true;
    for (const Use& use : uses_.at(buffer))
      if (use.node > node) return use.reads;
    return contains(kept_, buffer);
  }

  const program::Program& program_;
  const std::set<Index>& own_;
  const std::vector<Index>& kept_;
  std::map<Index, std::vector<Use>> uses_;
  std::size_t nodes_ = 0;
};

// ---- The kernels -------------------------------------------------------------------------------

// A sum over more than this loops over parts of it (torch/_inductor/choices.py:
// should_use_persistent_reduction).
constexpr std::int64_t kMostPersistent = 1024;

// "triton_poi_fused_add_relu_3": the kind of loop, what it does, the how-many-th of its graph.
std::string kernel_name(const program::Program& program, const Node& node, int number) {
  const FusionLoop& loop = node.loop;
  const bool sums = loop.results > 0;
  const bool persistent = sums && loop.inner && loop.elements / loop.results <= kMostPersistent;
  std::set<std::string> words;
  for (const Index id : node.operations) {
    const std::string& kernel = program.operations[id].kernel;
    words.insert(kernel.substr(0, kernel.find(' ')));
  }
  return fmt::format("triton_{}_fused_{}_{}",
                     persistent ? "per"
                     : sums     ? "red"
                                : "poi",
                     fmt::join(words, "_"), number);
}

// Bytes of the operands, with what parts read of tables only in part.
double traffic(const program::Program& program, const Node& node, const Operation& fused) {
  double bytes = 0;
  for (const auto* list : {&fused.reads, &fused.writes})
    for (const Index buffer : *list) bytes += of(program.buffers[buffer].bytes);
  for (const Index id : node.operations) {
    const Operation& part = program.operations[id];
    bytes += part.bytes;
    for (const auto* list : {&part.reads, &part.writes})
      for (const Index buffer : *list) bytes -= of(program.buffers[buffer].bytes);
  }
  return std::max(0.0, bytes);
}

Operation generated(const program::Program& program, const Node& node, const std::string& name,
                    std::vector<Index> reads, std::vector<Index> writes) {
  const Operation& first = program.operations[node.operations.front()];
  const auto kind = node.loop.results > 0 ? program::OperationKind::kReduction
                                          : program::OperationKind::kElementwise;
  Operation fused = pointwise(name, name, kind, node.loop.elements, 0, 0);
  fused.type = first.type;
  fused.is_gradient = first.is_gradient;
  fused.compiled = true;
  fused.reads = std::move(reads);
  fused.writes = std::move(writes);
  fused.bytes = traffic(program, node, fused);
  for (const Index id : node.operations) {
    fused.flops += program.operations[id].flops;
    fused.parts.push_back(program.operations[id]);
  }
  return fused;
}

// The operator of the library: in backward there are no nodes of autograd left to name it.
Operation called(const Operation& operation) {
  Operation call = operation;
  call.compiled = true;
  if (!call.is_gradient) return call;
  if (std::holds_alternative<program::Linear>(call.function)) call.framework = "aten::mm";
  if (std::holds_alternative<program::Convolution>(call.function))
    call.framework = "aten::convolution_backward";
  if (std::holds_alternative<program::Attention>(call.function))
    call.framework = "aten::scaled_dot_product_attention_backward";
  return call;
}

class Fuser {
 public:
  Fuser(program::Program& program, const std::set<Index>& own, const std::vector<Index>& kept,
        Index first)
      : program_(program), traffic_(program, own, kept), first_(first) {}

  void run(Plan& plan) {
    std::vector<PlannedLaunch>* lists[] = {&plan.forward, &plan.loss, &plan.scale, &plan.backward};
    std::vector<std::vector<Node>> nodes;
    for (const std::vector<PlannedLaunch>* list : lists) nodes.push_back(group(*list));
    for (const std::vector<Node>& of_list : nodes)
      for (const Node& node : of_list) traffic_.add(node);
    for (std::size_t i = 0; i < nodes.size(); ++i) *lists[i] = launches(nodes[i]);
    program_.operations.resize(first_);
    program_.operations.insert(program_.operations.end(),
                               std::make_move_iterator(operations_.begin()),
                               std::make_move_iterator(operations_.end()));
    take_memory_away();
  }

 private:
  // From results that never leave a kernel: no kernel of any plan reads or writes them from
  // outside. One that is recomputed, or that another plan keeps, does leave one.
  void take_memory_away() {
    for (const Index buffer : inner_) program_.buffers[buffer].is_view = true;
    for (const Operation& operation : program_.operations)
      for (const auto* list : {&operation.reads, &operation.writes})
        for (const Index buffer : *list) program_.buffers[buffer].is_view = false;
  }

  // What is not compiled is a node of its own.
  std::vector<Node> group(const std::vector<PlannedLaunch>& launches) const {
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < launches.size();) {
      if (!launches[i].is_compiled()) {
        nodes.push_back({{launches[i].operation}, {}, false, launches[i]});
        ++i;
        continue;
      }
      Grouping grouping(program_);
      for (const std::size_t end = end_of_piece(launches, i); i < end; ++i)
        grouping.add(launches[i]);
      for (Node& node : grouping.nodes()) nodes.push_back(std::move(node));
    }
    return nodes;
  }

  std::vector<PlannedLaunch> launches(const std::vector<Node>& nodes) {
    std::vector<PlannedLaunch> launches;
    int kernels = 0, piece = PlannedLaunch::kNotCompiled;
    for (const Node& node : nodes) {
      if (std::exchange(piece, node.like.piece) != node.like.piece) kernels = 0;
      operations_.push_back(operation_of(node, kernels));
      PlannedLaunch& launch = launches.emplace_back(node.like);
      launch.operation = static_cast<Index>(first_ + operations_.size() - 1);
      launch.same_operator = launch.same_operator && !launch.is_compiled();
    }
    return launches;
  }

  Operation operation_of(const Node& node, int& kernels) {
    const std::size_t number = done_++;
    const Operation& first = program_.operations[node.operations.front()];
    if (!node.like.is_compiled()) return first;
    if (!node.generated) return called(first);
    std::vector<Index> left = traffic_.left(node, number);
    for (const Index buffer : traffic_.written(node))
      if (!contains(left, buffer)) inner_.insert(buffer);
    return generated(program_, node, kernel_name(program_, node, kernels++), traffic_.read(node),
                     std::move(left));
  }

  program::Program& program_;
  Traffic traffic_;
  Index first_;
  std::vector<Operation> operations_;
  std::set<Index> inner_;  // results that some kernel keeps to itself
  std::size_t done_ = 0;
};

}  // namespace

void fuse(program::Program& program, Plan& plan, const std::set<Index>& own,
          const std::vector<Index>& kept, Index first) {
  Fuser(program, own, kept, first).run(plan);
}

}  // namespace trainscope::train
