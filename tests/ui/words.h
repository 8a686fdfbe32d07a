// Whether what is written in the finished frame can be read: no letter cut, none on top of another.
#pragma once

#include <imgui.h>

#include <catch2/catch.hpp>

#include "ui/cut_text.h"
#include "ui/driver.h"

namespace trainscope::ui {

// To the first step after the run, every question skipped.
inline void walk_to_result(Driver& driver, const std::string& lesson) {
  Workspace& workspace = driver.workspace();
  workspace.open_lesson(scenario::find_lesson(lesson));
  driver.settle();
  for (int i = 0; i < 20 && !workspace.revealed(); ++i) {
    if (driver.app().can("lesson.skip")) driver.app().run("lesson.skip");
    if (driver.app().can("lesson.run")) driver.app().run("lesson.run");
    driver.settle();
    driver.app().run("lesson.next");
    driver.settle();
  }
  REQUIRE(workspace.revealed());
}

// A small window with large type has few letters; a test that looks at nothing finds none.
inline void check_words_are_whole(std::size_t least_letters = 300) {
  const ImDrawData& data = *ImGui::GetDrawData();
  CHECK(letters(data) > least_letters);
  for (const CutLetter& letter : cut_text(data)) {
    CAPTURE(letter.window, letter.min.x, letter.min.y, letter.max.x, letter.clip_left,
            letter.clip_right);
    CHECK(letter.max.x <= letter.clip_right);
    CHECK(letter.min.x >= letter.clip_left);
  }
}

inline void check_words_are_apart() {
  for (const TextOverlap& overlap : overlapping_text(*ImGui::GetDrawData())) {
    CAPTURE(overlap.window, overlap.first.x, overlap.first.y, overlap.second.x, overlap.second.y);
    CHECK(overlap.width == 0);
  }
}

}  // namespace trainscope::ui
