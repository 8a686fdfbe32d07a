#include "analysis/steps/measured.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "analysis/steps/finished_steps.h"
#include "analysis/steps/lane_kinds.h"
#include "analysis/steps/launched_work.h"
#include "analysis/steps/steady_steps.h"
#include "analysis/steps/step_marks.h"
#include "analysis/steps/whole_run.h"
#include "trace/ranks.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::LaneKind;
using trace::Span;

// When the host first launched what is never done; past all times where there is no such thing.
Nanos first_endless_call(const trace::Trace& trace) {
  Nanos first = std::numeric_limits<Nanos>::max();
  std::unordered_set<std::uint32_t> endless;  // correlations
  for (const trace::SpanId wait : endless_waits(trace))
    endless.insert(trace.spans()[wait].correlation);
  if (endless.empty()) return first;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    const bool on_host = trace.lanes()[span.lane].kind == LaneKind::kHostThread;
    if (on_host && endless.contains(span.correlation)) first = std::min(first, span.start);
  });
  return first;
}

// Those of steps whose work is done at some time.
RankMarks ended_marks(const trace::Trace& trace, const program::Program* program) {
  RankMarks ranks = marks_by_rank(trace);
  drop_unfinished(ranks, trace, program);
  const Nanos endless = first_endless_call(trace);
  for (auto& [rank, marks] : ranks)
    std::erase_if(marks, [&](const StepMark& mark) { return mark.time.end > endless; });
  return ranks;
}

std::map<std::int32_t, Interval> windows_of(const OwnMarks& ranks, const LaunchedWork& launched) {
  std::map<std::int32_t, Interval> windows;
  for (const auto& [rank, marks] : ranks) {
    if (marks.empty()) continue;
    const Interval window = launched.of(rank).window_of({marks.front().start, marks.back().end});
    if (window.start < window.end) windows.emplace(rank, window);
  }
  return windows;
}

void find_window(Measured& measured, int warmup) {
  const trace::Trace& trace = *measured.trace;
  const RankMarks ranks = ended_marks(trace, measured.program);
  const StepMarks first = first_marks(ranks);
  if (first.marks.empty()) return;
  const LaunchedWork launched(trace, ranks_of(ranks));
  const RankWork& own = launched.of(first.rank);
  const Interval all = own.window_of({first.marks.front().start, first.marks.back().end});
  if (all.end <= all.start) return;  // marks of no length
  const std::size_t skipped =
      first_measured_step(trace, measured.program, ranks, first.marks.size(), warmup);
  const StepRun run = undisturbed(first.marks, skipped, first_times_apart(trace, ranks));
  measured.first_step = static_cast<int>(run.first);
  measured.steps = static_cast<int>(run.end - run.first);
  measured.marks.assign(first.marks.begin() + static_cast<std::ptrdiff_t>(run.first),
                        first.marks.begin() + static_cast<std::ptrdiff_t>(run.end));
  measured.marks_of_ranks = marks_of_steps(ranks, run.first, run.end);
  measured.windows_of_ranks = windows_of(measured.marks_of_ranks, launched);
  measured.window = own.window_of({measured.marks.front().start, measured.marks.back().end});
}

// Copies are seen on the copy engines where the trace has them, else on the streams.
bool has_engines(const trace::Trace& trace) {
  for (std::uint32_t i = 0, n = trace.lanes().size(); i < n; ++i)
    if (trace.lanes()[i].kind == LaneKind::kCopyEngine) return true;
  return false;
}

struct Gathered {
  std::vector<Interval> kernels, unphased, forward, backward, optimizer, copies, collectives,
      memsets, held;
};

void gather(Gathered& all, const Span& span, LaneKind lane, bool engines, Interval clipped) {
  const bool on_device = lane == LaneKind::kStream || lane == LaneKind::kCollective;
  if (on_device && trace::is_kernel(span.category)) all.kernels.push_back(clipped);
  if (on_device && span.category == Category::kKernel) all.unphased.push_back(clipped);
  if (on_device && span.category == Category::kForward) all.forward.push_back(clipped);
  if (on_device && span.category == Category::kBackward) all.backward.push_back(clipped);
  if (on_device && span.category == Category::kOptimizer) all.optimizer.push_back(clipped);
  if (on_device && span.category == Category::kCollective) all.collectives.push_back(clipped);
  if (on_device && span.category == Category::kMemset) all.memsets.push_back(clipped);
  const bool shown_by_engine = engines && span.category != Category::kCopyD2D;
  if (trace::is_copy(span.category) &&
      lane == (shown_by_engine ? LaneKind::kCopyEngine : LaneKind::kStream))
    all.copies.push_back(clipped);
  if (lane == LaneKind::kHostThread && span.category == Category::kHeld)
    all.held.push_back(clipped);
}

bool is_about_batches(const Span& span) {
  return span.category == Category::kLoader || span.category == Category::kPin ||
         (span.category == Category::kHeld && span.cause == trace::Cause::kData);
}

