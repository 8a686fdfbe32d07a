// Where the listings of A and B differ, and that a room sees it.
#include "ui/app/views/code_difference.h"

#include <imgui_internal.h>

#include <catch2/catch.hpp>
#include <set>

#include "ui/panels/comparison/source_text.h"
#include "ui/stage.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

using Lines = std::vector<std::string>;
using Of = CodeRow::Of;

std::vector<Of> kinds(const std::vector<CodeRow>& rows) {
  std::vector<Of> list;
  for (const CodeRow& row : rows) list.push_back(row.of);
  return list;
}

}  // namespace

TEST_CASE("listings that are the same have no difference but the line that is pointed at") {
  const Lines lines{"a", "b", "c", "d", "e"};
  CHECK(code_difference(lines, lines).empty());
  const auto rows = code_difference(lines, lines, 3, 3);
  CHECK(kinds(rows) == std::vector{Of::kBoth, Of::kBoth, Of::kBoth});
  CHECK(rows[1].lit);
  CHECK(rows[1].number == 3);
}

TEST_CASE("a difference is A's lines, then B's, with a line of both around them") {
  const Lines a{"1", "x = host", "3", "4", "5", "6", "last"};
  const Lines b{"1", "x = pinned", "more", "3", "4", "5", "6"};
  const auto rows = code_difference(a, b);
  CHECK(kinds(rows) ==
        std::vector{Of::kBoth, Of::kA, Of::kB, Of::kB, Of::kBoth, Of::kGap, Of::kBoth, Of::kA});
  CHECK(rows[1].text == "x = host");
  CHECK(rows[2].number == 2);
  CHECK(rows[7].text == "last");
}

TEST_CASE("in front of a room a key shows where the code differs, and a cause the difference") {
  REQUIRE_DRIVER(driver, 1366, 768);
  walk_to_result(*driver, "pinned-vs-pageable");
  driver->app().set_present(true);
  driver->settle();
  CHECK_FALSE(is_in_front(kCodePanel));
  const auto press = [&](ImGuiKey key) {
    return driver->act([key](ImGuiTestContext* context) { context->KeyPress(key); });
  };
  REQUIRE(press(ImGuiKey_X));
  CHECK(is_in_front(kCodePanel));
  check_words_are_whole(200);
  const Present& present = driver->workspace().present;
  for (int i = 0; i < 8 && present.causes == 0; ++i) {  // what is left of lanes, then a cause
    CHECK(is_in_front(kCodePanel));
    REQUIRE(press(ImGuiKey_Space));
  }
  CHECK(present.causes == 1);
  CHECK(is_in_front(kDifferencePanel));
}

TEST_CASE("a step that points at code brings it before the room") {
  REQUIRE_DRIVER(driver, 1280, 720);
  walk_to_result(*driver, "accumulate-with-no-sync");
  driver->app().set_present(true);
  Workspace& workspace = driver->workspace();
  const auto points = [&] {
    const auto& focus = workspace.lesson()->step().focus;
    return focus && !focus->code.empty();
  };
  for (int i = 0; i < 10 && !points(); ++i) {
    if (driver->app().can("lesson.skip")) driver->app().run("lesson.skip");
    driver->app().run("lesson.next");
    driver->settle();
  }
  REQUIRE(points());
  CHECK(is_in_front(kCodePanel));
  check_words_are_whole(200);
}

TEST_CASE("a room sees the theme that was asked for, in large type") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->app().set_room_theme(ThemeMode::kDark);
  driver->app().set_present(true);
  driver->settle();
  CHECK(driver->app().theme_mode() == ThemeMode::kDark);
  const Sizes dark = make_theme(ThemeMode::kDark, 1, {}, true).size;
  CHECK(dark.text == make_theme(ThemeMode::kProjector, 1).size.text);
  CHECK(dark.label >= 18);
  CHECK(ImGui::GetStyle().FontSizeBase == Approx(dark.text));
}

TEST_CASE("no word is cut and none lies on another in front of a room", "[slow]") {
  const auto [width, height] = GENERATE(std::pair{1366, 768}, std::pair{1280, 720});
  CAPTURE(width);
  REQUIRE_DRIVER(driver, width, height);
  for (const char* lesson : {"pinned-vs-pageable", "dp-vs-ddp", "which-gpu"}) {
    CAPTURE(lesson);
    driver->app().set_present(false);
    walk_to_result(*driver, lesson);
    driver->app().set_present(true);
    driver->workspace().present.reveal_all();
    driver->settle();
    check_words_are_whole(200);
    check_words_are_apart();
    CHECK(ellipses(*ImGui::GetDrawData()) == 0);
  }
}

TEST_CASE("a line that is too long goes on where it may be broken, set in") {
  REQUIRE_STAGE(stage);
  stage->window.begin_frame();
  const float advance = text_size(stage->theme.font.mono, stage->theme.size.label, "0").x;
  const auto rows = [&](const char* line, int columns) {
    return source_rows(stage->theme, line, advance * (static_cast<float>(columns) + 0.5F)).rows;
  };
  using Rows = std::vector<std::string_view>;
  CHECK(rows("x = x.to(device, non_blocking=True)", 30) ==
        Rows{"x = x.to(device, ", "non_blocking=True)"});
  CHECK(source_rows(stage->theme, "    x = x.to(device, non_blocking=True)", 20 * advance).indent ==
        8);
  stage->window.end_frame();
}

TEST_CASE("a comment has one colour, whatever words are in it") {
  REQUIRE_STAGE(stage);
  stage->window.begin_frame();
  ImGui::Begin("listing");
  const ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto colours = [&](const char* line) {
    const int before = draw->VtxBuffer.Size;
    draw_source(stage->theme, ImGui::GetCursorScreenPos(), 20,
                source_rows(stage->theme, line, 2000));
    std::set<std::uint32_t> found;
    for (int i = before; i < draw->VtxBuffer.Size; ++i) found.insert(draw->VtxBuffer[i].col);
    return found;
  };
  const std::set<std::uint32_t> muted{stage->theme.muted};
  CHECK(colours("// one process drives all GPUs in 2 nodes, as nccl-tests does") == muted);
  CHECK(colours("# for x in y") == muted);
  CHECK(colours("for x in y:  # in all").contains(stage->theme.accent));
  ImGui::End();
  stage->window.end_frame();
}
