// The metrics of device memory: metric_table.cpp has all others.

#include "analysis/metrics/metric_rows.h"
#include "analysis/views/memory_counters.h"

namespace trainscope::analysis {
namespace {

// Steps that are left out since they still call cudaMalloc hold what steps hold.
Nanos end_of_warmup(const Measured& measured) {
  const int warm = warmup_steps(*measured.trace, measured.program);
  if (measured.first_step <= warm) return measured.first_window().start;
  return step_windows(*measured.trace)[static_cast<std::size_t>(warm)].window.start;
}

// Where the program validates between steps, the rise is that of the steps that are measured.
Nanos begin_of_rise(const Facts& facts) {
  return facts.validating ? facts.measured.first_window().start : end_of_warmup(facts.measured);
}

void add_validating(Table& t) {
  t.add("memory.peak_validating", "B", "peak allocated, validating",
        "most memory in live tensors while the loop validates between two steps",
        [](const Facts& f) { return f.validating ? f.validating->peak : Answer(); });
  t.add("memory.left_by_validation", "B", "left by a validation",
        "how much more memory is in live tensors behind a validation than before it, in the mean",
        [](const Facts& f) { return f.validating ? f.validating->left : Answer(); });
}

// What one role has of device memory at its peak.
Compute role_bytes(program::Role role) {
  return [role](const Facts& facts) {
    const auto found = facts.roles.find(program::name_of(role));
    return found == facts.roles.end() ? Answer() : Answer(found->second);
  };
}

void add_memory_roles(Table& t) {
  using program::Role;
  t.add("memory.parameters", "B", "parameters at peak",
        "the model's weights and biases, of what is allocated at the peak",
        role_bytes(Role::kParameter));
  t.add("memory.gradients", "B", "gradients at peak",
        "gradients of the parameters, of what is allocated at the peak",
        role_bytes(Role::kGradient));
  t.add("memory.optimizer", "B", "optimizer state at peak",
        "what the optimizer keeps between steps, of what is allocated at the peak",
        role_bytes(Role::kOptimizerState));
  t.add(
      "memory.activations", "B", "activations at peak",
      "what forward keeps for backward, and the gradients of it, of what is allocated at the peak",
      role_bytes(Role::kActivation));
  t.add("memory.batch", "B", "batch at peak",
        "samples and labels, of what is allocated at the peak", role_bytes(Role::kBatch));
  t.add("memory.workspace", "B", "workspace at peak",
        "what an operation needs only while it runs, of what is allocated at the peak",
        role_bytes(Role::kWorkspace));
}

}  // namespace

void add_memory(Table& t) {
  t.add("memory.peak_allocated", "B", "peak allocated", "most memory in live tensors",
        [](const Facts& f) { return f.peaks.allocated; });
  t.add("memory.least_peak", "B", "peak allocated, least",
        "the same of the GPU that needs the least, where several are simulated",
        [](const Facts& f) { return f.peaks.gpus > 1 ? f.peaks.least_allocated : Answer(); });
  t.add(
      "memory.rise", "B", "rise of allocated",
      "how far memory in live tensors rises above its least, in the steps after the warm-up",
      [](const Facts& f) {
        const Measured& measured = f.measured;
        return Answer(memory_rise(*measured.trace, begin_of_rise(f), measured.first_window().end));
      });
  t.add("memory.peak_reserved", "B", "peak reserved", "most memory held by the allocator",
        [](const Facts& f) { return f.peaks.reserved; });
  t.share("memory.fragmentation", "fragmentation",
          "the share of the allocator's memory that no tensor held when tensors held the most",
          [](const Facts& f) { return f.peaks.fragmentation; });
  t.rows.back().less_is_better = true;
  t.add("memory.alloc_retries", "1", "allocation retries",
        "times that the allocator found no room, gave back what it cached and tried again",
        [](const Facts& f) { return alloc_retries(*f.measured.trace); });
  add_memory_roles(t);
  add_validating(t);
}

}  // namespace trainscope::analysis
