#include "analysis/views/placed_kernels.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace trainscope::analysis {
namespace {

// What a trace tells of a kernel's operation: its name, FLOPs, bytes and blocks.
using Told = std::tuple<std::string_view, double, double, std::int32_t>;

Told told_of(const program::Operation& operation) {
  const auto blocks = std::min<std::int64_t>(operation.blocks, INT32_MAX);
  return {operation.kernel, operation.flops, operation.bytes, static_cast<std::int32_t>(blocks)};
}

// A device calls its kernels by names of its own, and gives them grids of their own: their work
// alone is told alike.
Told without_shape(const Told& told) {
  return {"", std::get<1>(told), std::get<2>(told), 0};
}

using Operations = std::map<Told, program::Index>;

Operations placed_operations(const program::Program& program, bool measured) {
  Operations operations;
  for (program::Index i = 0; i < program.operations.size(); ++i) {
    if (!program.operations[i].block_work) continue;
    const Told told = told_of(program.operations[i]);
    operations[measured ? without_shape(told) : told] = i;
  }
  return operations;
}

// Null where the span is no kernel of which the trace tells anything.
const trace::KernelDetail* kernel_told(const trace::Trace& trace, const trace::Span& span) {
  if (!trace::is_kernel(span.category) || trace.lanes()[span.lane].kind != trace::LaneKind::kStream)
    return nullptr;
  const trace::Detail* detail = trace.detail(span);
  return detail ? std::get_if<trace::KernelDetail>(detail) : nullptr;
}

}  // namespace

std::vector<PlacedKernel> placed_kernels(const Run& run) {
  if (!run.program) return {};
  const trace::Trace& trace = *run.trace;
  const bool measured = trace::is_measured(trace);
  const Operations operations = placed_operations(*run.program, measured);
  std::vector<PlacedKernel> kernels;
  if (operations.empty()) return kernels;
  for (std::uint32_t i = 0, count = trace.spans().size(); i < count; ++i) {
    const trace::Span& span = trace.spans()[i];
    const trace::KernelDetail* kernel = kernel_told(trace, span);
    if (!kernel) continue;
    const Told told{trace.name(span.name), kernel->flops, kernel->bytes, kernel->grid[0]};
    const auto found = operations.find(measured ? without_shape(told) : told);
    if (found != operations.end()) kernels.push_back({span.start, i, found->second});
  }
  std::ranges::stable_sort(kernels, {}, &PlacedKernel::time);
  return kernels;
}

std::optional<LongestPlaced> longest_placed(const Run& run) {
  const Measured& measured = run.facts.measured;
  std::map<program::Index, LongestPlaced> by_operation;
  Nanos all = 0;
  for (const PlacedKernel& kernel : placed_kernels(run)) {
    const trace::Span& span = run.trace->spans()[kernel.span];
    const Nanos time =
        std::min(span.end(), measured.window.end) - std::max(span.start, measured.window.start);
    if (time <= 0 || !measured.counts(run.trace->lanes()[span.lane])) continue;
    LongestPlaced& one = by_operation[kernel.operation];
    one.operation = kernel.operation;
    one.launches += 1;
    one.time += time;
    all += time;
  }
  if (by_operation.empty()) return std::nullopt;
  LongestPlaced longest = std::ranges::max_element(by_operation, {}, [](const auto& one) {
                            return one.second.time;
                          })->second;
  longest.of_all = all;
  return longest;
}

}  // namespace trainscope::analysis
