// Our interval algebra against HolisticTraceAnalysis 0.5.0 on a real trace: its definitions, its
// rounding to whole microseconds, its golden values.

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "analysis/steps/intervals.h"
#include "support/skip.h"
#include "support/traces.h"
#include "trace/chrome_reader.h"

using namespace trainscope;
using analysis::Interval;
using analysis::IntervalSet;
using trace::Span;

namespace {

struct Breakdown {
  Nanos kernel_time = 0, idle = 0, compute = 0, non_compute = 0, communication = 0;
  double overlap = 0;  // of communication with compute, percent
};

// HTA takes whole microseconds: the start rounded up, the end down.
Interval rounded(const Span& span, Nanos clock_start) {
  const auto up = [](Nanos ns) { return (ns + 999) / 1000; };
  return {up(span.start + clock_start), (span.end() + clock_start) / 1000};
}

// Work launched before the last profiler step began; that step is dropped.
Breakdown hta_breakdown(const trace::Trace& trace) {
  std::map<std::uint32_t, Nanos> calls;
  Nanos last_step = -1;
  for (std::uint32_t i = 0; i < trace.spans().size(); ++i) {
    const Span& span = trace.spans()[i];
    const bool host = trace.lanes()[span.lane].kind == trace::LaneKind::kHostThread;
    if (host && span.correlation) calls[span.correlation] = span.start;
    if (trace.lanes()[span.lane].kind != trace::LaneKind::kStream &&
        trace.name(span).starts_with("ProfilerStep#"))
      last_step = std::max(last_step, span.start);
  }
  std::vector<Interval> all, compute, communication;
  for (std::uint32_t i = 0; i < trace.spans().size(); ++i) {
    const Span& span = trace.spans()[i];
    // HTA counts synchronisation records as busy, and those without "Sync" in the name as compute.
    const bool record = span.category == trace::Category::kSync;
    const bool work = trace.lanes()[span.lane].kind == trace::LaneKind::kStream &&
                      trace::is_gpu_work(span.category);
    if (!work && !record) continue;
    const bool computes_by_name = record && trace.name(span).find("Sync") == std::string::npos;
    const auto call = calls.find(span.correlation);
    // Without steps nothing is dropped.
    if (last_step >= 0 && (call == calls.end() || call->second >= last_step)) continue;
    const Interval interval = rounded(span, trace.origin().clock_start);
    all.push_back(interval);
    if (trace::is_kernel(span.category) || computes_by_name) compute.push_back(interval);
    if (span.category == trace::Category::kCollective) communication.push_back(interval);
  }
  Breakdown result;
  Nanos first = all.front().start, last = all.front().end;
  for (const Interval& one : all) {
    first = std::min(first, one.start);
    last = std::max(last, one.end);
  }
  const IntervalSet computes(compute), communications(communication);
  result.kernel_time = last - first;
  result.idle = result.kernel_time - IntervalSet(all).length();
  result.compute = computes.length();
  result.non_compute = result.kernel_time - result.compute - result.idle;
  result.communication = communications.length();
  if (result.communication > 0)
    result.overlap = 100.0 * static_cast<double>(computes.intersected(communications).length()) /
                     static_cast<double>(result.communication);
  return result;
}

}  // namespace

TEST_CASE("a real distributed trace has HTA's kernel time, idle time and overlap") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const auto trace =
      trace::read_chrome_trace(test::real_traces_folder() / "ddp-a100-2ranks.json.gz");
  const Breakdown result = hta_breakdown(*trace);
  CHECK(result.kernel_time == 435586);
  CHECK(result.idle == 338781);
  CHECK(result.compute == 75169);
  CHECK(result.non_compute == 21636);
  CHECK(result.communication == 24278);
  CHECK(result.overlap == Approx(14.31).margin(0.005));
}

TEST_CASE("a real trace of one GPU has HTA's breakdown") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const auto trace = trace::read_chrome_trace(test::real_traces_folder() / "alexnet.json.gz");
  const Breakdown result = hta_breakdown(*trace);
  CHECK(result.kernel_time == 12996011);
  CHECK(result.idle == 12929684);
  CHECK(result.compute == 10637);
  CHECK(result.non_compute == 55690);
}
