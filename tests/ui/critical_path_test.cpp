// The critical path on the timelines: what is on it stands out, below stands what it is made of.
#include <imgui_internal.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "ui/cut_text.h"
#include "ui/panels/timelines/timelines.h"
#include "ui/runs.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

PathView& path_of(Driver& driver) {
  return driver.app().attention().path;
}

void press(Driver& driver, ImGuiKeyChord key) {
  REQUIRE(driver.act([=](ImGuiTestContext* context) {
    const ImRect box = context->GetWindowByRef("//Timelines##pair")->Rect();
    context->MouseMoveToPos({box.Min.x + box.GetWidth() * 0.6F, box.Max.y - 90});
    context->KeyPress(key);
  }));
  driver.settle();
}

const PathFacts& facts_of(Driver& driver, std::size_t side) {
  const PathFacts* facts = path_of(driver).of(side, driver.workspace().sides()[side]);
  REQUIRE(facts);
  return *facts;
}

}  // namespace

TEST_CASE("Shift+P shows the critical path of both runs and what it is made of; Escape leaves it") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("pinned-vs-pageable");
  press(*driver, ImGuiMod_Shift | ImGuiKey_P);
  REQUIRE(path_of(*driver).on);
  const PathFacts& a = facts_of(*driver, 0);
  const PathFacts& b = facts_of(*driver, 1);
  CHECK(path_words(a).starts_with("staging 9"));
  CHECK(path_words(b).starts_with("copies "));
  CHECK(a.matches.count > 0);
  // The path hops from transfers to staging copies.
  CHECK_FALSE(a.chain.hops.empty());
  const TimelineInput input = timeline_input(driver->workspace(), driver->app().attention());
  CHECK(input.sides[0].matches == &a.matches);
  CHECK(input.sides[0].chain == &a.chain);
  CHECK(cut_text(*ImGui::GetDrawData()).empty());

  press(*driver, ImGuiKey_Escape);
  CHECK_FALSE(path_of(*driver).on);
  CHECK_FALSE(timeline_input(driver->workspace(), driver->app().attention()).sides[0].matches);
}

TEST_CASE("a search is shown before the critical path") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("stream-overlap");
  driver->app().run("timeline.critical_path");
  driver->app().run("timeline.search");
  driver->app().attention().search.words = "copy";
  driver->settle();
  const TimelineInput input = timeline_input(driver->workspace(), driver->app().attention());
  CHECK(input.sides[0].matches == driver->app().attention().search.matches(0));
  CHECK_FALSE(input.sides[0].chain);
}

TEST_CASE("a knob that changes a run changes its critical path") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("pinned-vs-pageable");
  driver->app().run("timeline.critical_path");
  driver->settle();
  CHECK(path_words(facts_of(*driver, 0)).starts_with("staging "));
  driver->workspace().set_knob(0, "copy.memory", program::Value(std::string("pinned")));
  driver->settle();
  CHECK(path_words(facts_of(*driver, 0)).starts_with("copies "));
}

TEST_CASE("a critical path that is no longer wanted is not found to its end") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("pinned-vs-pageable");
  const SideModel& side = driver->workspace().sides()[0];
  CHECK(find_path(side.run, side.view, [] { return false; }));
  CHECK_FALSE(find_path(side.run, side.view, [] { return true; }));
}

TEST_CASE("a selected span says whether it is on the critical path that is shown") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("stream-overlap");
  driver->app().run("timeline.critical_path");
  driver->settle();
  const PathFacts& facts = facts_of(*driver, 0);
  const auto on = std::ranges::find(facts.path.pieces, analysis::PathPart::kKernels,
                                    &analysis::PathPiece::part);
  REQUIRE(on != facts.path.pieces.end());
  CHECK(on_path_words(facts, on->span).starts_with("for "));
  trace::SpanId off = 0;
  while (!facts.chain.on(off).empty()) ++off;
  REQUIRE(off < facts.run->trace->spans().size());
  CHECK(on_path_words(facts, off).starts_with("not on"));
}

TEST_CASE("a copy on the critical path is on it on its engine's lane and on its stream's") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("pinned-vs-pageable");
  driver->app().run("timeline.critical_path");
  driver->settle();
  const PathFacts& facts = facts_of(*driver, 1);
  const trace::Trace& trace = *facts.run->trace;
  int copies = 0;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId id) {
    if (span.category != trace::Category::kCopyH2D) return;
    ++copies;
    INFO(trace.lanes()[span.lane].name);
    CHECK(on_path_words(facts, id).starts_with("for "));
  });
  CHECK(copies == 6);
}

TEST_CASE("the arrows of a critical path stand where it passes, and none runs back in time") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("pinned-vs-pageable");
  driver->app().run("timeline.critical_path");
  driver->settle();
  for (const std::size_t side : {0U, 1U}) {
    const PathFacts& facts = facts_of(*driver, side);
    const IndexedTrace& view = *driver->workspace().sides()[side].view;
    LayoutRequest request;
    request.view_end = view.trace->end();
    request.width = 1000;
    request.links = facts.chain.hops;
    const TimelineLayout layout = lay_out(*view.trace, view.index, view.draw, request);
    REQUIRE(layout.arrows.size() == facts.chain.hops.size());
    for (std::size_t i = 0; i < layout.arrows.size(); ++i) {
      const Arrow& arrow = layout.arrows[i];
      const double passed = static_cast<double>(*facts.chain.hops[i].passed) /
                            static_cast<double>(request.view_end) * request.width;
      CHECK(arrow.x1 == Approx(passed).margin(0.01));
      CHECK(arrow.x0 <= arrow.x1 + 0.01F);
      if (i > 0) CHECK(arrow.x1 >= layout.arrows[i - 1].x1);
    }
  }
}

namespace {

// Of a side's lanes that the path runs on: the height in which each one's label is in sight.
float shown(Driver& driver, const std::string& side, const std::string& lane) {
  float height = 0;
  driver.act([&](ImGuiTestContext* context) {
    const std::string item = "//Timelines##pair/**/" + side + "/lane " + lane;
    if (!context->ItemExists(item.c_str())) return;
    height = context->ItemInfo(item.c_str(), ImGuiTestOpFlags_NoError).RectFull.GetHeight();
  });
  return height;
}

}  // namespace

TEST_CASE("a lane that the critical path runs on is open as long as that is shown") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("pinned-vs-pageable");
  TimelineState& state = driver->app().attention().timeline;
  const trace::Trace& trace = *driver->workspace().sides()[0].view->trace;
  trace::LaneId main = 0;
  while (trace.lanes()[main].name != "host main") ++main;
  const std::vector<trace::LaneId> folded{main};
  state.collapsed[0] = folded;
  driver->settle();
  const float in_one_row = shown(*driver, "A", "host main");
  REQUIRE(in_one_row > 0);
  driver->app().run("timeline.critical_path");
  driver->settle();
  REQUIRE(facts_of(*driver, 0).chain.runs_on(main));
  CHECK(shown(*driver, "A", "host main") > 1.2F * in_one_row);
  driver->app().run("timeline.critical_path");
  driver->settle();
  CHECK(state.collapsed[0] == folded);
  CHECK(shown(*driver, "A", "host main") == Approx(in_one_row));
}

TEST_CASE("before its result a lesson shows no critical path") {
  REQUIRE_DRIVER(driver);
  driver->workspace().open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver->settle();
  driver->app().run("timeline.critical_path");
  driver->settle();
  CHECK_FALSE(path_of(*driver).on);
  CHECK_FALSE(path_of(*driver).sides[0]);
}
