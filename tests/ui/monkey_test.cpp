// Someone who clicks, drags, types and resizes without sense: nothing may fall over.
#include <GLFW/glfw3.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "base/temporary_folder.h"
#include "ui/app/actions/action_list.h"
#include "ui/driver.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// Files that a monkey saves go into a folder of its own.
class ScratchFolder {
 public:
  ScratchFolder() : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder_.path());
  }
  ~ScratchFolder() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
  test::TemporaryFolder folder_;
};

class Monkey {
 public:
  Monkey(Driver& driver, unsigned seed) : driver_(driver), random_(seed) {}

  void act() {
    const int what = below(100);
    if (what < 35)
      move();
    else if (what < 65)
      click();
    else if (what < 80)
      key();
    else if (what < 88)
      type();
    else if (what < 93)
      ImGui::GetIO().AddMouseWheelEvent(0, static_cast<float>(below(7) - 3));
    else if (what < 95)
      resize();
    else
      choose_action();
    driver_.frame();
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void move() {
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::GetIO().AddMousePosEvent(static_cast<float>(below(static_cast<int>(size.x) + 1)),
                                    static_cast<float>(below(static_cast<int>(size.y) + 1)));
  }
  void click() {
    move();
    driver_.frame();
    ImGui::GetIO().AddMouseButtonEvent(0, true);
    driver_.frame();
    if (below(3) == 0) {
      move();
      driver_.frame();
    }
    ImGui::GetIO().AddMouseButtonEvent(0, false);
  }
  void key() {
    const bool ctrl = below(5) == 0, shift = below(5) == 0;
    if (ctrl) ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, true);
    if (shift) ImGui::GetIO().AddKeyEvent(ImGuiMod_Shift, true);
    const int span = ImGuiKey_KeypadEqual - ImGuiKey_Tab;
    const auto key = static_cast<ImGuiKey>(ImGuiKey_Tab + below(span));
    ImGui::GetIO().AddKeyEvent(key, true);
    driver_.frame();
    ImGui::GetIO().AddKeyEvent(key, false);
    if (shift) ImGui::GetIO().AddKeyEvent(ImGuiMod_Shift, false);
    if (ctrl) ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, false);
  }
  // Letters of all the world, digits, and bytes that are none.
  void type() {
    for (int i = below(12); i >= 0; --i)
      ImGui::GetIO().AddInputCharacter(
          static_cast<unsigned>(below(3) ? ' ' + below(95) : 1 + below(0x2FFF)));
  }
  // What palette and menus offer. Not what ends: a monkey's window stays open.
  void choose_action() {
    const ActionInfo& action =
        actions()[static_cast<std::size_t>(below(static_cast<int>(actions().size())))];
    if (driver_.app().can(action.id)) driver_.app().run(action.id);
  }
  void resize() {
    glfwSetWindowSize(driver_.window().handle(), 300 + below(1100), 240 + below(560));
  }

  Driver& driver_;
  std::mt19937 random_;
};

void let_loose(unsigned seed, int acts, const scenario::Lesson& lesson, bool at_result) {
  REQUIRE_DRIVER(driver, 1024, 640);
  const auto step = [&](const char* action) {
    driver->app().run(action);
    driver->settle();
  };
  driver->workspace().open_lesson(lesson);
  driver->settle();
  if (at_result)
    for (const char* action : {"lesson.next", "lesson.skip", "lesson.next", "lesson.run"})
      step(action);
  INFO("seed " << seed << ", lesson " << lesson.id);
  Monkey monkey(*driver, seed);
  for (int i = 0; i < acts; ++i) monkey.act();
  driver->settle();
  CHECK(ImGui::GetDrawData()->CmdLists.Size > 0);  // there is still a window that draws
}

}  // namespace

TEST_CASE("clicks, keys and sizes without sense bring nothing down") {
  const ScratchFolder scratch;
  let_loose(1, 260, scenario::find_lesson("pinned-vs-pageable"), false);
  unsigned seed = 2;
  for (const char* lesson :
       {"pinned-vs-pageable", "dp-vs-ddp", "memorization-test", "gradient-accumulation", "sdpa"})
    let_loose(seed++, 260, scenario::find_lesson(lesson), true);
}

// Every lesson, half of them with their results; for a build with the sanitizers.
TEST_CASE("twenty thousand inputs without sense bring nothing down", "[.monkey]") {
  constexpr int kInputs = 20000;
  const ScratchFolder scratch;
  const std::vector<scenario::Lesson> lessons = scenario::all_lessons();
  const int each = kInputs / static_cast<int>(lessons.size()) + 1;
  for (unsigned i = 0; i < lessons.size(); ++i) let_loose(100 + i, each, lessons[i], i % 2 == 1);
}