// Of each lane, whether its spans are measured.
std::vector<bool> counted_lanes(const Measured& measured) {
  std::vector<bool> counted;
  trace::for_each(measured.trace->lanes(), [&](const trace::Lane& lane, trace::LaneId) {
    counted.push_back(measured.counts(lane));
  });
  return counted;
}

// Each rank's first GPU, by rank; of a program's streams.
std::map<std::int32_t, std::int32_t> first_gpus(const trace::Trace& trace, std::size_t& gpus) {
  std::map<std::int32_t, std::int32_t> first;
  std::set<std::int32_t> all;
  for (std::uint32_t i = 0, n = trace.lanes().size(); i < n; ++i) {
    const trace::Lane& lane = trace.lanes()[i];
    if (lane.kind != LaneKind::kStream) continue;
    all.insert(lane.device);
    const auto [entry, added] = first.try_emplace(lane.rank, lane.device);
    if (!added) entry->second = std::min(entry->second, lane.device);
  }
  gpus = all.size();
  return first;
}

// Kernels of several GPUs run at once whatever their streams are.
bool is_of_one_gpu(const Measured& measured) {
  std::size_t gpus = 0;
  first_gpus(*measured.trace, gpus);
  return measured.rank >= 0 || gpus < 2;
}

Nanos summed(const std::vector<Interval>& intervals) {
  Nanos sum = 0;
  for (const Interval& one : intervals) sum += one.end - one.start;
  return sum;
}

void gather_all(Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  const bool engines = has_engines(trace);
  const std::vector<LaneKind> kinds = lane_kinds(trace);
  const std::vector<bool> counted = counted_lanes(measured);
  const std::vector<Interval>& marks = measured.own_marks();
  Gathered all;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    measured.on_gpu |= trace::is_gpu_work(span.category);
    measured.takes_batches |= is_about_batches(span);
    const Interval clipped{std::max(span.start, measured.window.start),
                           std::min(span.end(), measured.window.end)};
    // What a run waits for once its last step is through is of no step.
    const bool after_steps =
        span.category == Category::kHeld && !marks.empty() && span.start >= marks.back().end;
    if (clipped.start < clipped.end && counted[span.lane] && !after_steps)
      gather(all, span, kinds[span.lane], engines, clipped);
  });
  const Nanos one_by_one = summed(all.kernels);
  measured.kernels = IntervalSet(std::move(all.kernels));
  measured.kernels_summed = is_of_one_gpu(measured) ? one_by_one : measured.kernels.length();
  measured.unphased = IntervalSet(std::move(all.unphased));
  measured.forward = IntervalSet(std::move(all.forward));
  measured.backward = IntervalSet(std::move(all.backward));
  measured.optimizer = IntervalSet(std::move(all.optimizer));
  measured.copies = IntervalSet(std::move(all.copies));
  measured.collectives = IntervalSet(std::move(all.collectives));
  measured.memsets = IntervalSet(std::move(all.memsets));
  measured.held = IntervalSet(std::move(all.held));
}

// A process that drives the GPUs of several ranks has one host for all: nothing is told apart.
bool ranks_have_hosts(const trace::Trace& trace,
                      const std::map<std::int32_t, std::int32_t>& ranks) {
  std::set<std::int32_t> hosts;
  for (std::uint32_t i = 0, n = trace.lanes().size(); i < n; ++i)
    if (trace.lanes()[i].kind == LaneKind::kHostThread) hosts.insert(trace.lanes()[i].rank);
  return hosts.size() == ranks.size();
}

// Ranks that have marks of their own, and not of all steps.
std::set<std::int32_t> ranks_with_fewer_steps(const trace::Trace& trace,
                                              const program::Program* program) {
  std::set<std::int32_t> fewer;
  const RankMarks ranks = ended_marks(trace, program);
  if (ranks.empty()) return fewer;
  const std::size_t steps = ranks.begin()->second.size();
  for (const auto& [rank, marks] : marks_of_steps(ranks, 0, steps))
    if (marks.size() < steps) fewer.insert(rank);
  return fewer;
}

// By their waits in the window, of each its own.
void find_critical(Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  const std::map<std::int32_t, std::int32_t> gpus = gpus_of_ranks(trace);
  // GPUs of a trace's one process are not told apart: which of them it is about is not known.
  if (gpus.empty() || (!measured.program && gpus.size() < 2)) return;
  std::map<std::int32_t, Nanos> waits;
  for (const auto& [rank, gpu] : gpus) waits[rank] = 0;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (!is_peer_wait(span)) return;
    const std::int32_t rank = trace.lanes()[span.lane].rank;
    const Interval steps = measured.window_of(rank);
    const Nanos wait = std::min(span.end(), steps.end) - std::max(span.start, steps.start);
    waits[rank] += std::max<Nanos>(wait, 0);
  });
  for (const std::int32_t rank : ranks_with_fewer_steps(trace, measured.program))
    if (waits.size() > 1) waits.erase(rank);
  const auto least = std::min_element(
      waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  measured.rank = least->first;
  measured.device = gpus.at(least->first);
  measured.window = measured.window_of(measured.rank);
}

