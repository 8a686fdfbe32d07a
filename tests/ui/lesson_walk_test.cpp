// A learner's way through a lesson, by mouse: predict, run, find, vary, say it back.
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/files.h"
#include "ui/app/actions/action_table.h"
#include "ui/app/lesson/lesson_card.h"
#include "ui/app/window/trainscope_window.h"
#include "ui/driver.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

constexpr const char* kLesson = "//Lesson##lesson/**/";

std::string in_lesson(const std::string& item) {
  return kLesson + item;
}

void open_first_lesson(Driver& driver) {
  driver.workspace().open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver.settle();
}

// Predicts and runs by mouse; leaves the learner on the step after the run.
void predict_and_run(Driver& driver) {
  REQUIRE(driver.click(in_lesson("Next")));
  REQUIRE(driver.click(in_lesson("option 2")));
  REQUIRE(driver.click(in_lesson("Predict")));
  REQUIRE(driver.click(in_lesson("Next")));
  REQUIRE(driver.click(in_lesson("Run both")));
  REQUIRE(driver.workspace().revealed());
  REQUIRE(driver.click(in_lesson("Next")));
}

trace::SpanId held_span(const Workspace& workspace) {
  scenario::Focus focus;
  focus.run = "A";
  focus.lane = "host main";
  focus.span = "held: staging";
  return scenario::find_spans(focus, *workspace.sides()[0].run).at(1);
}

bool click_span(Driver& driver, const char* side, trace::SpanId span) {
  return driver.act([&](ImGuiTestContext* context) {
    const std::string path = "//Timelines##pair/**/span " + std::to_string(span);
    (void)side;
    context->ItemClick(path.c_str(), 0, ImGuiTestOpFlags_NoCheckHoveredId);
  });
}

std::filesystem::path picture_file(const char* name) {
  return std::filesystem::temp_directory_path() / ("trainscope-" + std::string(name) + ".png");
}

std::string picture_of(const PictureRequest& request, const char* name) {
  const auto file = picture_file(name);
  draw_picture(request, file);
  std::string bytes = read_file(file, 64 << 20);
  std::filesystem::remove(file);
  return bytes;
}

}  // namespace

TEST_CASE("before the prediction nothing has been run and nothing is drawn of a result") {
  REQUIRE_DRIVER(driver);
  open_first_lesson(*driver);
  REQUIRE(driver->click(in_lesson("Next")));
  const Workspace& workspace = driver->workspace();
  for (const SideModel& side : workspace.sides()) {
    CHECK_FALSE(side.run);
    CHECK_FALSE(side.view);
    CHECK(side.outline);
  }
  const TimelineInput input = timeline_input(workspace, driver->app().attention());
  REQUIRE(input.sides.size() == 2);
  for (const TimelineSide& side : input.sides) {
    CHECK_FALSE(side.trace);
    CHECK(side.total.empty());
    CHECK(side.gaps.empty());
    CHECK(side.markers.empty());
    CHECK(side.guesses.empty());
    CHECK_FALSE(side.lane_names.empty());
  }
  CHECK_FALSE(input.playhead);
  for (const CompareRow& row : unknown_comparison(workspace.lesson()->lesson).rows)
    CHECK(row.a + row.b + row.ratio == "???");
  CHECK_FALSE(driver->app().can("lesson.run"));
  CHECK_FALSE(driver->app().can("lesson.explore"));
  CHECK_FALSE(workspace.knobs_free());
}

TEST_CASE("the picture before the prediction is the same whatever the runs say") {
  std::string why_not;
  if (!open_driven<Driver>(why_not)) TRAINSCOPE_SKIP(why_not);
  PictureRequest request;
  request.lesson = scenario::find_lesson("pinned-vs-pageable");
  request.step = 1;
  request.width = 1366;
  request.height = 768;
  const auto a =
      std::make_shared<analysis::Run>(analysis::run_config("A", request.lesson->side("A")));
  request.runs = {
      a, std::make_shared<analysis::Run>(analysis::run_config("B", request.lesson->side("B")))};
  const std::string one = picture_of(request, "before-one");
  program::Config quick = request.lesson->side("B");
  quick.set_text("copy.bytes=4096");
  // The listing says how many bytes are copied, so only the trace and its numbers are another's.
  auto other = std::make_shared<analysis::Run>(analysis::run_config("B", quick));
  other->program = request.runs[1]->program;
  request.runs[1] = other;
  CHECK((picture_of(request, "before-other") == one));
}

