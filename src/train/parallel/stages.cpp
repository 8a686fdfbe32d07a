#include "train/parallel/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "base/error.h"
#include "train/model/model_flops.h"

namespace trainscope::train {
namespace {

// Layers [begin, end) that stay together.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
  double flops = 0;  // of their forward
};

// Where a layer's block is another than the one's before.
std::vector<Part> runs_of_blocks(const Graph& graph) {
  std::vector<Part> runs;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    if (i == 0 || graph.layers[i].block != graph.layers[i - 1].block) runs.push_back({i, i, 0});
    runs.back().end = i + 1;
  }
  return runs;
}

// The arithmetic of each run, by the launches that a forward of it has.
void count_flops(const Graph& graph, std::vector<Part>& runs) {
  const LonePlan alone = plan_alone(graph);
  std::size_t run = 0;
  for (const PlannedLaunch& launch : alone.plan.forward) {
    while (run + 1 < runs.size() && launch.block != graph.layers[runs[run].begin].block) ++run;
    runs[run].flops += alone.program.operations[launch.operation].flops;
  }
}

// One value alone is made before a layer and read from there on.
bool can_cut_before(const Graph& graph, std::size_t layer) {
  std::vector<bool> made(graph.values.size(), false);
  made[0] = true;
  for (std::size_t i = 0; i < layer; ++i) made[graph.layers[i].output] = true;
  std::optional<ValueId> crosses;
  for (std::size_t i = layer; i < graph.layers.size(); ++i)
    for (const ValueId input : graph.layers[i].inputs) {
      if (!made[input]) continue;
      if (crosses && *crosses != input) return false;
      crosses = input;
    }
  return crosses == graph.layers[layer - 1].output;
}

std::vector<Part> parts_of(const Graph& graph) {
  std::vector<Part> runs = runs_of_blocks(graph);
  count_flops(graph, runs);
  std::vector<Part> parts;
  for (const Part& run : runs) {
    const bool apart = !parts.empty() && can_cut_before(graph, run.begin);
    if (parts.empty() || apart) {
      parts.push_back(run);
    } else {
      parts.back().end = run.end;
      parts.back().flops += run.flops;
    }
  }
  return parts;
}

// The first part of each stage, such that the most that a stage has is as little as can be: the
// best cuts of all parts into one stage less, and so on.
std::vector<std::size_t> best_cuts(const std::vector<Part>& parts, std::size_t stages) {
  const std::size_t count = parts.size();
  constexpr double kNever = std::numeric_limits<double>::infinity();
  // By stages used and parts placed: the most of a stage, and where the last one begins.
  std::vector most(stages + 1, std::vector<double>(count + 1, kNever));
  std::vector begins(stages + 1, std::vector<std::size_t>(count + 1, 0));
  most[0][0] = 0;
  for (std::size_t used = 1; used <= stages; ++used)
    for (std::size_t placed = used; placed <= count; ++placed) {
      double last = 0;
      for (std::size_t begin = placed; begin-- > used - 1;) {
        last += parts[begin].flops;
        const double worst = std::max(most[used - 1][begin], last);
        if (worst >= most[used][placed]) continue;
        most[used][placed] = worst;
        begins[used][placed] = begin;
      }
    }
  std::vector<std::size_t> first(stages);
  for (std::size_t stage = stages, end = count; stage-- > 0; end = first[stage])
    first[stage] = begins[stage + 1][end];
  return first;
}

[[noreturn]] void refuse_so_many(std::size_t parts, int ranks, int stages_per_rank,
                                 std::string_view knob) {
  const bool several = stages_per_rank > 1;
  throw InputError(fmt::format(
      "{} = {}{} is more stages than the model has parts: it can be cut into {} "
      "between its blocks; {}, or make the model deeper",
      knob, ranks,
      several ? fmt::format(" with pipeline.stages_per_rank = {}", stages_per_rank) : "", parts,
      several ? "lower one of the two" : fmt::format("write at most {}", parts)));
}