Measured unmeasured(const trace::Trace& trace, const program::Program* program,
                    const machine::Machine* machine) {
  Measured measured;
  measured.trace = &trace;
  measured.program = program;
  measured.machine = machine;
  measured.window = measured.whole = whole_of(trace);
  return measured;
}

}  // namespace

std::map<std::int32_t, std::int32_t> gpus_of_ranks(const trace::Trace& trace) {
  std::size_t gpus = 0;
  std::map<std::int32_t, std::int32_t> first = first_gpus(trace, gpus);
  if (gpus < 2 || !ranks_have_hosts(trace, first)) first.clear();
  return first;
}

const std::vector<Interval>& Measured::own_marks() const {
  const auto own = marks_of_ranks.find(rank);
  return own == marks_of_ranks.end() ? marks : own->second;
}

int Measured::steps_of(std::int32_t of_rank) const {
  const auto own = marks_of_ranks.find(of_rank);
  return own == marks_of_ranks.end() ? per() : static_cast<int>(own->second.size());
}

Interval Measured::window_of(std::int32_t of_rank) const {
  const auto own = windows_of_ranks.find(of_rank);
  return own == windows_of_ranks.end() ? first_window() : own->second;
}

Interval Measured::first_window() const {
  return windows_of_ranks.empty() ? window : windows_of_ranks.begin()->second;
}

Measured of_gpu(Measured measured, std::int32_t rank, std::int32_t device) {
  measured.rank = rank;
  measured.device = device;
  measured.window = measured.window_of(rank);
  gather_all(measured);
  return measured;
}

IntervalSet gpu_busy(const Measured& measured) {
  return measured.kernels.united(measured.copies)
      .united(measured.collectives)
      .united(measured.memsets);
}

std::vector<trace::SpanId> endless_waits(const trace::Trace& trace) {
  std::unordered_set<std::uint32_t> begun;  // correlations of collectives
  std::vector<trace::SpanId> waits, endless;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId id) {
    if (span.category == Category::kCollective) begun.insert(span.correlation);
    if (is_peer_wait(span)) waits.push_back(id);
  });
  for (const trace::SpanId wait : waits)
    if (!begun.contains(trace.spans()[wait].correlation)) endless.push_back(wait);
  return endless;
}

int warmup_steps(const trace::Trace& trace, const program::Program* program) {
  return program ? program->warmup_steps : std::max(trace.origin().warmup_steps, 0);
}

Measured measure(const trace::Trace& trace, const program::Program* program,
                 const machine::Machine* machine) {
  Measured measured = unmeasured(trace, program, machine);
  find_window(measured, warmup_steps(trace, program));
  find_critical(measured);
  gather_all(measured);
  return measured;
}

Measured measure_whole(const trace::Trace& trace, const program::Program* program,
                       const machine::Machine* machine) {
  Measured measured = unmeasured(trace, program, machine);
  find_critical(measured);
  gather_all(measured);
  return measured;
}

namespace {

// What a rank does from a step's first mark on is of that step: up to the rank's next mark, or to
// the end of its last one where the host validates before the next, or the profiler rests.
Interval reach_of(const std::vector<Interval>& of_step, const std::vector<Interval>& all,
                  const std::vector<Interval>& apart) {
  const Interval& last = of_step.back();
  const auto next = std::ranges::upper_bound(all, last.start, {}, &Interval::start);
  const auto validation = std::ranges::lower_bound(apart, last.end, {}, &Interval::start);
  const bool joins =
      next != all.end() && (validation == apart.end() || validation->start >= next->start);
  return {of_step.front().start, joins ? next->start : last.end};
}

}  // namespace

std::vector<RankedStep> ranked_steps(const trace::Trace& trace) {
  const RankMarks ranks = marks_by_rank(trace);
  if (ranks.empty()) return {};
  const LaunchedWork launched(trace, ranks_of(ranks));
  std::map<std::int32_t, StepMarks> all;
  for (const auto& [rank, marks] : ranks) all[rank] = marks_of(ranks, rank);
  std::map<std::int32_t, std::vector<Interval>> apart = times_apart(trace, ranks);
  std::vector<RankedStep> steps;
  for (OwnMarks& of_step : marks_by_step(ranks)) {
    const std::size_t number = steps.size();
    RankedStep& step = steps.emplace_back();
    step.mark = ranks.begin()->second[number].time;
    for (const auto& [rank, marks] : of_step)
      if (!marks.empty())
        step.windows_of_ranks[rank] =
            launched.of(rank).window_of(reach_of(marks, all[rank].marks, apart[rank]));
    step.window = step.windows_of_ranks.begin()->second;
    step.marks_of_ranks = std::move(of_step);
  }
  return steps;
}

std::vector<StepWindow> step_windows(const trace::Trace& trace) {
  const RankMarks ranks = marks_by_rank(trace);
  const StepMarks first = first_marks(ranks);
  const std::vector<Interval> apart = first_times_apart(trace, ranks);
  const LaunchedWork launched(trace, {first.rank});
  std::vector<StepWindow> windows;
  for (const Interval& mark : first.marks)
    windows.push_back(
        {mark, launched.of(first.rank).window_of(reach_of({mark}, first.marks, apart))});
  return windows;
}

}  // namespace trainscope::analysis
