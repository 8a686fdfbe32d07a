#include "train/replay/pinned_copies.h"

#include <algorithm>
#include <cmath>

#include "train/replay/recorded_link.h"

namespace trainscope::train {
namespace {

const trace::CopyDetail* copy_of(const trace::Trace& trace, const trace::Span& span) {
  const trace::Detail* detail = trace.detail(span);
  return detail ? std::get_if<trace::CopyDetail>(detail) : nullptr;
}

}  // namespace

PinnedCopies::PinnedCopies(const program::Config& config, const trace::Trace& trace)
    : trace_(trace) {
  if (!config.flag("replay.non_blocking")) return;  // none is asked for
  // Of smaller ones a good part is latency: 1 MiB takes some 20 to 80 us of PCIe 5.0 to 3.0.
  constexpr std::int64_t kLarge = 1 << 20;
  double bytes = 0, time = 0;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (span.category != trace::Category::kCopyH2D) return;
    const trace::CopyDetail* copy = copy_of(trace, span);
    if (!copy || copy->from != trace::Memory::kPinned || copy->bytes < kLarge) return;
    bytes += static_cast<double>(copy->bytes);
    time += static_cast<double>(span.duration);
  });
  if (time > 0) {
    bytes_per_s_ = bytes / time * 1e9;
  } else {
    const machine::Pcie link = recorded_link(config, trace);
    bytes_per_s_ = link.h2d_bytes_per_s;
    latency_ = link.h2d_latency_ns;
  }
}

Nanos PinnedCopies::time_of(const trace::Span& copy) const {
  const trace::CopyDetail* detail = copy_of(trace_, copy);
  if (!detail || detail->bytes <= 0 || bytes_per_s_ <= 0) return copy.duration;
  const double time = static_cast<double>(detail->bytes) / bytes_per_s_ * 1e9;
  // A file may claim any number of bytes.
  if (time >= static_cast<double>(copy.duration)) return copy.duration;
  return std::min<Nanos>(copy.duration, latency_ + std::llround(time));
}

}  // namespace trainscope::train
