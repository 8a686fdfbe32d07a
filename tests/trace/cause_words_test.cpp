// What a span's cause is to it: what let it begin, or what it waited for.
#include "trace/cause_words.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "trace/chrome_reader.h"
#include "trace/chrome_writer.h"

using namespace trainscope;
using namespace trainscope::trace;

namespace {

struct Case {
  LaneKind lane;
  Category category;
  Cause cause;
  const char* words;
};

std::string told(const Case& one) {
  Trace trace{Origin{}};
  Lane lane;
  lane.kind = one.lane;
  Span span;
  span.lane = trace.add_lane(lane);
  span.category = one.category;
  span.cause = one.cause;
  return std::string(relation_to_cause(trace, span)) + " " + std::string(cause_of(span));
}

}  // namespace

TEST_CASE(
    "a wait is told what it waited for, and all else what it began after, or what slowed it") {
  constexpr LaneKind kHost = LaneKind::kHostThread, kStream = LaneKind::kStream;
  const Case cases[] = {
      {kHost, Category::kHeld, Cause::kDevice, "waited for device work"},
      {kHost, Category::kHeld, Cause::kStaging, "waited for the staging copy"},
      {kHost, Category::kHeld, Cause::kLock, "waited for the interpreter lock"},
      {kHost, Category::kHeld, Cause::kRoom, "waited for room in the launch queue"},
      {kHost, Category::kHostWork, Cause::kData, "waited for data"},  // backward()
      {kStream, Category::kSync, Cause::kPeer, "waited for another rank"},
      {kHost, Category::kHostApi, Cause::kProgram, "began after the command before it"},
      {kStream, Category::kForward, Cause::kLaunch, "began after its launch"},
      {kStream, Category::kForward, Cause::kRoom, "began once it had room on the SMs"},
      {kStream, Category::kCopyH2D, Cause::kEngine, "began once it had the copy engine"},
      {kHost, Category::kHostWork, Cause::kCore, "slowed by other threads on its core"},
      {kStream, Category::kCopyH2D, Cause::kStaging, "began after the staging copy"},
      {kStream, Category::kCollective, Cause::kPeer, "began after another rank"},
  };
  for (const Case& one : cases) CHECK(told(one) == one.words);
}

TEST_CASE("a file of ours says that a launch waited for its queue, and that is read back") {
  Trace trace{Origin{}};
  Lane lane;
  lane.name = "host main";
  lane.kind = LaneKind::kHostThread;
  Span span;
  span.lane = trace.add_lane(lane);
  span.name = trace.intern("launch queue full");
  span.duration = 10;
  span.category = Category::kHeld;
  span.cause = Cause::kRoom;
  trace.add_span(span);
  std::ostringstream out;
  write_chrome_trace(trace, out);
  CHECK(out.str().find("\"room in the launch queue\"") != std::string::npos);
  const auto back = read_chrome_trace("x", out.str());
  REQUIRE(back->spans().size() == 1);
  CHECK(back->spans()[0].cause == Cause::kRoom);
}
