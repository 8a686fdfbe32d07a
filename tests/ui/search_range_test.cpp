// What is shown to whom a lesson asks for a span.
#include "ui/app/lesson/search_range.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "support/made_trace.h"
#include "trace/step_mark.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

constexpr Nanos kStep = 10 * kMillisecond;

// Two steps of a hundred kernels each, 50 us long and 50 us apart, on one stream.
struct Steps : test::MadeTrace {
  trace::LaneId marks = lane(trace::LaneKind::kSteps);
  trace::LaneId stream = lane(trace::LaneKind::kStream, 0);
  std::vector<trace::SpanId> kernels;

  Steps() {
    for (int step = 0; step < 2; ++step) {
      const Nanos begin = step * kStep;
      add(marks, trace::step_mark(step).c_str(), begin, begin + kStep,
          trace::Category::kAnnotation);
      for (Nanos at = 0; at < kStep; at += 100 * kMicrosecond)
        kernels.push_back(add(stream, "gemm", begin + at, begin + at + 50 * kMicrosecond,
                              trace::Category::kForward));
    }
  }
  const trace::Span& span(trace::SpanId id) const { return trace.spans()[id]; }
};

}  // namespace

TEST_CASE("a kernel among many is to be found among a few that are wide enough for their names") {
  const Steps steps;
  const trace::SpanId id = steps.kernels[150];
  const auto range = range_to_search(steps.trace, id, 2 * kStep);
  REQUIRE(range);
  const auto whole = [&](trace::SpanId one) {
    return steps.span(one).start >= range->start && steps.span(one).end() <= range->end;
  };
  const auto seen = std::ranges::count_if(steps.kernels, whole);
  CHECK(seen == 6);
  CHECK(whole(id));
  // Not in the middle, where one would take it without a look.
  const Nanos middle = (range->start + range->end) / 2;
  CHECK((middle < steps.span(id).start || middle > steps.span(id).end()));
  CHECK(range->end - range->start < 12 * steps.span(id).duration);
}

TEST_CASE(
    "what is to be found is shown in its own step, and the whole where it can be seen there") {
  Steps steps;
  const auto range = range_to_search(steps.trace, steps.kernels[100], 2 * kStep);
  REQUIRE(range);
  CHECK(range->start == kStep);
  CHECK(range->end == steps.span(steps.kernels[105]).end());
  CHECK_FALSE(range_to_search(steps.trace, steps.kernels[100], 40 * 50 * kMicrosecond));
  // Far from all others it is shown as large as it can be found.
  const trace::LaneId alone = steps.lane(trace::LaneKind::kStream, 0);
  const trace::SpanId id = steps.add(alone, "cast", kStep + kStep / 2, kStep + kStep / 2 + 1000,
                                     trace::Category::kForward);
  const auto around = range_to_search(steps.trace, id, 2 * kStep);
  REQUIRE(around);
  CHECK(around->end - around->start == 81 * 1000);
  // Of what fills much of its step all of the step is shown.
  const trace::SpanId large =
      steps.add(alone, "scan", kStep, kStep + kStep / 4, trace::Category::kForward);
  CHECK(range_to_search(steps.trace, large, 100 * kStep) == TimeRange{kStep, 2 * kStep});
}

TEST_CASE("what is to be found before the first step is shown as large as in one") {
  test::MadeTrace made;
  const trace::LaneId marks = made.lane(trace::LaneKind::kSteps);
  const trace::LaneId host = made.lane(trace::LaneKind::kHostThread);
  made.add(marks, trace::step_mark(0).c_str(), kStep, 2 * kStep, trace::Category::kAnnotation);
  const trace::SpanId id = made.add(host, "cudaMalloc", kStep / 2, kStep / 2 + 20 * kMicrosecond,
                                    trace::Category::kHostApi);
  const auto range = range_to_search(made.trace, id, 2 * kStep);
  REQUIRE(range);
  CHECK(range->start >= 0);
  CHECK(range->end <= kStep);
  CHECK(range->end - range->start < 100 * 20 * kMicrosecond);
  // Without steps there is nothing that it could be in.
  test::MadeTrace bare;
  const trace::LaneId lane = bare.lane(trace::LaneKind::kHostThread);
  CHECK_FALSE(range_to_search(
      bare.trace, bare.add(lane, "cudaMalloc", 5, 6, trace::Category::kHostApi), 2 * kStep));
}
