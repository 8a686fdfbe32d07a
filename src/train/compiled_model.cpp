#include "train/compiled_model.h"

#include <algorithm>
#include <set>

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
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

void note_operands(const program::Program& program, const std::vector<PlannedLaunch>& launches,
                   const CompiledRange& range, std::set<Index>& used) {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const program::Operation& one = program.operations[launches[i].operation];
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
                             const Compilation& compilation)
    : program_(program),
      has_guards_(config.word("host.profile") != "native"),
      cuda_graph_(compilation.cuda_graph) {
  if (!cuda_graph_) return;
  for (const auto& [call, name] : {std::pair{&forward_, "forward"}, {&backward_, "backward"}}) {
    call->graph = static_cast<Index>(program.graphs.size());
    program.graphs.push_back({name});
  }
  pool_ = add_buffer(program, "pool of the CUDA graphs", 0, program::MemoryKind::kDevice,
                     program::Role::kActivation);
}

void CompiledModel::lay_out(Plan& plan) {
  if (!cuda_graph_) return;
  std::set<Index> used;
  note_operands(program_, plan.forward, plan.compiled_forward, used);
  note_operands(program_, plan.backward, plan.compiled_backward, used);
  std::int64_t& bytes = program_.buffers[pool_].bytes;
  bytes = std::max(bytes, take_out(program_, used, plan));
}

void CompiledModel::forward(ThreadWriter& main, const std::vector<PlannedLaunch>& launches,
                            const CompiledRange& compiled, const Launch& launch) {
  if (has_guards_)
    main.add(program::HostWork{kGuards, false, true, true}, "TorchDynamo Cache Lookup");
  if (cuda_graph_ && forward_.made == 0) main.add(program::Alloc{pool_, 0});
  carry_out(main, forward_, launches, compiled, launch);
}

void CompiledModel::backward(ThreadWriter& autograd, const std::vector<PlannedLaunch>& launches,
                             const CompiledRange& compiled, const Launch& launch) {
  autograd.add(program::FrameworkCall{}, "CompiledFunctionBackward");
  carry_out(autograd, backward_, launches, compiled, launch);
}

void CompiledModel::carry_out(ThreadWriter& thread, Call& call,
                              const std::vector<PlannedLaunch>& launches,
                              const CompiledRange& compiled, const Launch& launch) {
  const std::int64_t made = call.made++;
  if (!cuda_graph_ || made == 0) {
    for (const PlannedLaunch& one : launches) launch(thread, one);
    return;
  }
  for (std::size_t i = 0; i < compiled.begin; ++i) launch(thread, launches[i]);
  if (made == 1) capture(thread, call.graph, launches, compiled, launch);
  thread.add(program::GraphLaunch{call.graph, 0});
  for (std::size_t i = compiled.begin; i < compiled.end; ++i)
    for (const Index buffer : launches[i].freed) thread.add(program::Free{buffer});
  for (std::size_t i = compiled.end; i < launches.size(); ++i) launch(thread, launches[i]);
}

// torch.cuda.graph waits for the device before it begins.
void CompiledModel::capture(ThreadWriter& thread, Index graph,
                            const std::vector<PlannedLaunch>& launches,
                            const CompiledRange& compiled, const Launch& launch) const {
  thread.add(program::DeviceSync{});
  thread.add(program::BeginCapture{graph, 0});
  for (std::size_t i = compiled.begin; i < compiled.end; ++i)
    launch(thread, {launches[i].operation, {}, {}});
  thread.add(program::EndCapture{graph});
  thread.add(program::GraphInstantiate{graph});
}

}  // namespace trainscope::train
