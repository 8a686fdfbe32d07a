// The metrics of arithmetic: how much a step has, how fast it is done, and what bounds it.

#include <algorithm>

#include "analysis/metrics/metric_rows.h"
#include "machine/architecture.h"

namespace trainscope::analysis {
namespace {

Answer unless_0(double flops) {
  return flops > 0 ? Answer(flops) : std::nullopt;
}

Answer step_flops(const Facts& facts) {
  const program::Program* program = facts.measured.program;
  return program ? unless_0(program->step_flops) : std::nullopt;
}

Answer model_flops(const Facts& facts) {
  const program::Program* program = facts.measured.program;
  return program ? unless_0(program->model_flops) : std::nullopt;
}

// Per second of a step.
Answer rate(const Facts& facts, const Answer& flops) {
  if (!flops || facts.measured.steps == 0) return std::nullopt;
  return *flops / a_step(facts, length(facts.measured.window)) * 1e9;
}

// Of one GPU, dense, in the type of most of its arithmetic: of the card as delivered, whatever
// clock a power limit leaves it.
Answer peak_flops(const Facts& facts) {
  const auto math = used_math(facts.roofline);
  // A device's kernels may be such as tell nothing of their type.
  if (!math && trace::is_measured(*facts.measured.trace)) return std::nullopt;
  const machine::Gpu& gpu = facts.measured.machine->gpu;
  const auto peak = math ? machine::peak_flops_per_s(gpu, *math) : std::nullopt;
  return peak.value_or(gpu.fp32_flops_per_s) / gpu.clock_share;
}

// Over what all GPUs could have done. On several streams kernels of the first step that is measured
// begin beside the last of those before it, where its time has not begun: that makes it no more
// than all.
Answer utilisation(const Facts& facts, const Answer& flops) {
  const Answer achieved = rate(facts, flops);
  if (!achieved || !facts.measured.machine || !facts.measured.on_gpu) return std::nullopt;
  const Answer peak = peak_flops(facts);
  if (!peak) return std::nullopt;
  return std::min(1.0, *achieved / *peak / facts.measured.program->gpus);
}

// The share of a step that is bound so.
Compute bound_share(machine::Bound bound) {
  return [bound](const Facts& facts) {
    if (!facts.roofline.known() || !facts.measured.machine) return Answer();
    return Answer(facts.roofline.share(bound));
  };
}

}  // namespace

void add_roofline(Table& t) {
  t.more_is_better("roofline.intensity", "FLOP/B", "intensity",
                   "operations a byte of memory traffic, of all kernels together",
                   [](const Facts& f) { return intensity(f.roofline); });
  t.more_is_better(
      "roofline.ridge", "FLOP/B", "ridge",
      "the intensity at which the GPU's peak in the type of most operations and its memory's peak "
      "take equally long",
      [](const Facts& f) {
        if (!f.measured.machine) return Answer();
        return ridge(f.roofline, f.measured.machine->gpu);
      });
  t.share("bound.compute", "compute-bound",
          "share of a step in which a kernel runs whose arithmetic takes most of its time",
          bound_share(machine::Bound::kCompute));
  t.share("bound.memory", "memory-bound",
          "share of a step in which, else, one runs whose memory traffic takes most of its time",
          bound_share(machine::Bound::kMemory));
  t.share("bound.latency", "latency-bound",
          "share of a step in which, else, one runs whose warps have too few instructions or loads "
          "on their way to keep arithmetic or memory busy",
          bound_share(machine::Bound::kLatency));
  t.rows.back().less_is_better = true;
  t.share("bound.overhead", "overhead-bound",
          "the rest: no kernel at work, or one too short, or of too few blocks, for any of that to "
          "take half of its time",
          bound_share(machine::Bound::kOverhead));
  t.rows.back().less_is_better = true;
}

// Both utilisations: PaLM (arXiv:2204.02311, appendix B).
void add_flops(Table& t) {
  t.more_is_better("flops.achieved", "FLOP/s", "achieved FLOP/s", "flops.step over the step's time",
                   [](const Facts& f) { return rate(f, step_flops(f)); });
  t.share("mfu", "MFU",
          "model.flops over what all GPUs could have done in the step's time, at their dense peak "
          "in the type of most arithmetic",
          [](const Facts& f) { return utilisation(f, model_flops(f)); });
  t.share("hfu", "HFU",
          "flops.step over the same: with what backward computes a second time, which trains no "
          "more",
          [](const Facts& f) { return utilisation(f, step_flops(f)); });
  t.add("flops.step", "FLOP", "FLOP a step",
        "arithmetic of one step of all GPUs together: what each of them repeats, and what backward "
        "computes a second time, included; of attention, as model.flops counts it, also what a "
        "mask hides",
        step_flops);
  t.add("model.flops", "FLOP", "model FLOP a step",
        "what the model asks for in one step of all GPUs together, however it is shared out: "
        "matrix products, convolutions and attention of forward and backward, each once; of "
        "attention, also what a mask hides",
        model_flops);
}

}  // namespace trainscope::analysis
