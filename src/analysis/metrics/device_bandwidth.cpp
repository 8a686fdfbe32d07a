#include "analysis/metrics/device_bandwidth.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "machine/roofline.h"

namespace trainscope::analysis {
namespace {

// Bytes, and when they move.
struct Traffic {
  double bytes = 0;     // with device memory
  bool is_any = false;  // L2 may serve all of it
  std::vector<Interval> at{};
};

// Of a program on one GPU: a trace does not tell whether a copy goes to another one.
Traffic copies_within(const Facts& facts) {
  Traffic traffic;
  const Measured& measured = facts.measured;
  if (measured.program->gpus != 1) return traffic;
  trace::for_each(measured.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    if (span.category != trace::Category::kCopyD2D) return;
    const trace::Lane& lane = measured.trace->lanes()[span.lane];
    if (lane.kind != trace::LaneKind::kStream || !measured.counts(lane)) return;
    const trace::Detail* detail = measured.trace->detail(span);
    const auto* copy = detail ? std::get_if<trace::CopyDetail>(detail) : nullptr;
    const Interval time{std::max(span.start, measured.window.start),
                        std::min(span.end(), measured.window.end)};
    if (!copy || time.start >= time.end) return;
    const double share =
        static_cast<double>(time.end - time.start) / static_cast<double>(span.duration);
    const double bytes = 2 * share * static_cast<double>(copy->bytes);
    const double both = 2 * static_cast<double>(copy->bytes);
    if (machine::l2_hits(measured.machine->gpu, both) < 1) traffic.bytes += bytes;
    traffic.is_any = true;
    traffic.at.push_back(time);
  });
  return traffic;
}

}  // namespace

std::optional<double> device_bandwidth(const Facts& facts) {
  const Measured& measured = facts.measured;
  if (!measured.program || !measured.machine || facts.roofline.unknown > 0) return std::nullopt;
  Traffic traffic = copies_within(facts);
  for (const RooflineKernel& kernel : facts.roofline.kernels) {
    if (kernel.work.bytes <= 0 || kernel.nanos <= 0) continue;
    traffic.bytes += kernel.work.device_bytes * static_cast<double>(kernel.time) / kernel.nanos;
    traffic.is_any = true;
  }
  if (!traffic.is_any) return std::nullopt;
  const IntervalSet copies(std::move(traffic.at));
  const Nanos time = measured.kernels.united(copies).length();
  if (time <= 0) return std::nullopt;
  return traffic.bytes / static_cast<double>(time) * 1e9;
}

}  // namespace trainscope::analysis
