#include "cuda/clock_shift.h"

#include <catch2/catch.hpp>

using namespace trainscope;
using namespace trainscope::cuda;

namespace {

// A launch and a wait for it: host 0..10 and 20..100; the kernel as the tracer tells it.
struct Story {
  std::vector<ThreadLog> logs{1};
  std::vector<Activity> activities;

  void launch(Nanos start, Nanos end, CallId id, program::Index stream = 0) {
    HostSpan span;
    span.start = start;
    span.end = end;
    span.call = id;
    logs[0].spans.push_back(span);
    Call call;
    call.id = id;
    call.stream = stream;
    call.span = static_cast<std::int64_t>(logs[0].spans.size()) - 1;
    logs[0].calls.push_back(call);
  }
  void wait(Nanos start, Nanos end, program::Index stream = program::kNoIndex) {
    HostSpan span;
    span.start = start;
    span.end = end;
    span.drains = true;
    span.stream = stream;
    logs[0].spans.push_back(span);
  }
  void told(CallId id, Nanos start, Nanos end) {
    Activity one;
    one.call = id;
    one.start = start;
    one.end = end;
    activities.push_back(one);
  }
  Nanos shift() const { return clock_shift(logs, activities); }
};

Story story(Nanos start, Nanos end) {
  Story story;
  story.launch(100, 110, 1);
  story.wait(120, 200);
  story.told(1, start, end);
  return story;
}

}  // namespace

TEST_CASE("times that follow their causes are left as they are") {
  CHECK(story(105, 195).shift() == 0);
  CHECK(story(100, 200).shift() == 0);
  CHECK(Story().shift() == 0);
}

TEST_CASE("a clock that is behind is set later, by as little as is needed") {
  CHECK(story(60, 150).shift() == 40);
}

TEST_CASE("a clock that is ahead is set earlier") {
  CHECK(story(150, 230).shift() == -30);
}

TEST_CASE("where no shift does both, both are missed by as much") {
  const Nanos shift = story(90, 220).shift();  // at least 10 later, at least 20 earlier
  CHECK(shift == -5);
}

TEST_CASE("a wait is for what was launched before it, on its stream or on all") {
  Story one;
  one.launch(100, 110, 1, 3);
  one.wait(120, 130, 4);  // another stream's
  one.told(1, 200, 300);
  CHECK(one.shift() == 0);
  one.launch(140, 150, 2, 4);
  one.told(2, 240, 290);
  one.wait(135, 145, 4);  // called before that launch had returned
  CHECK(one.shift() == 0);
  one.wait(160, 200);  // for all: the first is done at 300
  CHECK(one.shift() == -100);
}
