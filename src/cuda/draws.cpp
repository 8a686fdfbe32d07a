#include "cuda/draws.h"

#include <variant>

#include "sim/recorder.h"

namespace trainscope::cuda {

using program::Index;

Draws::Draws(const program::Program& program)
    : program_(program),
      places_(program.buffers.size()),
      drawn_(static_cast<std::size_t>(sim::gpus_to_the_last(program))),
      graphs_(program.graphs.size()),
      bases_(program.graphs.size()) {}

void Draws::set_base(Index graph, std::uint64_t* base) {
  const std::lock_guard held(mutex_);
  bases_[graph] = base;
}

void Draws::place(KernelCall& call, Index graph) {
  const std::lock_guard held(mutex_);
  place_one(call, graph);
  for (KernelCall& part : call.parts) place_one(part, graph);
}

void Draws::place_one(KernelCall& call, Index graph) {
  const program::Operation& operation = *call.operation;
  const auto* dropout = std::get_if<program::Dropout>(&operation.function);
  if (!dropout) return;
  const bool draws = dropout->part == program::Part::kForward && !dropout->again;
  const Place place =
      draws ? draw(*dropout, operation.writes[1], graph) : places_[operation.reads[1]];
  call.draws_from = place.at;
  call.draws_base = place.graph == program::kNoIndex ? nullptr : bases_[place.graph];
}

Draws::Place Draws::draw(const program::Dropout& dropout, Index written, Index graph) {
  const auto gpu = static_cast<std::size_t>(program_.buffers[written].device);
  const bool is_now = graph == program::kNoIndex;
  if (!is_now) graphs_[graph].gpu = gpu;
  std::uint64_t& drawn = is_now ? drawn_[gpu] : graphs_[graph].words;
  places_[written] = {graph, drawn + static_cast<std::uint64_t>(dropout.rank * dropout.elements)};
  drawn += static_cast<std::uint64_t>(dropout.ranks * dropout.elements);
  return places_[written];
}

std::optional<std::uint64_t> Draws::launch(Index graph) {
  const std::lock_guard held(mutex_);
  const GraphDraws& one = graphs_[graph];
  if (one.words == 0) return std::nullopt;
  const std::uint64_t before = drawn_[one.gpu];
  drawn_[one.gpu] += one.words;
  return before;
}

}  // namespace trainscope::cuda
