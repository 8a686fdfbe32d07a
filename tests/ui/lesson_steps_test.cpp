// Where a lesson's step makes one look: lanes, listings, knobs come into sight by themselves.
#include <imgui_internal.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "analysis/steps/measured.h"
#include "scenario/progress.h"
#include "ui/app/views/line_up.h"
#include "ui/cut_text.h"
#include "ui/driver.h"
#include "ui/panels/comparison/code.h"
#include "ui/panels/comparison/knobs.h"
#include "ui/panels/timelines/timelines.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// Goes on, skipping what is asked, to the first step that it holds for.
template <typename Wanted>
void go_to(Driver& driver, const char* lesson, const Wanted& wanted) {
  driver.open_revealed(lesson);
  scenario::Progress& progress = driver.workspace().lesson()->progress;
  while (!wanted(driver.workspace().lesson()->step())) {
    if (!progress.can_go_on()) progress.skip();
    REQUIRE(progress.step() + 1 < progress.steps());
    driver.app().run("lesson.next");
    driver.settle();
  }
  driver.settle();
}

bool explains_a_span(const scenario::Step& step) {
  return step.kind == scenario::StepKind::kExplain && step.focus && !step.focus->lane.empty();
}

bool asks_for_a_span(const scenario::Step& step) {
  return step.question && step.question->kind == scenario::QuestionKind::kFindSpan;
}

const Attention& attention_of(Driver& driver) {
  return driver.app().attention();
}

// The span that the step asks for or points at.
SpanRef meant_by(const Workspace& workspace, const scenario::Focus& focus) {
  const std::size_t side = focus.run == "B" ? 1 : 0;
  const auto span = scenario::shown_span(focus, *workspace.sides()[side].run);
  REQUIRE(span);
  return {static_cast<Side>(side), *span};
}

const trace::Span& span_of(const Workspace& workspace, const SpanRef& ref) {
  return workspace.sides()[static_cast<std::size_t>(ref.side)].run->trace->spans()[ref.span];
}

}  // namespace

TEST_CASE("a prediction that hides the code hides in what the sides differ, until it is made") {
  REQUIRE_DRIVER(driver, 1366, 768);
  Workspace& workspace = driver->workspace();
  const auto told = [&] {
    const TimelineInput input = timeline_input(workspace, driver->app().attention());
    return input.sides[0].config + input.sides[1].config;
  };
  workspace.open_lesson(scenario::find_lesson("read-a-trace"));
  driver->settle();
  CHECK(workspace.hides_differences());  // on the first step already
  CHECK(workspace.hides("code"));
  CHECK(told().empty());
  keep_picture(*driver, "differences hidden");
  workspace.next_step();
  driver->settle();
  CHECK(told().empty());
  workspace.lesson()->progress.choose(0);
  workspace.lesson()->progress.commit();
  CHECK_FALSE(workspace.hides_differences());
  CHECK_FALSE(workspace.hides("code"));
  CHECK(told().find("loader.sample_ms=50 ns") != std::string::npos);
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver->settle();
  CHECK_FALSE(workspace.hides_differences());
  CHECK_FALSE(told().empty());
}

TEST_CASE("a step that asks for a span shows so much that the span can be seen") {
  for (const char* lesson : {"amp-loss-scale", "num-workers", "zero-stages", "channels-last"}) {
    INFO(lesson);
    REQUIRE_DRIVER(driver, 1366, 768);
    go_to(*driver, lesson, asks_for_a_span);
    const Workspace& workspace = driver->workspace();
    const SpanRef ref = meant_by(workspace, *workspace.lesson()->step().question->span);
    const trace::Span& span = span_of(workspace, ref);
    const TimelineState& timeline = attention_of(*driver).timeline;
    const Nanos offset = ref.side == Side::kB ? workspace.playhead.offset : 0;
    CHECK(timeline.view.start <= span.start + offset);
    CHECK(timeline.view.end >= span.end() + offset);
    CHECK(timeline.view.end - timeline.view.start < 500 * span.duration);
    // It is not given away.
    CHECK(timeline.selected.span == trace::kNone);
    const auto& collapsed = timeline.collapsed[static_cast<std::size_t>(ref.side)];
    CHECK(std::ranges::find(collapsed, span.lane) == collapsed.end());
    const bool clickable = driver->act([&](ImGuiTestContext* context) {
      CHECK(context->ItemExists(("//Timelines##pair/**/span " + std::to_string(ref.span)).c_str()));
    });
    CHECK(clickable);
  }
}

