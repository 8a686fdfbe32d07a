#include "analysis/views/sm_use.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/block_cost.h"
#include "sim/lone_runs.h"
#include "sim/sm_lanes.h"
#include "sim/sm_run.h"

namespace trainscope::analysis {
namespace {

// A counter's value times time, summed over intervals.
double area(const trace::Trace& trace, std::string_view lane, const IntervalSet& over) {
  const auto& intervals = over.intervals();
  std::vector<bool> counted(trace.lanes().size());
  for (trace::LaneId id = 0; id < counted.size(); ++id)
    counted[id] = trace.lanes()[id].name == lane;
  double sum = 0;
  double value = 0;
  Nanos since = 0;
  std::size_t at = 0;  // no interval before it ends after `since`: samples stand by time
  const auto add = [&](Nanos until) {
    if (until < since) at = 0;
    while (at < intervals.size() && intervals[at].end <= since) ++at;
    Nanos length = 0;
    for (std::size_t i = at; i < intervals.size() && intervals[i].start < until; ++i)
      length += std::min(intervals[i].end, until) - std::max(intervals[i].start, since);
    if (value > 0 && since < until) sum += value * static_cast<double>(length);
    since = until;
  };
  trace::for_each(trace.samples(), [&](const trace::Sample& sample, std::uint32_t) {
    if (sample.lane >= counted.size() || !counted[sample.lane]) return;
    add(sample.time);
    value = sample.value;
  });
  add(trace.end());
  return sum;
}

// The counters are of GPU 0, whichever GPU's times are measured.
IntervalSet kernels_of_first(const Measured& measured) {
  const bool first = measured.rank < 0 || (measured.rank == 0 && measured.device == 0);
  return first ? measured.kernels : of_gpu(measured, 0, 0).kernels;
}

// A device calls its kernels by names of its own: there its work tells which it is.
bool carries_out(const trace::Trace& trace, const trace::Span& span,
                 const program::Operation& operation) {
  const trace::Detail* detail = trace.detail(span);
  const auto* kernel = detail ? std::get_if<trace::KernelDetail>(detail) : nullptr;
  return kernel && kernel->flops == operation.flops && kernel->bytes == operation.bytes &&
         (trace::is_measured(trace) || trace.name(span) == operation.kernel);
}

// When GPU 0 carries one operation out, in the window.
IntervalSet times_of(const Measured& measured, const program::Operation& operation) {
  const trace::Trace& trace = *measured.trace;
  std::vector<Interval> times;
  const Interval window = measured.window_of(0);
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    const Interval clipped{std::max(span.start, window.start), std::min(span.end(), window.end)};
    if (clipped.start >= clipped.end || !trace::is_kernel(span.category)) return;
    const trace::Lane& lane = trace.lanes()[span.lane];
    const bool first = measured.rank < 0 || (lane.rank == 0 && lane.device <= 0);
    if (lane.kind == trace::LaneKind::kStream && first && carries_out(trace, span, operation))
      times.push_back(clipped);
  });
  return IntervalSet(std::move(times));
}

void add_measured_use(const Measured& measured, const program::Operation& longest, SmFacts& facts) {
  const machine::Gpu& gpu = measured.machine->gpu;
  const IntervalSet kernels = kernels_of_first(measured), one = times_of(measured, longest);
  const auto time = static_cast<double>(kernels.length());
  const double busy = area(*measured.trace, sim::kBusySmsLane, kernels);
  if (time > 0 && busy > 0) facts.utilization = busy / (time * gpu.sm_count);
  const double sms = area(*measured.trace, sim::kBusySmsLane, one);
  const double warps = area(*measured.trace, sim::kResidentWarpsLane, one);
  if (sms > 0) facts.achieved = warps / (sms * (gpu.threads_per_sm / machine::kWarp));
}

// Of a training step most kernels are alike: each kind is carried out once.
const program::Operation* longest_of(const program::Program& program, const machine::Gpu& gpu) {
  const program::Operation* longest = nullptr;
  Nanos duration = 0;
  sim::LoneRuns runs;
  for (const program::Operation& operation : program.operations) {
    if (!operation.block_work) continue;
    const sim::LoneRun& one =
        runs.run(sim::sm_limits(gpu), {}, sim::block_cost(operation, gpu), operation.blocks);
    if (longest && one.duration <= duration) continue;
    longest = &operation;
    duration = one.duration;
  }
  return longest;
}

}  // namespace

SmFacts sm_facts(const Measured& measured) {
  SmFacts facts;
  if (!measured.program || !measured.machine) return facts;
  const machine::Gpu& gpu = measured.machine->gpu;
  const program::Operation* longest = longest_of(*measured.program, gpu);
  if (!longest) return facts;
  const sim::SmRun run = sim::run_alone(*longest, gpu);
  facts.theoretical = run.occupancy.theoretical;
  facts.waves = static_cast<double>(run.waves);
  facts.tail_idle = run.tail_idle;
  add_measured_use(measured, *longest, facts);
  return facts;
}

}  // namespace trainscope::analysis
