#include "analysis/caveats/lost_kernels.h"

#include <fmt/format.h>

#include <cstdint>
#include <unordered_set>

#include "analysis/caveats/runtime_calls.h"
#include "analysis/steps/by_correlation.h"

namespace trainscope::analysis {

LostKernels lost_kernels(const trace::Trace& trace) {
  std::unordered_set<std::uint32_t> done, launched;  // correlations
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (span.correlation == 0) return;
    if (trace::is_gpu_work(span.category)) done.insert(span.correlation);
    if (is_joined_call(span) && is_launch(trace.name(span))) launched.insert(span.correlation);
  });
  LostKernels found;
  for (const std::uint32_t one : launched) found.lost += done.contains(one) ? 0 : 1;
  found.launches = launched.size();
  return done.empty() ? LostKernels() : found;
}

std::string lost_kernels_caveat(const Measured& measured) {
  constexpr std::size_t kTold = 100;  // of so many launches one
  if (measured.trace->origin().kind != trace::OriginKind::kImported) return "";
  const LostKernels found = lost_kernels(*measured.trace);
  if (found.lost == 0 || kTold * found.lost < found.launches) return "";
  return fmt::format(
      "The kernels of {} of {} launches are not in this trace, so the GPU seems idle while it "
      "worked"
      ": record fewer steps, or with less beside them",
      found.lost, found.launches);
}

}  // namespace trainscope::analysis
