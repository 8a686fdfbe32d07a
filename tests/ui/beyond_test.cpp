// What goes on past what is in sight: a wait without an end, and lanes below the last one.
#include <catch2/catch.hpp>

#include "base/units.h"
#include "trace/labels.h"
#include "ui/cut_text.h"
#include "ui/driver.h"
#include "ui/stage.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::trace;
using namespace trainscope::ui;

namespace {

struct Stuck {
  Recorded recorded;
  SpanId wait = 0, other = 0;
};

// A wait from 10 to 12 ms whose end is none, and beside it one of the same kind that has an end.
std::unique_ptr<Stuck> stuck() {
  auto made = std::make_unique<Stuck>();
  Trace& trace = made->recorded.trace;
  const auto add = [&](const char* lane, std::string_view name) {
    Lane in;
    in.name = lane;
    Span span;
    span.lane = trace.add_lane(in);
    span.start = 10 * kMillisecond;
    span.duration = 2 * kMillisecond;
    span.category = Category::kSync;
    span.name = trace.intern(name);
    return trace.add_span(span);
  };
  made->wait = add("stream 24", kEndlessWait);
  made->other = add("stream 25", "waits for rank 1");
  made->recorded.index = build_index(trace);
  made->recorded.draw = build_draw_index(trace, made->recorded.index);
  return made;
}

}  // namespace

TEST_CASE("a wait without an end reaches to the right end of what is in view") {
  const auto made = stuck();
  LayoutRequest request;
  request.view_end = 20 * kMillisecond;
  request.width = 1000;
  request.text_width = [](std::string_view words) { return 8 * static_cast<float>(words.size()); };
  const TimelineLayout layout =
      lay_out(made->recorded.trace, made->recorded.index, made->recorded.draw, request);
  REQUIRE(layout.bars.size() == 2);
  for (const Bar& bar : layout.bars) {
    CHECK(bar.x == Approx(500));
    CHECK(bar.endless == (bar.span == made->wait));
    if (bar.span == made->other) CHECK(bar.width == Approx(100));
    if (bar.span == made->wait) {
      CHECK(bar.x + bar.width >= request.width);
      CHECK(bar.label == "waits for a rank that does not come, never ends");
    }
  }
  const Bar* far_right = bar_at(layout, 990, layout.bars[0].y + 5);
  REQUIRE(far_right);
  CHECK(far_right->span == made->wait);
}

TEST_CASE("the card of a wait without an end names no duration") {
  const auto made = stuck();
  const auto duration_of = [&](SpanId span) {
    for (const auto& [key, value] : describe_span(made->recorded.trace, span))
      if (key == "duration") return value;
    return std::string();
  };
  CHECK(duration_of(made->wait) == "never ends");
  CHECK(duration_of(made->other) == format_nanos(2e6));
}

TEST_CASE("lanes that do not fit are said to be below, until the last is in sight") {
  REQUIRE_STAGE(stage);
  const auto many = three_spans(40);
  stage->input.sides = {side_of(*many)};
  stage->settle();
  CHECK(overlapping_text(*ImGui::GetDrawData()).empty());
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  const std::size_t above = letters(*ImGui::GetDrawData());
  stage->state.scroll = 1e6F;
  stage->settle();
  CHECK(overlapping_text(*ImGui::GetDrawData()).empty());
  CHECK(letters(*ImGui::GetDrawData()) != above);
}

TEST_CASE("in front of a room the words about a deadlock are whole") {
  REQUIRE_DRIVER(driver, 1600, 1000);
  walk_to_result(*driver, "ddp-deadlock");
  driver->app().run("present.toggle");
  driver->settle();
  check_words_are_whole();
  CHECK(ellipses(*ImGui::GetDrawData()) == 0);
}