TEST_CASE("on the timelines a guess is right or wrong as on the card") {
  REQUIRE_DRIVER(driver);
  Workspace& workspace = driver->workspace();
  for (const int option : {1, 3}) {
    open_first_lesson(*driver);
    workspace.next_step();
    workspace.lesson()->progress.choose(option);
    workspace.lesson()->progress.commit();
    workspace.next_step();
    workspace.run_lesson();
    driver->settle();
    REQUIRE(workspace.revealed());
    const TimelineInput input = timeline_input(workspace, driver->app().attention());
    REQUIRE(input.sides[1].guesses.size() == 1);
    const LessonCard card = card_of(workspace);
    REQUIRE(!card.recaps.empty());
    CHECK(input.sides[1].guesses[0].right == card.recaps[0].question.right);
    CHECK(input.sides[1].guesses[0].right == (option == 3));
    keep_picture(*driver, option == 3 ? "guess-right" : "guess-wrong");
  }
}

TEST_CASE("a learner goes through the lesson by mouse") {
  REQUIRE_DRIVER(driver, 1920, 1800);
  open_first_lesson(*driver);
  const Workspace& workspace = driver->workspace();
  predict_and_run(*driver);
  const scenario::Progress& progress = workspace.lesson()->progress;
  CHECK(progress.answer(1).option == 2);
  CHECK(progress.answer(1).committed);
  CHECK(progress.step() == 3);

  // The guess and the end of B are drawn.
  const TimelineInput input = timeline_input(workspace, driver->app().attention());
  CHECK(input.sides[1].guesses.size() == 1);
  REQUIRE(input.sides[1].markers.size() == 1);
  CHECK(input.sides[1].markers[0].title == "B done");
  CHECK(input.playhead);

  // Another span is not it; the held one is.
  REQUIRE(driver->app().can("lesson.skip"));
  CHECK_FALSE(driver->app().can("lesson.next"));
  REQUIRE(click_span(*driver, "A", held_span(workspace)));
  CHECK(driver->app().attention().timeline.selected.span == held_span(workspace));
  CHECK(progress.answer(3).committed);
  CHECK_FALSE(progress.answer(3).skipped);

  REQUIRE(driver->click(in_lesson("Next")));
  REQUIRE(driver->click(in_lesson("Show me")));
  CHECK_FALSE(driver->app().attention().timeline.fitted);
  REQUIRE(driver->click(in_lesson("Next")));
  REQUIRE(driver->click(in_lesson("Next")));
  CHECK(progress.step() == 6);
  REQUIRE(driver->click(in_lesson("Next")));
  REQUIRE(driver->click(in_lesson("option 1")));
  REQUIRE(driver->click(in_lesson("Answer")));
  CHECK(progress.finished());
  const LessonCard card = card_of(workspace);
  REQUIRE(card.question);
  CHECK(card.question->right == true);
  CHECK(card.error.empty());
  // The last card tells how the simulator is compared with measurements.
  std::string copied;
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    context->ItemClick(in_lesson("Copy the command").c_str());
    if (const char* text = ImGui::GetClipboardText()) copied = text;
  }));
  CHECK(copied == "trainscope validate --published");
  REQUIRE(driver->click(in_lesson("All lessons")));
  CHECK(workspace.screen() == Screen::kShelf);
}

