// Someone who clicks, drags, types and resizes without sense: nothing may fall over.
#include <GLFW/glfw3.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "ui/driver.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

constexpr int kActs = 260;

// Files that a monkey saves go into a folder of its own.
class ScratchFolder {
 public:
  ScratchFolder()
      : before_(std::filesystem::current_path()),
        folder_(std::filesystem::temp_directory_path() / "trainscope-monkey") {
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
  }
  ~ScratchFolder() {
    std::filesystem::current_path(before_);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

 private:
  std::filesystem::path before_, folder_;
};

class Monkey {
 public:
  Monkey(Driver& driver, unsigned seed) : driver_(driver), random_(seed) {}

  void act() {
    const int what = below(100);
    if (what < 45)
      move();
    else if (what < 75)
      click();
    else if (what < 90)
      key();
    else if (what < 95)
      ImGui::GetIO().AddMouseWheelEvent(0, static_cast<float>(below(7) - 3));
    else if (what < 97)
      resize();
    else
      driver_.app().run("lesson.next");
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
    const bool ctrl = below(5) == 0;
    if (ctrl) ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, true);
    const int span = ImGuiKey_KeypadEqual - ImGuiKey_Tab;
    const auto key = static_cast<ImGuiKey>(ImGuiKey_Tab + below(span));
    ImGui::GetIO().AddKeyEvent(key, true);
    driver_.frame();
    ImGui::GetIO().AddKeyEvent(key, false);
    if (ctrl) ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, false);
  }
  void resize() {
    glfwSetWindowSize(driver_.window().handle(), 300 + below(1100), 240 + below(560));
  }

  Driver& driver_;
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("clicks, keys and sizes without sense bring nothing down") {
  const ScratchFolder scratch;
  for (const unsigned seed : {1U, 2U, 3U}) {
    std::string why_not;
    const auto driver = Driver::open(why_not, 1366, 768);
    if (!driver) TRAINSCOPE_SKIP(why_not);
    driver->workspace().open_lesson(scenario::find_lesson("pinned-vs-pageable"));
    driver->settle();
    if (seed > 1) {
      for (const char* action : {"lesson.next", "lesson.skip", "lesson.next", "lesson.run"}) {
        driver->app().run(action);
        driver->settle();
      }
    }
    Monkey monkey(*driver, seed);
    for (int i = 0; i < kActs; ++i) monkey.act();
    driver->settle();
    SUCCEED();
  }
}