TEST_CASE("a call of the allocator is shown so large that it can be found, its lane unfolded") {
  for (const bool room : {false, true}) {
    INFO(room);
    REQUIRE_DRIVER(driver, 1366, 768);
    driver->app().set_present(room);
    go_to(*driver, "allocated-vs-reserved", asks_for_a_span);
    const Workspace& workspace = driver->workspace();
    const SpanRef ref = meant_by(workspace, *workspace.lesson()->step().question->span);
    const trace::Span& span = span_of(workspace, ref);
    keep_picture(*driver, std::string("allocator's call") + (room ? ", room" : ""));
    const TimelineState& timeline = attention_of(*driver).timeline;
    const Nanos start = span.start + workspace.playhead.offset;
    CHECK(timeline.view.start <= start);
    CHECK(timeline.view.end > start);
    CHECK(timeline.view.end - timeline.view.start < 60 * span.duration);
    CHECK(driver->act([&](ImGuiTestContext* context) {
      CHECK(context->ItemExists(("//Timelines##pair/**/span " + std::to_string(ref.span)).c_str()));
    }));
  }
}

TEST_CASE("a step that asks for a span that can be seen leaves the whole in view") {
  REQUIRE_DRIVER(driver);
  go_to(*driver, "pinned-vs-pageable", asks_for_a_span);
  CHECK(attention_of(*driver).timeline.fitted);
}

TEST_CASE("what is shown to who asks for it stands among its neighbours, at the playhead") {
  int short_ones = 0;
  for (const char* lesson : {"channels-last", "zero-stages", "pinned-vs-pageable"}) {
    INFO(lesson);
    REQUIRE_DRIVER(driver, 1366, 768);
    go_to(*driver, lesson, asks_for_a_span);
    const Workspace& workspace = driver->workspace();
    const SpanRef ref = meant_by(workspace, *workspace.lesson()->step().question->span);
    driver->app().run("lesson.show_me");
    driver->settle();
    const TimelineState& timeline = attention_of(*driver).timeline;
    const trace::Span& span = span_of(workspace, ref);
    CHECK(timeline.selected == ref);
    const auto side = static_cast<std::size_t>(ref.side);
    CHECK(workspace.playhead.time == playhead_at(workspace, side, span.start));
    const Nanos start = span.start + (side > 0 ? workspace.playhead.offset : 0);
    CHECK(timeline.view.start <= start);
    CHECK(timeline.view.end >= start + span.duration);
    const Nanos shown = timeline.view.end - timeline.view.start;
    CHECK(shown <= 3 * end_of_sides(workspace) / 2);
    if (5 * span.duration >= end_of_sides(workspace)) continue;
    ++short_ones;
    CHECK(3 * span.duration <= shown);
  }
  CHECK(short_ones > 0);
}

TEST_CASE("an explained span has its own side's listing beside it, at its line") {
  REQUIRE_DRIVER(driver, 1366, 768);
  go_to(*driver, "stream-overlap", explains_a_span);
  const Workspace& workspace = driver->workspace();
  const SpanRef ref = meant_by(workspace, *workspace.lesson()->step().focus);
  CHECK(attention_of(*driver).code_side == static_cast<std::size_t>(ref.side));
  CHECK(lit_line(workspace, attention_of(*driver)) == span_of(workspace, ref).line);
}

TEST_CASE("a step that points at a line of a listing lights it") {
  REQUIRE_DRIVER(driver, 1366, 768);
  const auto points = [](const scenario::Step& step) {
    return step.focus && !step.focus->code.empty() && step.focus->lane.empty();
  };
  go_to(*driver, "compress-gradients", points);
  const Workspace& workspace = driver->workspace();
  const auto& listing = workspace.sides()[1].outline->listing;
  CHECK(attention_of(*driver).code_side == 1);
  const std::uint16_t line = lit_line(workspace, attention_of(*driver));
  REQUIRE(line > 0);
  CHECK_THAT(listing.lines[line - 1], Catch::Contains("register_comm_hook"));
}

TEST_CASE("what two sides do in a step that points at a span stands below each other") {
  const auto compared = [](const scenario::Step& step) {
    return explains_a_span(step) || asks_for_a_span(step);
  };
  for (const char* lesson : {"tensor-parallel", "zero-stages", "autocast-what-runs-where",
                             "gradient-accumulation", "channels-last"}) {
    REQUIRE_DRIVER(driver, 1366, 768);
    go_to(*driver, lesson, compared);
    const Workspace& workspace = driver->workspace();
    const scenario::Step& step = workspace.lesson()->step();
    INFO(lesson << ", " << step.id);
    const SpanRef ref =
        meant_by(workspace, asks_for_a_span(step) ? *step.question->span : *step.focus);
    const analysis::Run &a = *workspace.sides()[0].run, &b = *workspace.sides()[1].run;
    const analysis::Run& own = ref.side == Side::kB ? b : a;
    CHECK(span_of(workspace, ref).start >= own.facts.measured.window.start);
    CHECK(workspace.playhead.offset != 0);
    CHECK(workspace.playhead.offset == offset_to_compare(a, b, ref.side == Side::kB, ref.span));
    driver->workspace().lesson()->progress.skip();
    while (compared(workspace.lesson()->step())) {
      driver->app().run("lesson.next");
      driver->settle();
    }
    CHECK(workspace.playhead.offset == 0);
  }
}

