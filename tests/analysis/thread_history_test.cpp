#include "analysis/causes/thread_history.h"

#include <catch2/catch.hpp>

#include "analysis/causes/works_at_once.h"
#include "support/made_trace.h"

using namespace trainscope;
using analysis::Doing;
using analysis::ThreadHistory;
using trace::Category;
using trace::LaneKind;

TEST_CASE("of spans within spans a thread did the innermost; a mark is nothing that it does") {
  test::MadeTrace made;
  const trace::LaneId host = made.lane(LaneKind::kHostThread);
  const trace::SpanId step = made.add(host, "ProfilerStep#0", 0, 100, Category::kAnnotation);
  const trace::SpanId outer = made.add(host, "aten::addmm", 10, 60, Category::kHostWork);
  const trace::SpanId inner = made.add(host, "cudaLaunchKernel", 20, 30, Category::kHostApi);
  const ThreadHistory history(made.trace, {step, outer, inner});
  const auto check = [&](Nanos time, Nanos start, Nanos end, trace::SpanId span) {
    INFO(time);
    const Doing doing = history.before(time);
    CHECK(doing.start == start);
    CHECK(doing.end == end);
    CHECK(doing.span == span);
  };
  check(20, 10, 20, outer);
  check(21, 20, 30, inner);
  check(30, 20, 30, inner);
  check(31, 30, 60, outer);
  CHECK(history.before(61).span == trace::kNone);
  CHECK(history.before(61).start == 60);
  CHECK(history.before(10).span == trace::kNone);
  CHECK(history.before(10).end == 10);
}

TEST_CASE("of calls that overlap without one holding the other the later one has the time") {
  test::MadeTrace made;
  const trace::LaneId host = made.lane(LaneKind::kHostThread);
  const trace::SpanId first = made.add(host, "first", 0, 50, Category::kHostApi);
  const trace::SpanId second = made.add(host, "second", 30, 80, Category::kHostApi);
  const ThreadHistory history(made.trace, {first, second});
  CHECK(history.before(30).span == first);
  CHECK(history.before(50).span == second);
  CHECK(history.before(80).start == 30);
  CHECK(history.before(81).span == trace::kNone);
}

TEST_CASE("of the kernels that were there when another began the first one is found") {
  test::MadeTrace made;
  const trace::LaneId a = made.lane(LaneKind::kStream, 0), b = made.lane(LaneKind::kStream, 0);
  const trace::LaneId other = made.lane(LaneKind::kStream, 1);
  const trace::SpanId gone = made.add(a, "gone", 0, 10, Category::kKernel);
  const trace::SpanId first = made.add(a, "first", 10, 100, Category::kKernel);
  made.add(other, "of another GPU", 5, 200, Category::kKernel);
  made.add(b, "before it on its stream", 20, 60, Category::kKernel);
  const trace::SpanId late = made.add(b, "late", 60, 90, Category::kKernel);
  const trace::SpanId last = made.add(b, "last", 150, 160, Category::kKernel);
  const analysis::WorksAtOnce at_once(made.trace);
  CHECK(at_once.first_beside(late) == first);
  CHECK(at_once.first_beside(last) == trace::kNone);
  CHECK(at_once.first_beside(gone) == trace::kNone);
}
