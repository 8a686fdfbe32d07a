#include "train/compile/compiled_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/whole.h"

namespace trainscope::train {
namespace {

using program::Index;

// One call of a compiled function with one kernel takes 44.3 us of host time, the kernel's launch
// 6.8 of it; GB200 (tritonbench#1017). Carried over to every host, and to functions with more
// guards.
constexpr Nanos kGuards = 37'500;

// The caching allocator's unit.
std::int64_t rounded(std::int64_t bytes) {
  constexpr std::int64_t kUnit = 512;
  return round_up(bytes, kUnit);
}

void note_operands(const program::Program& program, const std::vector<PlannedLaunch>& launches,
                   std::set<Index>& used) {
  for (const PlannedLaunch& launch : launches) {
    if (!launch.is_compiled()) continue;
    const program::Operation& one = program.operations[launch.operation];
    used.insert(one.reads.begin(), one.reads.end());
    used.insert(one.writes.begin(), one.writes.end());
  }
}

// Takes what is used out of the launches' allocations and frees; returns the most bytes of it that
// were there at once.
std::int64_t take_out(program::Program& program, const std::set<Index>& used, Plan& plan) {
  std::int64_t there = 0, most = 0;
  for (auto* list : {&plan.forward, &plan.loss, &plan.scale, &plan.backward})
    for (PlannedLaunch& launch : *list) {
      std::erase_if(launch.allocated, [&](Index buffer) {
        if (!used.contains(buffer)) return false;
        there += rounded(program.buffers[buffer].bytes);
        program.buffers[buffer].is_view = true;
        return true;
      });
      most = std::max(most, there);
      std::erase_if(launch.freed, [&](Index buffer) {
        if (!used.contains(buffer)) return false;
        there -= rounded(program.buffers[buffer].bytes);
        return true;
      });
    }
  return most;
}

}  // namespace

CompiledModel::CompiledModel(program::Program& program, const program::Config& config,
                             const TrainSettings& settings, int pieces)
    : program_(program),
      has_guards_(config.word("host.profile") != "native"),
      cuda_graph_(settings.compile.cuda_graph),
      forward_(static_cast<std::size_t>(pieces)),
      backward_(static_cast<std::size_t>(pieces)) {
  if (!cuda_graph_) return;
  for (const auto& [calls, name] : {std::pair{&forward_, "forward"}, {&backward_, "backward"}})
    for (std::size_t piece = 0; piece < calls->size(); ++piece) {
      (*calls)[piece].graph = static_cast<Index>(program.graphs.size());
      program.graphs.push_back(
          {pieces == 1 ? name : fmt::format("{} of piece {}", name, piece + 1)});
    }
  pool_ = add_buffer(program, "pool of the CUDA graphs", 0, program::MemoryKind::kDevice,
                     program::Role::kActivation);
}

void CompiledModel::lay_out(Plan& plan) {
  if (!cuda_graph_) return;
  std::set<Index> used;
  note_operands(program_, plan.forward, used);
  note_operands(program_, plan.backward, used);
  std::int64_t& bytes = program_.buffers[pool_].bytes;
  bytes = std::max(bytes, take_out(program_, used, plan));
}

void CompiledModel::look_up(ThreadWriter& main) const {
  if (has_guards_)
    main.add(program::HostWork{kGuards, false, true, true}, "TorchDynamo Cache Lookup");
}

void CompiledModel::forward(ThreadWriter& main, const std::vector<PlannedLaunch>& launches,
                            const WriteLaunch& launch) {
  look_up(main);
  if (cuda_graph_ && forward_.front().made == 0) main.add(program::Alloc{pool_, 0});
  for (std::size_t i = 0; i < launches.size();) {
    const Range piece{i, end_of_piece(launches, i)};
    if (!launches[i].is_compiled()) {
      for (; i < piece.end; ++i) launch(main, launches[i]);
      continue;
    }
    if (launches[i].piece > 0) main.add(program::FrameworkCall{}, "CompiledFunction");
    carry_out(main, forward_[static_cast<std::size_t>(launches[i].piece)], launches, piece, launch);
    i = piece.end;
  }
}

void CompiledModel::backward(ThreadWriter& autograd, const std::vector<PlannedLaunch>& launches,
                             const WriteLaunch& launch, const Done& done) {
  for (std::size_t i = 0; i < launches.size();) {
    const Range piece{i, end_of_piece(launches, i)};
    if (launches[i].is_compiled()) {
      autograd.add(program::FrameworkCall{}, "CompiledFunctionBackward");
      carry_out(autograd, backward_[static_cast<std::size_t>(launches[i].piece)], launches, piece,
                launch);
      for (; i < piece.end; ++i) done(i);
      continue;
    }
    for (; i < piece.end; ++i) {
      launch(autograd, launches[i]);
      done(i);
    }
  }
}

WriteLaunch CompiledModel::forward_by_pieces(const WriteLaunch& launch) const {
  return [this, launch, piece = PlannedLaunch::kNotCompiled](ThreadWriter& main,
                                                             const PlannedLaunch& one) mutable {
    if (std::exchange(piece, one.piece) != one.piece && one.is_compiled()) look_up(main);
    launch(main, one);
  };
}

WriteLaunch CompiledModel::backward_by_pieces(const WriteLaunch& launch) const {
  return [launch, piece = PlannedLaunch::kNotCompiled](ThreadWriter& autograd,
                                                       const PlannedLaunch& one) mutable {
    if (std::exchange(piece, one.piece) != one.piece && one.is_compiled())
      autograd.add(program::FrameworkCall{}, "CompiledFunctionBackward");
    launch(autograd, one);
  };
}

void CompiledModel::carry_out(ThreadWriter& thread, Call& call,
                              const std::vector<PlannedLaunch>& launches, Range piece,
                              const WriteLaunch& launch) const {
  const std::int64_t made = call.made++;
  if (!cuda_graph_ || made == 0) {
    for (std::size_t i = piece.begin; i < piece.end; ++i) launch(thread, launches[i]);
    return;
  }
  if (made == 1) capture(thread, call.graph, launches, piece, launch);
  thread.add(program::GraphLaunch{call.graph, 0});
  for (std::size_t i = piece.begin; i < piece.end; ++i)
    for (const Index buffer : launches[i].freed) thread.add(program::Free{buffer});
}

// torch.cuda.graph waits for the device before it begins.
void CompiledModel::capture(ThreadWriter& thread, Index graph,
                            const std::vector<PlannedLaunch>& launches, Range piece,
                            const WriteLaunch& launch) const {
  thread.add(program::DeviceSync{});
  thread.add(program::BeginCapture{graph, 0});
  for (std::size_t i = piece.begin; i < piece.end; ++i)
    launch(thread, {launches[i].operation, {}, {}});
  thread.add(program::EndCapture{graph});
  thread.add(program::GraphInstantiate{graph});
}

}  // namespace trainscope::train