TEST_CASE(
    "an explanation zooms to the span that it is about, and leaving it shows the whole again") {
  REQUIRE_DRIVER(driver);
  open_first_lesson(*driver);
  predict_and_run(*driver);
  const TimelineState& timeline = driver->app().attention().timeline;
  const TimeRange whole = timeline.view;
  driver->app().run("lesson.skip");
  CHECK(timeline.fitted);
  const auto next = [&] {
    REQUIRE(driver->click(in_lesson("Next")));
    driver->settle();
  };
  const auto shows_its_span = [&] {
    const scenario::Focus& focus = *driver->workspace().lesson()->step().focus;
    const std::size_t side = focus.run == "B" ? 1 : 0;
    const analysis::Run& run = *driver->workspace().sides()[side].run;
    const auto meant = scenario::shown_span(focus, run);
    REQUIRE(meant);
    const trace::Span& span = run.trace->spans()[*meant];
    CHECK(timeline.selected == SpanRef{static_cast<Side>(side), *meant});
    CHECK(timeline.view.start <= span.start);
    CHECK(timeline.view.end >= span.end());
    CHECK(timeline.view.end - timeline.view.start < (whole.end - whole.start) / 2);
  };
  next();
  shows_its_span();
  next();
  shows_its_span();
  next();
  CHECK(timeline.view == whole);
  // What the learner has gone on to look at stays.
  REQUIRE(driver->click(in_lesson("Back")));
  driver->settle();
  shows_its_span();
  driver->app().run("view.zoom_in");
  driver->settle();
  const TimeRange own = timeline.view;
  next();
  CHECK(timeline.view == own);
}

TEST_CASE("turning a knob makes both timelines follow, and the next step takes it back") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  open_first_lesson(*driver);
  predict_and_run(*driver);
  const Workspace& workspace = driver->workspace();
  const Nanos before_a = workspace.sides()[0].view->trace->end();
  const Nanos before_b = workspace.sides()[1].view->trace->end();
  for (const char* side : {"copy.bytes@A", "copy.bytes@B"})
    REQUIRE(driver->act([side](ImGuiTestContext* context) {
      const std::string item = std::string("//Knobs##pair/**/") + side;
      const ImGuiTestItemInfo info = context->ItemInfo(item.c_str());
      context->MouseMoveToPos({info.RectFull.Min.x + 30, info.RectFull.GetCenter().y});
      context->MouseClick(0);
    }));
  CHECK(workspace.sides()[0].view->trace->end() < before_a);
  CHECK(workspace.sides()[1].view->trace->end() < before_b);
  CHECK(workspace.knobs_changed());
  driver->app().run("lesson.skip");
  driver->app().run("lesson.next");
  CHECK_FALSE(workspace.knobs_changed());
  CHECK(workspace.sides()[0].view->trace->end() == before_a);
  CHECK(workspace.sides()[1].view->trace->end() == before_b);
}

TEST_CASE("exploring leaves the lesson, and returning restores it exactly") {
  REQUIRE_DRIVER(driver);
  open_first_lesson(*driver);
  predict_and_run(*driver);
  Workspace& workspace = driver->workspace();
  const RunPointer run = workspace.sides()[0].run;
  workspace.playhead.time = 12345;
  const TimeRange view = driver->app().attention().timeline.view;
  REQUIRE(driver->click(in_lesson("Explore from here")));
  CHECK(workspace.forked());
  workspace.set_knob(0, "copy.count", std::int64_t{7});
  driver->app().run("view.zoom_in");
  driver->settle();
  CHECK(workspace.sides()[0].run != run);
  REQUIRE(driver->click(in_lesson("Back to lesson")));
  CHECK_FALSE(workspace.forked());
  CHECK(workspace.sides()[0].run == run);
  CHECK(workspace.playhead.time == 12345);
  CHECK(driver->app().attention().timeline.view == view);
  CHECK(workspace.lesson()->progress.step() == 3);
}

TEST_CASE("actions are found by a few letters and run with Enter") {
  REQUIRE_DRIVER(driver);
  open_first_lesson(*driver);
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_K);
    context->Yield(3);
    context->KeyCharsAppend("dark or");
    context->Yield(2);
    context->KeyPress(ImGuiKey_Enter);
  }));
  CHECK(driver->app().theme_mode() == ThemeMode::kLight);
}

TEST_CASE("a panel that was closed comes back when the layout is reset") {
  REQUIRE_DRIVER(driver);
  open_first_lesson(*driver);
  REQUIRE(driver->click("//Compare##pair/##close"));
  CHECK_FALSE(driver->app().deck().shown.compare);
  driver->app().run("layout.reset");
  driver->settle();
  CHECK(driver->app().deck().shown.compare);
}