// Layers [begin, end) as a graph of their own.
Stage stage_of(const Graph& whole, std::size_t begin, std::size_t end) {
  Stage stage;
  Graph& graph = stage.graph;
  graph.batch = whole.batch;
  graph.rows = whole.rows;
  graph.classes = whole.classes;
  graph.reads_tokens = whole.reads_tokens && begin == 0;
  std::map<ValueId, ValueId> values;
  std::map<ParameterId, ParameterId> parameters;
  const auto add_value = [&](ValueId id) {
    values[id] = static_cast<ValueId>(graph.values.size());
    graph.values.push_back(whole.values[id]);
  };
  add_value(begin == 0 ? 0 : whole.layers[begin - 1].output);
  for (std::size_t i = begin; i < end; ++i)
    for (const ParameterId id : whole.layers[i].parameters) parameters[id] = 0;
  for (auto& [id, own] : parameters) {
    own = static_cast<ParameterId>(graph.parameters.size());
    graph.parameters.push_back(whole.parameters[id]);
    stage.parameters.push_back(id);
  }
  for (std::size_t i = begin; i < end; ++i) {
    Layer layer = whole.layers[i];
    add_value(layer.output);
    for (ValueId& input : layer.inputs) input = values.at(input);
    for (ParameterId& parameter : layer.parameters) parameter = parameters.at(parameter);
    layer.output = values.at(layer.output);
    if (layer.block > 0 && stage.first_block == 0) stage.first_block = layer.block;
    if (layer.block > 0) stage.last_block = layer.block;
    graph.layers.push_back(std::move(layer));
  }
  graph.logits = graph.layers.back().output;
  return stage;
}

}  // namespace

std::vector<Stage> cut_into_stages(const Graph& whole, int ranks, int stages_per_rank,
                                   std::string_view knob) {
  const std::vector<Part> parts = parts_of(whole);
  const auto wanted = static_cast<std::size_t>(ranks * stages_per_rank);
  if (parts.size() < wanted) refuse_so_many(parts.size(), ranks, stages_per_rank, knob);
  const std::vector<std::size_t> first = best_cuts(parts, wanted);
  std::vector<Stage> all;
  for (std::size_t stage = 0; stage < wanted; ++stage) {
    const std::size_t end = stage + 1 < wanted ? first[stage + 1] : parts.size();
    all.push_back(stage_of(whole, parts[first[stage]].begin, parts[end - 1].end));
  }
  return all;
}

std::vector<TiedParameter> tied_parameters(const std::vector<Stage>& stages) {
  std::vector<TiedParameter> tied;
  std::map<ParameterId, std::pair<std::size_t, ParameterId>> seen;
  for (std::size_t stage = 0; stage < stages.size(); ++stage)
    for (std::size_t own = 0; own < stages[stage].parameters.size(); ++own) {
      const auto id = static_cast<ParameterId>(own);
      const auto [before, added] = seen.try_emplace(stages[stage].parameters[own], stage, id);
      if (!added) tied.push_back({before->second.first, stage, before->second.second, id});
    }
  return tied;
}

// One that begins with no block is behind all of them.
std::vector<int> blocks_before(const std::vector<Stage>& stages) {
  int all = 0;
  for (const Stage& stage : stages) all = std::max(all, stage.last_block);
  std::vector<int> before;
  for (std::size_t stage = 1; stage < stages.size(); ++stage) {
    const int block = stages[stage].graph.layers.front().block;
    before.push_back(block > 0 ? block - 1 : all);
  }
  return before;
}

std::int64_t drawn_before(const Graph& graph, ParameterId parameter) {
  return std::count_if(
      graph.parameters.begin(), graph.parameters.begin() + parameter,
      [](const Parameter& one) { return one.initial.kind != program::Initial::Kind::kConstant; });
}

}  // namespace trainscope::train
