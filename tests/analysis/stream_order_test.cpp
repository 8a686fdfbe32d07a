// When a stream or a device was free for a piece of work.

#include "analysis/causes/stream_order.h"

#include <catch2/catch.hpp>

#include "base/time_ends.h"
#include "support/made_trace.h"

using namespace trainscope;
using analysis::StreamOrder;
using trace::Category;

namespace {

// Two streams of a GPU, and one of another.
struct Made : test::MadeTrace {
  trace::LaneId compute = stream(0), copies = stream(0), elsewhere = stream(1);

  trace::LaneId stream(std::int32_t device) { return lane(trace::LaneKind::kStream, device); }
  trace::Span add(trace::LaneId on, Nanos start, Nanos end, Category category,
                  std::uint32_t correlation) {
    return trace.spans()[MadeTrace::add(on, "work", start, end, category, correlation)];
  }
};

}  // namespace

TEST_CASE("a stream was free at the end of the last work on it, whatever else the device did") {
  Made made;
  made.add(made.copies, 40, 60, Category::kCopyH2D, 1);
  made.add(made.compute, 0, 90, Category::kForward, 2);
  made.add(made.elsewhere, 0, 95, Category::kForward, 3);
  made.add(made.copies, 10, 30, Category::kMemset, 4);  // not in the order of time
  const trace::Span copy = made.add(made.copies, 100, 120, Category::kCopyH2D, 5);
  const StreamOrder streams(made.trace, Category::kCopyH2D, StreamOrder::Of::kStream);
  CHECK(streams.free_before(copy, copy.start) == 60);
  CHECK(streams.free_before(copy, 59) == 30);
  CHECK(streams.free_before(copy, 29) == kBeforeAll);
  const StreamOrder devices(made.trace, Category::kCopyH2D, StreamOrder::Of::kDevice);
  CHECK(devices.free_before(copy, copy.start) == 90);
}

TEST_CASE("what belongs to the same call, and what is no work, does not stand before it") {
  Made made;
  made.add(made.copies, 0, 10, Category::kForward, 1);
  made.add(made.copies, 20, 30, Category::kSync, 2);    // a wait for other ranks
  made.add(made.copies, 30, 40, Category::kMemset, 3);  // of the same call
  const trace::Span sum = made.add(made.copies, 40, 50, Category::kCollective, 3);
  const StreamOrder order(made.trace, Category::kCollective, StreamOrder::Of::kStream);
  CHECK(order.free_before(sum, sum.start) == 10);
}

TEST_CASE("places without work of the category are not looked after") {
  Made made;
  const trace::Span kernel = made.add(made.compute, 10, 20, Category::kForward, 1);
  made.add(made.compute, 0, 5, Category::kForward, 2);
  const StreamOrder order(made.trace, Category::kCopyD2H, StreamOrder::Of::kStream);
  CHECK(order.free_before(kernel, kernel.start) == kBeforeAll);
}
