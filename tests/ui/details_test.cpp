// What a selected span tells: its card, its source line, its cause and its arrows, all to be
// clicked.
#include <imgui_internal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string_view>
#include <vector>

#include "ui/driver.h"
#include "ui/panels/comparison/code.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

void run_first_lesson(Driver& driver) {
  driver.workspace().open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver.settle();
  for (const char* action :
       {"lesson.next", "lesson.skip", "lesson.next", "lesson.run", "lesson.next"}) {
    driver.app().run(action);
    driver.settle();
  }
  REQUIRE(driver.workspace().revealed());
}

using Wanted = bool (*)(const trace::Trace&, trace::SpanId);

trace::SpanId first_span(const trace::Trace& trace, Wanted wanted) {
  for (trace::SpanId id = 0; id < trace.spans().size(); ++id)
    if (wanted(trace, id)) return id;
  return trace::kNone;
}

bool has_cause(const trace::Trace& trace, trace::SpanId id) {
  return trace.spans()[id].cause_span != trace::kNone;
}

bool leads_on(const trace::Trace& trace, trace::SpanId id) {
  for (const Link& link : links_of(trace, id))
    if (link.from == id && !link.is_cause) return trace.spans()[id].line != 0;
  return false;
}

}  // namespace

TEST_CASE("a selected span's cause, source line and arrows can be followed by mouse") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  run_first_lesson(*driver);
  const trace::Trace& trace = *driver->workspace().sides()[0].view->trace;
  const trace::SpanId caused = first_span(trace, has_cause), leads = first_span(trace, leads_on);
  REQUIRE(caused != trace::kNone);
  REQUIRE(leads != trace::kNone);
  Attention& attention = driver->app().attention();
  TimelineState& timeline = attention.timeline;
  const auto select = [&](trace::SpanId span) {
    timeline.selected = {Side::kA, span};
    driver->settle();
  };
  select(caused);
  REQUIRE(driver->click("//Code##pair/**/cause"));
  CHECK(timeline.selected == SpanRef{Side::kA, trace.spans()[caused].cause_span});

  select(leads);
  CHECK_FALSE(timeline.links.empty());
  CHECK(lit_line(driver->workspace(), attention) == trace.spans()[leads].line);
  REQUIRE(driver->click("//Code##pair/**/arrow"));
  CHECK(timeline.selected.span != leads);
  bool linked = false;
  for (const Link& link : links_of(trace, leads))
    linked = linked || link.from == timeline.selected.span || link.to == timeline.selected.span;
  CHECK(linked);

  select(leads);
  attention.code_side = 1;
  driver->settle();
  REQUIRE(driver->click("//Code##pair/**/line of the listing"));
  CHECK(attention.code_side == 0);
  CHECK(timeline.selected.span == leads);
}

namespace {

// The innermost window of such a name that was drawn in the last frame.
const ImGuiWindow* drawn_window(const char* name) {
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->WasActive && std::string_view(window->Name).find(name) != std::string_view::npos &&
        std::string_view(window->Name).find("Code") != std::string_view::npos)
      return window;
  return nullptr;
}

}  // namespace

TEST_CASE("in a low window the code keeps five lines beside a span's card, and has none without") {
  for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1366, 768}}) {
    REQUIRE_DRIVER(driver, width, height);
    run_first_lesson(*driver);
    INFO(height);
    CHECK(drawn_window("##listing"));
    CHECK_FALSE(drawn_window("##details"));
    const trace::Trace& trace = *driver->workspace().sides()[0].view->trace;
    driver->app().attention().timeline.selected = {Side::kA, first_span(trace, has_cause)};
    driver->settle();
    REQUIRE(drawn_window("##details"));
    CHECK(drawn_window("##details")->Size.y >= 50);
    const ImGuiWindow& listing = *drawn_window("##listing");
    std::vector<float> lines;
    REQUIRE(driver->act([&](ImGuiTestContext* context) {
      ImGuiTestItemList items;
      context->GatherItems(&items, listing.ID);
      for (const ImGuiTestItemInfo& item : items)
        if (std::string_view(item.DebugLabel) == "line") lines.push_back(item.RectFull.GetHeight());
    }));
    REQUIRE(!lines.empty());
    CHECK(listing.Size.y >= 5 * *std::min_element(lines.begin(), lines.end()));
  }
}
