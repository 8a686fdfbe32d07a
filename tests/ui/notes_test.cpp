// Notes on the timelines: where their flags stand, and writing, walking and removing them by mouse
// and keys.
#include "ui/timeline/notes.h"

#include <imgui_internal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "analysis/runs/run_file.h"
#include "ui/app/files/export.h"
#include "ui/cut_text.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// Letters are 7 pixels wide.
FlagSizes sizes() {
  FlagSizes sizes;
  sizes.text_width = [](std::string_view text) { return 7 * static_cast<float>(text.size()); };
  sizes.cut = [](std::string_view text, float room) {
    return std::string(text.substr(0, static_cast<std::size_t>(std::max(room, 0.0F) / 7)));
  };
  return sizes;
}

struct Laned {
  Laned() {
    for (int i = 0; i < 3; ++i) {
      trace::Lane lane;
      lane.name = "lane " + std::to_string(i);
      trace.add_lane(lane);
    }
    request.view_end = 1000;
    request.width = 1000;
    draw = build_draw_index(trace, trace::build_index(trace));
    layout = lay_out_lanes(trace, draw, request);
  }
  std::vector<NoteFlag> flags(const std::vector<LaneNote>& notes) const {
    return note_flags(layout, notes, request, sizes());
  }
  trace::Trace trace{trace::Origin{}};
  DrawIndex draw;
  LayoutRequest request;
  TimelineLayout layout;
};

ImVec2 at(ImGuiTestContext* context, float across, float down) {
  const ImRect box = context->GetWindowByRef("//Timelines##pair")->Rect();
  return {box.Min.x + box.GetWidth() * across, box.Min.y + box.GetHeight() * down};
}

void select_range(Driver& driver, float from, float to, float down) {
  REQUIRE(driver.act([=](ImGuiTestContext* context) {
    context->MouseMoveToPos(at(context, from, down));
    context->KeyDown(ImGuiMod_Shift);
    context->MouseDown(0);
    context->MouseMoveToPos(at(context, to, down));
    context->MouseUp(0);
    context->KeyUp(ImGuiMod_Shift);
  }));
}

void press(Driver& driver, ImGuiKeyChord key) {
  REQUIRE(driver.act([=](ImGuiTestContext* context) {
    context->MouseMoveToPos(at(context, 0.6F, 0.97F));
    context->KeyPress(key);
  }));
}

void type(Driver& driver, const char* words, ImGuiKey last = ImGuiKey_Enter) {
  REQUIRE(driver.act([=](ImGuiTestContext* context) {
    context->KeyChars(words);
    context->KeyPress(last);
  }));
}

const Notebook::Notes& notes_of(Driver& driver, std::size_t side) {
  return driver.workspace().notebook.of(*driver.workspace().sides()[side].run);
}

}  // namespace

TEST_CASE("a flag stands at its range's start, with as much of its text as there is room for") {
  const Laned lanes;
  const auto flags = lanes.flags({{1, 100, 300, "waits"}, {1, 150, 160, "a longer one"}});
  REQUIRE(flags.size() == 2);
  CHECK(flags[0].x == 100);
  CHECK(flags[0].from == 100);
  CHECK(flags[0].to == 300);
  CHECK(flags[0].shown == "waits");
  CHECK(flags[1].x == 150);
  CHECK(flags[1].shown == "a longer one");
  CHECK(flags[0].lane_top == lanes.layout.lanes[1].y);
  // The next flag cuts the one before it.
  CHECK(lanes.flags({{1, 100, 300, "a longer one"}, {1, 150, 160, "x"}})[0].shown.size() <= 5);
}

TEST_CASE("flags of one lane never cover one another and never leave the view") {
  const Laned lanes;
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<LaneNote> notes;
    for (unsigned i = 0; i < 1 + random() % 20; ++i) {
      const auto start = static_cast<Nanos>(random() % 1400) - 200;
      notes.push_back({static_cast<trace::LaneId>(random() % 2), start,
                       start + static_cast<Nanos>(random() % 300),
                       std::string(random() % 40, 'x')});
    }
    const auto flags = lanes.flags(notes);
    std::size_t in_view = 0;
    for (const LaneNote& note : notes) in_view += note.start <= 1000 && note.end >= 0;
    REQUIRE(flags.size() == in_view);
    for (const NoteFlag& a : flags) {
      REQUIRE(a.x >= 0);
      REQUIRE(a.x + a.width <= 1000.5F);
      for (const NoteFlag& b : flags) {
        if (&a == &b || a.y != b.y) continue;
        REQUIRE((a.x + a.width <= b.x + 0.5F || b.x + b.width <= a.x + 0.5F));
      }
      REQUIRE(flag_at(lanes.layout, flags, a.x + 1, a.y + 1) == &a);
    }
  }
}

TEST_CASE("notes on lanes that are not shown, or out of the view, have no flag") {
  Laned lanes;
  CHECK(lanes.flags({{0, 1001, 1200, "x"}, {0, -50, -1, "y"}, {7, 0, 5, "z"}}).empty());
  lanes.request.hidden = {1};
  lanes.layout = lay_out_lanes(lanes.trace, lanes.draw, lanes.request);
  CHECK(lanes.flags({{1, 0, 5, "x"}}).empty());
}