TEST_CASE("an explained span that is seen in one row leaves its lane's rows folded") {
  REQUIRE_DRIVER(driver, 1280, 720);
  go_to(*driver, "item-synchronises", explains_a_span);
  const Workspace& workspace = driver->workspace();
  const SpanRef ref = meant_by(workspace, *workspace.lesson()->step().focus);
  const TimelineState& timeline = attention_of(*driver).timeline;
  CHECK(timeline.selected == ref);
  // Else there is no room for the stream of which the card tells.
  CHECK(timeline.unfolded[static_cast<std::size_t>(ref.side)].empty());
  const std::string span = "//Timelines##pair/**/span " + std::to_string(ref.span);
  CHECK(driver->act([&](ImGuiTestContext* context) { CHECK(context->ItemExists(span.c_str())); }));
}

TEST_CASE("a step about the numbers of a walk has them in front") {
  REQUIRE_DRIVER(driver, 1366, 768);
  go_to(*driver, "ring-all-reduce",
        [](const scenario::Step& step) { return step.focus && step.focus->panel == "numbers"; });
  const std::size_t with_numbers = letters(*ImGui::GetDrawData());
  REQUIRE(driver->click("//Gradient flow##pair/**/GPUs"));
  const std::size_t with_gpus = letters(*ImGui::GetDrawData());
  CHECK(with_gpus != with_numbers);
  driver->app().show_panel("numbers");
  driver->settle();
  CHECK(letters(*ImGui::GetDrawData()) != with_gpus);
}

TEST_CASE("a knob that a step is about is scrolled to, and lit") {
  for (const char* lesson : {"pinned-vs-pageable", "stream-overlap", "zero-stages", "which-gpu"}) {
    INFO(lesson);
    REQUIRE_DRIVER(driver, 1366, 768);
    go_to(*driver, lesson, [](const scenario::Step& step) {
      return step.kind == scenario::StepKind::kVary && step.focus && !step.focus->knob.empty();
    });
    const std::string knob = driver->workspace().lesson()->step().focus->knob;
    CHECK(attention_of(*driver).lit_knob == knob);
    CHECK_FALSE(attention_of(*driver).follow_knob);
  }
}

TEST_CASE("knobs that a step has one turn come first, and stand in sight in a low window") {
  REQUIRE_DRIVER(driver, 1366, 768);
  const auto first = [&] { return shown_knobs(driver->workspace()).front()->name; };
  const auto varies = [](const scenario::Step& step) {
    return step.kind == scenario::StepKind::kVary;
  };
  go_to(*driver, "time-to-a-loss", varies);
  CHECK(first() == "optimizer.lr");  // beside the panel that the step has in front
  CHECK(attention_of(*driver).lit_knob == "optimizer.lr");
  go_to(*driver, "make-gpt2-fast", varies);
  const auto knobs = shown_knobs(driver->workspace());
  REQUIRE(knobs.size() > 3);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 3; ++i) names.push_back(knobs[i]->name);
  CHECK(names == std::vector<std::string>{"precision", "attention.kernel", "compile.fuse"});
  keep_picture(*driver, "knobs of a step");
  // The third one's switch, too.
  ImRect third;
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    third = context->ItemInfo("//Knobs##pair/**/compile.fuse@A").RectFull;
  }));
  const ImGuiWindow* panel = ImGui::FindWindowByName(kKnobsPanel);
  REQUIRE(panel);
  CHECK(third.Min.y > panel->Pos.y);
  CHECK(third.Max.y < panel->Pos.y + panel->Size.y);
}

TEST_CASE("a run that never ends has no whole time, and no marker of its end") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->open_revealed("ddp-deadlock");
  const TimelineInput input = timeline_input(driver->workspace(), attention_of(*driver));
  CHECK_FALSE(input.sides[0].total.empty());
  CHECK(input.sides[1].total.empty());
  CHECK(input.sides[1].markers.empty());
  CHECK_FALSE(analysis::value_of(driver->workspace().sides()[1].run->metrics, "time.total"));
}

TEST_CASE("no run is called done sooner whose steps are not the shorter ones") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->open_revealed("tensor-parallel");
  // In so short a run what A does before its first step outweighs what its steps save.
  for (const std::size_t side : {0U, 1U})
    driver->workspace().set_knob(side, "steps", program::Value(std::int64_t{2}));
  driver->settle();
  const auto& sides = driver->workspace().sides();
  const auto value = [&](std::size_t side, const char* metric) {
    return *analysis::value_of(sides[side].run->metrics, metric);
  };
  REQUIRE(value(0, "time.step") < value(1, "time.step"));
  REQUIRE(value(0, "time.total") > value(1, "time.total"));
  const TimelineInput input = timeline_input(driver->workspace(), attention_of(*driver));
  CHECK(input.sides[0].markers.empty());
  CHECK(input.sides[1].markers.empty());
}
