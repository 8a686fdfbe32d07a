#include "analysis/views/roofline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/steps/lane_kinds.h"
#include "sim/block_cost.h"
#include "sim/kernel_model.h"

namespace trainscope::analysis {
namespace {

using machine::Bound;
using trace::Span;

// What a trace tells of a kernel's operation.
using Shape = std::tuple<std::string_view, double, double, std::int32_t>;

std::map<Shape, const program::Operation*> operations_by_shape(const program::Program& program,
                                                               const machine::Gpu& gpu) {
  std::map<Shape, const program::Operation*> operations;
  for (const program::Operation& one : program.operations) {
    if (one.kind == program::OperationKind::kOpaque) continue;
    const auto blocks = std::min<std::int64_t>(sim::grid_blocks(one, gpu), INT32_MAX);
    operations.try_emplace({one.kernel, one.flops, one.bytes, static_cast<std::int32_t>(blocks)},
                           &one);
  }
  return operations;
}

// A device calls its kernels by names of its own.
using Work = std::pair<double, double>;  // FLOPs, bytes
std::map<Work, const program::Operation*> operations_by_work(const program::Program& program) {
  std::map<Work, const program::Operation*> operations;
  for (const program::Operation& one : program.operations) {
    const program::CallWork work =
        one.as_one_call.value_or(program::CallWork{one.flops, one.bytes});
    if (one.kind != program::OperationKind::kOpaque && work.flops + work.bytes > 0)
      operations.try_emplace({work.flops, work.bytes}, &one);
  }
  return operations;
}

// An operation as a device carries it out, in one call.
program::Operation called(const program::Operation& operation) {
  program::Operation call = operation;
  if (!operation.as_one_call) return call;
  call.kind = program::OperationKind::kGemm;
  call.flops = operation.as_one_call->flops;
  call.bytes = operation.as_one_call->bytes;
  call.block_work.reset();
  return call;
}

// The launches of one operation, or of all that nothing is known of.
struct Group {
  const program::Operation* operation = nullptr;
  std::int64_t launches = 0;
  Nanos whole = 0;  // of the launches, clipped or not
  Nanos time = 0;   // clipped to the window
  Bound bound = Bound::kOverhead;
  std::uint32_t call = 0;  // the last: of a device's, several kernels may be one operation
};
using Groups = std::map<std::ptrdiff_t, Group>;  // by the operation's index; -1: not known

// One launch within the window.
struct Launch {
  Interval time;
  const Group* group = nullptr;
};

class Gatherer {
 public:
  explicit Gatherer(const Measured& measured)
      : measured_(measured),
        operations_(operations_by_shape(*measured.program, measured.machine->gpu)) {
    if (is_measured()) by_work_ = operations_by_work(*measured.program);
  }

  void gather() {
    const trace::Trace& trace = *measured_.trace;
    const std::vector<trace::LaneKind> kinds = lane_kinds(trace);
    by_detail_.assign(trace.details().size() + 1, nullptr);
    trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
      if (!trace::is_kernel(span.category) || kinds[span.lane] != trace::LaneKind::kStream) return;
      if (!measured_.counts(trace.lanes()[span.lane])) return;
      const Interval clipped{std::max(span.start, measured_.window.start),
                             std::min(span.end(), measured_.window.end)};
      if (clipped.start < clipped.end) take(span, clipped);
    });
  }
  Groups& groups() { return groups_; }
  // In the order of the trace.
  const std::vector<Launch>& launches() const { return launches_; }
  bool is_measured() const { return trace::is_measured(*measured_.trace); }

 private:
  void take(const Span& span, Interval clipped) {
    const std::size_t slot =
        std::min<std::size_t>(span.detail, by_detail_.size() - 1);  // the last: without a detail
    Group*& group = by_detail_[slot];
    if (!group) group = &group_of(operation_of(span));
    const bool is_part = is_measured() && span.correlation != 0 && span.correlation == group->call;
    group->call = span.correlation;
    group->launches += is_part ? 0 : 1;
    group->whole += span.duration;
    group->time += clipped.end - clipped.start;
    launches_.push_back({clipped, group});
  }

  Group& group_of(const program::Operation* operation) {
    Group& group =
        groups_[operation ? operation - measured_.program->operations.data() : std::ptrdiff_t{-1}];
    group.operation = operation;
    return group;
  }

  const program::Operation* operation_of(const Span& span) const {
    const trace::Detail* detail = measured_.trace->detail(span);
    const auto* kernel = detail ? std::get_if<trace::KernelDetail>(detail) : nullptr;
    if (!kernel) return nullptr;
    const auto found = operations_.find(
        {measured_.trace->name(span), kernel->flops, kernel->bytes, kernel->grid[0]});
    if (found != operations_.end()) return found->second;
    const auto by_work = by_work_.find({kernel->flops, kernel->bytes});
    return by_work == by_work_.end() ? nullptr : by_work->second;
  }
  const Measured& measured_;
  std::map<Shape, const program::Operation*> operations_;
  std::map<Work, const program::Operation*> by_work_;
  std::vector<Group*> by_detail_;
  Groups groups_;
  std::vector<Launch> launches_;
};

RooflineKernel kernel_of(const Group& group, const machine::Gpu& gpu, bool measured) {
  RooflineKernel kernel;
  kernel.name = group.operation->kernel;
  kernel.work = sim::work_in_flight(measured ? called(*group.operation) : *group.operation, gpu);
  kernel.launches = group.launches;
  kernel.nanos = static_cast<double>(group.whole) / static_cast<double>(group.launches);
  kernel.time = group.time;
  // What device memory could not carry in the time came from L2, where another kernel left it.
  if (gpu.l2_bytes_per_s > 0)
    kernel.work.device_bytes =
        std::min(kernel.work.device_bytes,
                 kernel.nanos * gpu.memory_bytes_per_s * gpu.memory_efficiency * 1e-9);
  kernel.regime = machine::regime(gpu, kernel.work, kernel.nanos);
  return kernel;
}

