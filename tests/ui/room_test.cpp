// What can be read from the back of a room: the options that it votes on, whole lanes, words that
// stand apart, and the panel that is looked at.
#include <imgui_internal.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "scenario/progress.h"
#include "ui/driver.h"
#include "ui/panels/timelines/timelines.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

bool press(Driver& driver, ImGuiKeyChord key) {
  return driver.act([key](ImGuiTestContext* context) { context->KeyPress(key); });
}

// In front of a room, all revealed, at the first step that it holds for.
template <typename Wanted>
void go_to(Driver& driver, const char* lesson, const Wanted& wanted) {
  driver.open_revealed(lesson);
  driver.app().set_present(true);
  driver.workspace().present.reveal_all();
  driver.settle();
  scenario::Progress& progress = driver.workspace().lesson()->progress;
  while (!wanted(driver.workspace().lesson()->step())) {
    if (!progress.can_go_on()) progress.skip();
    REQUIRE(progress.step() + 1 < progress.steps());
    driver.app().run("lesson.next");
    driver.settle();
  }
  driver.settle();
}

void go_to_question(Driver& driver, const char* lesson) {
  driver.workspace().open_lesson(scenario::find_lesson(lesson));
  driver.app().set_present(true);
  driver.settle();
  while (!driver.workspace().lesson()->step().question) REQUIRE(press(driver, ImGuiKey_Space));
}

bool asks_for_a_span(const scenario::Step& step) {
  return step.question && step.question->kind == scenario::QuestionKind::kFindSpan;
}

auto is_step(const char* id) {
  return [id](const scenario::Step& step) { return step.id == id; };
}

// The place of an item, whole and as far as it is in sight; nothing where it is not there.
struct Seen {
  ImRect whole, in_sight;
};
std::optional<Seen> seen(Driver& driver, const std::string& item) {
  std::optional<Seen> found;
  driver.act([&](ImGuiTestContext* context) {
    if (!context->ItemExists(item.c_str())) return;
    const ImGuiTestItemInfo info = context->ItemInfo(item.c_str(), ImGuiTestOpFlags_NoError);
    found = Seen{info.RectFull, info.RectClipped};
  });
  return found;
}

std::optional<Seen> option(Driver& driver, int number) {
  return seen(driver, "//Lesson##lesson/**/option " + std::to_string(number));
}

std::optional<Seen> in_timelines(Driver& driver, const std::string& item) {
  return seen(driver, "//Timelines##pair/**/" + item);
}

bool is_whole(const std::optional<Seen>& seen) {
  return seen && seen->in_sight.GetHeight() > seen->whole.GetHeight() - 1.5F;
}

float share_of(const char* panel) {
  const ImGuiWindow* window = ImGui::FindWindowByName(panel);
  return window ? window->Size.y / ImGui::GetMainViewport()->Size.y : 0;
}

}  // namespace

TEST_CASE("a room sees the option that a hand is counted for, and the one that it took") {
  const auto [width, height] = GENERATE(std::pair{1024, 768}, std::pair{1366, 768});
  CAPTURE(width);
  REQUIRE_DRIVER(driver, width, height);
  go_to_question(*driver, "tensor-parallel");
  CHECK_FALSE(seen(*driver, "//Lesson##lesson/**/Predict"));  // Space does it
  const float before = option(*driver, 0)->whole.GetHeight();
  for (const auto& [key, number] :
       {std::pair{ImGuiKey_3, 2}, std::pair{ImGuiKey_1, 0}, std::pair{ImGuiKey_3, 2}}) {
    REQUIRE(press(*driver, key));
    CHECK(is_whole(option(*driver, number)));
  }
  keep_picture(*driver, "room hands " + std::to_string(width));
  CHECK(option(*driver, 0)->whole.GetHeight() == before);  // its words have not moved
  REQUIRE(press(*driver, ImGuiKey_1));
  REQUIRE(press(*driver, ImGuiKey_3));
  REQUIRE(press(*driver, ImGuiKey_1));
  REQUIRE(press(*driver, ImGuiKey_1));
  REQUIRE(press(*driver, ImGuiKey_3));
  REQUIRE(press(*driver, ImGuiKey_1));  // the last key is not the one that wins
  REQUIRE(press(*driver, ImGuiKey_2));
  REQUIRE(press(*driver, ImGuiKey_Space));
  const LessonModel& lesson = *driver->workspace().lesson();
  const scenario::Answer& answer = lesson.progress.answer(lesson.progress.step());
  REQUIRE(answer.committed);
  CHECK(is_whole(option(*driver, answer.option)));
}

