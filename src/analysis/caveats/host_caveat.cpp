#include "analysis/caveats/host_caveat.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "analysis/caveats/recorded_operators.h"
#include "base/units.h"

namespace trainscope::analysis {
namespace {

// While one of them at least is under way, within the measured window: threads of Gloo's carry
// several out at once.
Nanos time_of_gloo(const Measured& measured) {
  std::vector<Interval> times;
  trace::for_each(measured.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    if (!std::string_view(measured.trace->name(span)).starts_with("gloo:") ||
        !measured.counts(measured.trace->lanes()[span.lane]))
      return;
    const Interval one{std::max(span.start, measured.window.start),
                       std::min(span.end(), measured.window.end)};
    if (one.start < one.end) times.push_back(one);
  });
  return IntervalSet(std::move(times)).length();
}

// As the processes are called in the traces of their profiler: "/device:GPU:0"
// (kGpuPlanePrefix of XLA, xla/tsl/profiler/utils/xplane_schema.cc).
bool has_gpu_of_xla(const trace::Trace& trace) {
  bool found = false;
  trace::for_each(trace.lanes(), [&](const trace::Lane& lane, trace::LaneId) {
    found = found || lane.group.starts_with("/device:GPU");
  });
  return found;
}

}  // namespace

std::string host_caveat(const Measured& measured) {
  if (measured.on_gpu || measured.trace->origin().kind != trace::OriginKind::kImported) return "";
  if (has_gpu_of_xla(*measured.trace))
    return "The GPU's streams of this trace are XLA's or TensorFlow's, which are listed as "
           "threads: "
           "what waits for what is read of torch.profiler's traces";
  if (!has_operators(*measured.trace))
    return "This trace has no work of a GPU, and no operators of a host: what it counts is shown";
  const Nanos gloo = time_of_gloo(measured);
  if (gloo == 0)
    return "This trace has no work of a GPU: its host's operators are listed, and nothing tells "
           "what waits for what";
  return fmt::format(
      "This trace has no work of a GPU: its host's operators are listed, and nothing tells what "
      "waits for what; collectives of Gloo are under way for {} of {}",
      format_nanos(static_cast<double>(gloo) / measured.per()),
      format_nanos(static_cast<double>(measured.window.end - measured.window.start) /
                   measured.per()));
}

}  // namespace trainscope::analysis