// A kernel that only moves bytes tells of its work, too.
bool tells_work(const trace::KernelDetail& kernel) {
  return kernel.flops >= 0 && kernel.bytes >= 0 && kernel.flops + kernel.bytes > 0;
}

// Of a file: where it tells FLOPs and bytes of its kernels, as Trainscope's own do.
std::vector<RooflineKernel> told_kernels(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  std::map<Shape, RooflineKernel> kernels;
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    const trace::Detail* detail = trace.detail(span);
    const auto* told = detail ? std::get_if<trace::KernelDetail>(detail) : nullptr;
    const bool inside = span.end() > measured.window.start && span.start < measured.window.end;
    if (!told || !inside || !tells_work(*told)) continue;
    RooflineKernel& kernel = kernels[{trace.name(span), told->flops, told->bytes, told->grid[0]}];
    kernel.name = trace.name(span);
    kernel.work.flops = told->flops;
    kernel.work.bytes = kernel.work.device_bytes = told->bytes;
    ++kernel.launches;
    kernel.time += span.duration;
  }
  std::vector<RooflineKernel> all;
  for (auto& [shape, kernel] : kernels) {
    kernel.nanos = static_cast<double>(kernel.time) / static_cast<double>(kernel.launches);
    all.push_back(std::move(kernel));
  }
  return all;
}

void sort_by_time(std::vector<RooflineKernel>& kernels) {
  std::ranges::stable_sort(kernels, std::ranges::greater{}, &RooflineKernel::time);
}

struct ByBound {
  std::vector<Interval> compute, memory, latency, unknown;
};

// In the order of the trace, in which they need no sorting.
ByBound by_bound(const std::vector<Launch>& launches) {
  ByBound intervals;
  for (const Launch& launch : launches) {
    if (!launch.group->operation)
      intervals.unknown.push_back(launch.time);
    else if (launch.group->bound == Bound::kCompute)
      intervals.compute.push_back(launch.time);
    else if (launch.group->bound == Bound::kMemory)
      intervals.memory.push_back(launch.time);
    else if (launch.group->bound == Bound::kLatency)
      intervals.latency.push_back(launch.time);
  }
  return intervals;
}

// What no kernel that computes, moves memory or waits for either takes is overhead.
void divide_window(Roofline& result, const Interval& window, ByBound intervals) {
  const IntervalSet compute(std::move(intervals.compute)), memory(std::move(intervals.memory)),
      latency(std::move(intervals.latency)), unknown(std::move(intervals.unknown));
  const IntervalSet by_resource = compute.united(memory), busy = by_resource.united(latency);
  const Nanos others = unknown.without(busy).length();
  const auto set = [&](Bound bound, Nanos time) {
    result.time[static_cast<std::size_t>(bound)] = time;
  };
  set(Bound::kCompute, compute.length());
  set(Bound::kMemory, by_resource.length() - compute.length());
  set(Bound::kLatency, busy.length() - by_resource.length());
  set(Bound::kOverhead, window.end - window.start - busy.length() - others);
}

}  // namespace

double Roofline::share(Bound bound) const {
  Nanos all = 0;
  for (const Nanos one : time) all += one;
  return all > 0 ? static_cast<double>((*this)[bound]) / static_cast<double>(all) : 0;
}

Bound Roofline::bound() const {
  const auto largest = std::ranges::max_element(time);
  return static_cast<Bound>(largest - time.begin());
}

Roofline roofline(const Measured& measured) {
  Roofline result;
  if (!measured.program || !measured.machine) {
    result.kernels = told_kernels(measured);
    sort_by_time(result.kernels);
    return result;
  }
  Gatherer gatherer(measured);
  gatherer.gather();
  for (auto& [index, group] : gatherer.groups()) {
    if (!group.operation) {
      result.unknown = group.time;
      continue;
    }
    result.kernels.push_back(kernel_of(group, measured.machine->gpu, gatherer.is_measured()));
    group.bound = result.kernels.back().regime.bound;
  }
  if (result.known()) divide_window(result, measured.window, by_bound(gatherer.launches()));
  sort_by_time(result.kernels);
  return result;
}

std::optional<double> intensity(const Roofline& roofline) {
  double flops = 0, bytes = 0;
  for (const RooflineKernel& kernel : roofline.kernels) {
    flops += kernel.work.flops * static_cast<double>(kernel.launches);
    bytes += kernel.work.bytes * static_cast<double>(kernel.launches);
  }
  if (bytes <= 0) return std::nullopt;
  return flops / bytes;
}

std::optional<machine::Math> used_math(const Roofline& roofline) {
  std::map<machine::Math, double> flops;
  for (const RooflineKernel& kernel : roofline.kernels)
    flops[kernel.work.math] += kernel.work.flops * static_cast<double>(kernel.launches);
  if (flops.empty()) return std::nullopt;
  return std::ranges::max_element(flops, {}, [](const auto& entry) { return entry.second; })->first;
}

std::optional<double> ridge(const Roofline& roofline, const machine::Gpu& gpu) {
  const auto math = used_math(roofline);
  return math ? machine::ridge(gpu, *math) : std::nullopt;
}

}  // namespace trainscope::analysis