TEST_CASE("that hands are to be counted first stands on the card, with the options, for a while") {
  REQUIRE_DRIVER(driver, 1024, 768);
  go_to_question(*driver, "pinned-vs-pageable");
  REQUIRE(press(*driver, ImGuiKey_Space));
  CHECK(driver->workspace().notice.find("Count hands first") != std::string::npos);
  const ImGuiWindow* window = ImGui::FindWindowByName("##notice");
  CHECK_FALSE((window && window->WasActive));
  CHECK(is_whole(option(*driver, 0)));
  keep_picture(*driver, "room count hands");
  REQUIRE(press(*driver, ImGuiKey_2));
  CHECK(driver->workspace().notice.empty());
  driver->workspace().notice = "Something else.";
  REQUIRE(press(*driver, ImGuiKey_Space));
  CHECK(driver->workspace().notice.empty());
}

TEST_CASE("what stands below the timelines leaves the step's lane whole, and the GPU's") {
  struct Case {
    const char* lesson;
    const char* step;
    const char* lane;
  };
  const Case one = GENERATE(
      Case{"buckets-and-overlap", "vary", "stream 7"}, Case{"memory-anatomy", "vary", "stream 7"},
      Case{"memory-anatomy", "find", "stream 7"}, Case{"occupancy-cliff", "find", "stream 7"});
  CAPTURE(one.lesson, one.step);
  REQUIRE_DRIVER(driver, 1366, 768);
  go_to(*driver, one.lesson, is_step(one.step));
  keep_picture(*driver, std::string("room lanes ") + one.lesson + " " + one.step);
  for (const char* side : {"A", "B"}) {
    CAPTURE(side);
    const auto lane = in_timelines(*driver, std::string(side) + "/lane " + one.lane);
    REQUIRE(lane);
    CHECK(lane->whole.GetHeight() > 20);
  }
}

TEST_CASE("the row of a span that a room is to find is in sight, and its lane's name") {
  const int width = GENERATE(1366, 1024);
  CAPTURE(width);
  REQUIRE_DRIVER(driver, width, 768);
  go_to(*driver, "amp-loss-scale", asks_for_a_span);
  keep_picture(*driver, "room amp " + std::to_string(width));
  const Workspace& workspace = driver->workspace();
  const scenario::Focus& asked = *workspace.lesson()->step().question->span;
  const auto meant = scenario::shown_span(asked, *workspace.sides()[1].run);
  REQUIRE(meant);
  const auto span = in_timelines(*driver, "B/span " + std::to_string(*meant));
  REQUIRE(span);
  CHECK(span->whole.GetHeight() > 12);  // as far as it is in sight
  const auto lane = in_timelines(*driver, "B/lane " + asked.lane);
  REQUIRE(lane);
  CHECK(lane->whole.GetHeight() > 20);
  check_words_are_apart();
}

TEST_CASE("the words of a guess and of who is done stand apart, and on nothing else") {
  const auto [lesson, width] =
      GENERATE(std::pair{"interleaved-pipeline", 1366}, std::pair{"interleaved-pipeline", 1024},
               std::pair{"pinned-vs-pageable", 1024}, std::pair{"pinned-vs-pageable", 1366});
  CAPTURE(lesson, width);
  REQUIRE_DRIVER(driver, width, 768);
  driver->workspace().open_lesson(scenario::find_lesson(lesson));
  driver->app().set_present(true);
  driver->settle();
  for (int i = 0; i < 20 && !driver->workspace().present.verdict; ++i) {
    REQUIRE(press(*driver, ImGuiKey_1));
    REQUIRE(press(*driver, ImGuiKey_Space));
  }
  keep_picture(*driver, std::string("room marks ") + lesson + " " + std::to_string(width));
  const auto guess = in_timelines(*driver, "B/guess 0"),
             marker = in_timelines(*driver, "B/marker 0");
  if (guess && marker) CHECK_FALSE(guess->whole.Overlaps(marker->whole));
  CHECK((guess || marker));
  check_words_are_apart();
}

