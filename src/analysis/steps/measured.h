// The part of a trace that is measured: its steps without the warm-up, and its spans by what they
// occupy. Every metric starts from here.
#pragma once

#include <map>
#include <vector>

#include "analysis/steps/intervals.h"
#include "machine/machine.h"
#include "program/program.h"
#include "trace/trace.h"

namespace trainscope::analysis {

struct Measured {
  const trace::Trace* trace = nullptr;
  const program::Program* program = nullptr;  // null for an imported trace
  const machine::Machine* machine = nullptr;  // null for an imported trace

  // The measured steps and their work, of the rank whose times these are; the whole trace where
  // there are no steps. A host that runs ahead begins a step while the GPU is still at the one
  // before: the window begins, and ends, once all GPU work is done that the rank launched before
  // the step's mark, recorded or not, or at the mark if that is later. A step whose work is never
  // done is none.
  // Where the host validates between steps, or a profiler rests, they are the longest run of steps
  // without that.
  Interval window;
  Interval whole;               // the whole trace
  int steps = 0;                // measured ones; 0: the trace has no step marks
  int first_step = 0;           // of them, counted from 0 over all steps of the trace
  std::vector<Interval> marks;  // of the measured steps, on the host's side
  // Of each rank whose host has marks of its own, those of these steps: its file may hold fewer of
  // them than the first rank's, whose marks the others are. The stages of a pipeline come to a step
  // one after another, so that each rank has a window of its own; none where its file holds none of
  // these steps.
  std::map<std::int32_t, std::vector<Interval>> marks_of_ranks;
  std::map<std::int32_t, Interval> windows_of_ranks;
  int per() const { return steps > 0 ? steps : 1; }  // what a time "a step" is divided by

  bool on_gpu = false;         // a GPU works, at any time of the trace
  bool takes_batches = false;  // batches are loaded or waited for, at any time of the trace

  // Where a program has several GPUs, times are those of one: of the rank that waits least for the
  // others in these steps, which is the one that they wait for; of one process's GPUs, the first. A
  // rank whose file lacks some of the first one's steps is passed over. -1: all together.
  std::int32_t rank = -1;
  std::int32_t device = -1;
  bool counts(const trace::Lane& lane) const {
    return rank < 0 || (lane.rank == rank && (lane.device < 0 || lane.device == device));
  }

  // Of the process whose times these are, on any of its GPUs.
  bool is_own(const trace::Lane& lane) const { return rank < 0 || lane.rank == rank; }

  // The marks of that process; where its trace has none at all, the first rank's.
  const std::vector<Interval>& own_marks() const;
  // What a rank's time in its window is divided by; 0: its file holds none of these steps.
  int steps_of(std::int32_t of_rank) const;
  // Of a rank; where it has none of its own, the first rank's.
  Interval window_of(std::int32_t of_rank) const;
  // By the first rank's marks, as views show the steps: what is told of all ranks together.
  Interval first_window() const;

  // All clipped to the window.
  IntervalSet kernels;
  // How long they take one by one: of the GPU whose times these are; of several together no more
  // than the set's length.
  Nanos kernels_summed = 0;
  IntervalSet forward;
  IntervalSet backward;
  IntervalSet optimizer;
  IntervalSet unphased;  // kernels whose phase the trace does not tell
  IntervalSet copies;    // the copy engines at work, either direction, and within the device
  IntervalSet collectives;
  IntervalSet memsets;
  IntervalSet held;  // the training thread held by a call or by missing data
};

// Steps that metrics leave out at least: what the program says; null: what the trace's file said.
int warmup_steps(const trace::Trace& trace, const program::Program* program);

// `program` and `machine` may be null. With a program, steps that follow the warm-up and still call
// cudaMalloc are left out too, up to the first one that does not; where all of them do, none is.
Measured measure(const trace::Trace& trace, const program::Program* program,
                 const machine::Machine* machine);

// The same of another rank's GPU in the same steps.
Measured of_gpu(Measured measured, std::int32_t rank, std::int32_t device);

// Each rank's first GPU, by rank, where the trace has several and each has a host of its own; else
// empty.
std::map<std::int32_t, std::int32_t> gpus_of_ranks(const trace::Trace& trace);

// Kernels, copies, collectives or memsets at work.
IntervalSet gpu_busy(const Measured& measured);

// A GPU's wait for the last rank of a collective.
inline bool is_peer_wait(const trace::Span& span) {
  return span.category == trace::Category::kSync && span.cause == trace::Cause::kPeer;
}

// Waits of GPUs for a rank that never comes: the work that such a wait is before is missing.
std::vector<trace::SpanId> endless_waits(const trace::Trace& trace);

// One step: its mark, and its window by the rule above: where one ends the next begins, unless the
// host validates between them.
struct StepWindow {
  Interval mark;
  Interval window;
};
// All steps, warm-up included, by the first rank's marks. Empty when the trace has no step marks.
std::vector<StepWindow> step_windows(const trace::Trace& trace);

// The same, and what each rank does of the step by marks of its own.
struct RankedStep : StepWindow {
  std::map<std::int32_t, std::vector<Interval>> marks_of_ranks;
  std::map<std::int32_t, Interval> windows_of_ranks;
};
std::vector<RankedStep> ranked_steps(const trace::Trace& trace);

// The same as measure for the whole trace, counted as no step.
Measured measure_whole(const trace::Trace& trace, const program::Program* program,
                       const machine::Machine* machine);

// The copies of one direction, of one process: from the call, or from when its stream was free and
// what that waits for was done where that was later, to the completion of each.
struct CopyTimes {
  IntervalSet intervals;
  std::int64_t bytes = 0;
  int count = 0;
};
CopyTimes copy_times(const Measured& measured, trace::Category direction);

}  // namespace trainscope::analysis