TEST_CASE("a note is written on a selected range of a lane, and Escape leaves the field") {
  REQUIRE_DRIVER(driver);
  open_trainings(*driver);
  CHECK_FALSE(driver->app().can("note.write"));
  select_range(*driver, 0.4F, 0.6F, 0.3F);
  const TimelineState& state = driver->app().attention().timeline;
  const TimeRange range = *state.range;
  press(*driver, ImGuiMod_Shift | ImGuiKey_N);
  REQUIRE(driver->app().attention().notes.open);
  type(*driver, "never mind", ImGuiKey_Escape);
  CHECK_FALSE(driver->app().attention().notes.open);
  CHECK(notes_of(*driver, 0).empty());
  press(*driver, ImGuiMod_Shift | ImGuiKey_N);
  type(*driver, "the GPU waits here");
  REQUIRE(notes_of(*driver, 0).size() == 1);
  const analysis::RunNote& note = notes_of(*driver, 0)[0];
  CHECK(note.text == "the GPU waits here");
  CHECK(note.start == range.start);
  CHECK(note.end == range.end);
  CHECK(note.lane == state.range_lane.lane);
  CHECK(notes_of(*driver, 1).empty());
  driver->settle();
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
}

TEST_CASE("notes are walked by key, changed and deleted, and a click on a flag selects one") {
  REQUIRE_DRIVER(driver);
  open_trainings(*driver);
  Workspace& workspace = driver->workspace();
  const Nanos end = end_of_sides(workspace);
  workspace.notebook.add(*workspace.sides()[0].run, {1, end / 4, end / 3, "first"});
  workspace.notebook.add(*workspace.sides()[1].run, {1, end / 2, end / 2 + end / 9, "second"});
  driver->settle();
  const NoteDesk& desk = driver->app().attention().notes;
  press(*driver, ImGuiKey_J);
  CHECK(desk.selected == NoteRef{Side::kA, 0});
  press(*driver, ImGuiKey_J);
  CHECK(desk.selected == NoteRef{Side::kB, 0});
  press(*driver, ImGuiKey_J);
  CHECK(desk.selected == NoteRef{Side::kA, 0});
  press(*driver, ImGuiMod_Shift | ImGuiKey_J);
  CHECK(desk.selected == NoteRef{Side::kB, 0});
  press(*driver, ImGuiKey_Escape);
  CHECK_FALSE(selected_note(workspace, desk));
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->ItemClick("//Timelines##pair/**/A/note 0", 0, ImGuiTestOpFlags_NoCheckHoveredId);
  }));
  CHECK(desk.selected == NoteRef{Side::kA, 0});
  REQUIRE(driver->click("//Timelines##pair/**/Edit##note"));
  REQUIRE(desk.open);
  type(*driver, "changed");
  CHECK(notes_of(*driver, 0)[0].text.find("changed") != std::string::npos);
  CHECK(notes_of(*driver, 0)[0].start == end / 4);
  driver->settle();
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  press(*driver, ImGuiKey_Delete);
  CHECK(notes_of(*driver, 0).empty());
  CHECK(notes_of(*driver, 1).size() == 1);
}

TEST_CASE("a note is written from a lane's menu") {
  REQUIRE_DRIVER(driver);
  open_trainings(*driver);
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->MouseMoveToPos(at(context, 0.5F, 0.25F));
    context->MouseClick(ImGuiMouseButton_Right);
    context->ItemClick("//$FOCUSED/Write a note here");
  }));
  REQUIRE(driver->app().attention().notes.open);
  type(*driver, "a moment");
  REQUIRE(notes_of(*driver, 0).size() == 1);
  CHECK(notes_of(*driver, 0)[0].start == notes_of(*driver, 0)[0].end);
}

TEST_CASE("a note goes when a knob is turned, is there again when it is undone, and is saved") {
  REQUIRE_DRIVER(driver);
  open_trainings(*driver);
  Workspace& workspace = driver->workspace();
  workspace.notebook.add(*workspace.sides()[0].run,
                         {1, 0, end_of_sides(workspace) / 4, "of this run"});
  workspace.set_knob(0, "steps", program::Value(std::int64_t{5}));
  driver->settle();
  CHECK(notes_of(*driver, 0).empty());
  CHECK(notes_in_order(workspace).empty());
  workspace.undo();
  driver->settle();
  REQUIRE(notes_of(*driver, 0).size() == 1);
  const auto file = std::filesystem::temp_directory_path() / "trainscope-notes-test.tsrun";
  write_export(workspace, file.string());
  const auto saved = analysis::open_runs(file);
  std::filesystem::remove(file);
  REQUIRE(saved.runs[0]->notes.size() == 1);
  CHECK(saved.runs[0]->notes[0].text == "of this run");
  CHECK(saved.runs[1]->notes.empty());
  workspace.show_shelf();
  workspace.open_runs({saved.runs[0]});
  driver->settle();
  CHECK(notes_of(*driver, 0).size() == 1);
}