TEST_CASE("B's memory is drawn below its own time on the timelines") {
  REQUIRE_DRIVER(driver, 1366, 768);
  go_to(*driver, "checkpointing", is_step("find"));
  driver->app().set_present(false);
  driver->app().show_panel("memory");
  driver->settle();
  REQUIRE(driver->workspace().playhead.offset != 0);
  const auto moment_at = [&](std::size_t side) {
    Nanos time = -1;
    REQUIRE(driver->act([&](ImGuiTestContext* context) {
      const ImGuiWindow* panel = ImGui::FindWindowByName(kMemoryPanel);
      // A quarter and three quarters of the panel are in the charts of A and of B.
      const float x = panel->Pos.x + panel->Size.x * (side == 0 ? 0.20F : 0.70F);
      context->MouseMoveToPos({x, panel->Pos.y + panel->Size.y * 0.5F});
      context->MouseClick();
      context->Yield(2);
      time = driver->workspace().playhead.time;
    }));
    return time;
  };
  const Nanos in_a = moment_at(0), in_b = moment_at(1);
  const TimeRange view = driver->app().attention().timeline.view;
  CHECK(std::abs(in_a - in_b) < (view.end - view.start) / 10);
}

TEST_CASE("what is to be compared with A's stands below one of A's") {
  REQUIRE_DRIVER(driver, 1366, 768);
  go_to(*driver, "scaling-efficiency", asks_for_a_span);
  const Workspace& workspace = driver->workspace();
  const TimeRange view = driver->app().attention().timeline.view;
  for (std::size_t side = 0; side < 2; ++side) {
    const trace::Trace& trace = *workspace.sides()[side].run->trace;
    const Nanos offset = side > 0 ? workspace.playhead.offset : 0;
    int found = 0;
    trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
      const bool named = trace.name(span).starts_with("ncclDevKernel_AllReduce");
      if (named && span.start + offset < view.end && span.end() + offset > view.start) ++found;
    });
    CAPTURE(side);
    CHECK(found > 0);
  }
}

TEST_CASE("the all-gather of a backward that is shown lies beside kernels of backward") {
  const scenario::Lesson lesson = scenario::find_lesson("zero-stages");
  const analysis::Run run = analysis::run_config("B", lesson.side("B"));
  const auto step = std::ranges::find_if(lesson.steps, asks_for_a_span);
  REQUIRE(step != lesson.steps.end());
  const auto meant = scenario::shown_span(*step->question->span, run);
  REQUIRE(meant);
  const trace::Span& gather = run.trace->spans()[*meant];
  int backward = 0, others = 0;
  trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::Lane& lane = run.trace->lanes()[span.lane];
    if (lane.name != "stream 7" || lane.rank != run.trace->lanes()[gather.lane].rank) return;
    if (span.start >= gather.end() || span.end() <= gather.start) return;
    ++(span.category == trace::Category::kBackward ? backward : others);
  });
  CHECK(backward > 0);
  CHECK(others == 0);
}

TEST_CASE("a panel that a lecturer opens is looked at, as what a step points at is") {
  REQUIRE_DRIVER(driver, 1366, 768);
  go_to(*driver, "dp-vs-ddp",
        [](const scenario::Step& step) { return step.kind == scenario::StepKind::kRun; });
  CHECK(share_of(kDifferencePanel) < 0.45F);
  driver->app().run("layout.gradient_flow");
  driver->settle();
  keep_picture(*driver, "room flow by hand");
  CHECK(is_in_front(kGradientFlowPanel));
  CHECK(share_of(kGradientFlowPanel) > 0.45F);
  driver->app().deck().toggle("difference");
  driver->settle();
  CHECK(is_in_front(kDifferencePanel));
  CHECK(share_of(kDifferencePanel) < 0.45F);
}

TEST_CASE("a room that hears of the panel Memory sees it, with its chart") {
  const int width = GENERATE(1366, 1024);
  CAPTURE(width);
  REQUIRE_DRIVER(driver, width, 768);
  go_to(*driver, "memory-anatomy", is_step("run"));
  CHECK(is_in_front(kMemoryPanel));
  keep_picture(*driver, "room memory " + std::to_string(width));
  const Nanos before = driver->workspace().playhead.time;
  REQUIRE(driver->act([&](ImGuiTestContext* context) {  // in A's chart
    const ImGuiWindow* panel = ImGui::FindWindowByName(kMemoryPanel);
    context->MouseMoveToPos(
        {panel->Pos.x + panel->Size.x * 0.25F, panel->Pos.y + panel->Size.y * 0.32F});
    context->MouseClick();
  }));
  CHECK(driver->workspace().playhead.time != before);
  go_to(*driver, "memory-anatomy", is_step("roles"));
  CHECK(is_in_front(kMemoryPanel));
}
