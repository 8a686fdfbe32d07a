#include "ui/app/window/window.h"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "support/skip.h"
#include "ui/app/window/window_size.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// Takes a variable out of the environment, and puts it back.
class Without {
 public:
  explicit Without(const char* name) : name_(name) {
    if (const char* value = std::getenv(name)) value_ = value;
    unsetenv(name);
  }
  ~Without() {
    if (!value_.empty()) setenv(name_, value_.c_str(), 1);
  }

 private:
  const char* name_;
  std::string value_;
};

// The test, on a display of its own.
void once_more_on_a_display(const std::string& screen, const std::string& test) {
  if (std::system("command -v xvfb-run xauth >/dev/null") != 0)
    TRAINSCOPE_SKIP("no display, and no xvfb-run to make one");
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  CHECK(std::system(
            ("xvfb-run -a -s '-screen 0 " + screen + "' '" + self + "' '" + test + "' >/dev/null")
                .c_str()) == 0);
}

}  // namespace

TEST_CASE("without a display the window says what to do instead") {
  const Without x11("DISPLAY"), wayland("WAYLAND_DISPLAY");
  try {
    Window window({});
    FAIL("a window opened without a display");
  } catch (const MissingError& error) {
    const std::string sentence = error.what();
    CHECK(sentence.find("There is no display") != std::string::npos);
    CHECK(sentence.find("command line") != std::string::npos);
  }
}

TEST_CASE("a picture is written whole, with its size in it") {
  const Picture picture{3, 2, std::vector<std::uint8_t>(3 * 2 * 4, 200)};
  const auto path = std::filesystem::temp_directory_path() / "trainscope-window-test.png";
  write_png(path, picture);
  const std::string bytes = read_file(path, 1 << 20);
  CHECK_THROWS_AS(write_png(path / "under-a-file.png", picture), InputError);
  std::filesystem::remove(path);
  REQUIRE(bytes.size() > 24);
  CHECK(bytes[19] == 3);
  CHECK(bytes[23] == 2);
}

TEST_CASE("windows open one after the other, at the scale asked for") {
  for (const float scale : {1.0F, 2.0F}) {
    try {
      Window window({.width = 320, .height = 200, .scale = scale, .off_screen = true});
      CHECK(window.scale() == scale);
      CHECK(window.wait());
      window.begin_frame();
      window.end_frame();
      CHECK(window.capture().rgba.size() == 320 * 200 * 4);
      window.close();
      CHECK(!window.wait());
    } catch (const MissingError& error) {
      TRAINSCOPE_SKIP(error.what());
    }
  }
}

TEST_CASE("a tooltip appears where the mouse rests, in a window that sleeps between its frames") {
  using namespace std::chrono_literals;
  using Clock = std::chrono::steady_clock;
  std::unique_ptr<Window> window;
  try {
    window = std::make_unique<Window>(
        WindowOptions{.width = 320, .height = 200, .scale = 1, .off_screen = true});
  } catch (const MissingError& error) {
    TRAINSCOPE_SKIP(error.what());
  }
  int shown = 0;
  const auto draw_what_is_due = [&](Clock::duration time) {
    int frames = 0;
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
      window->wait();
      if (window->frame_due()) {
        window->begin_frame();
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize({320, 200});
        ImGui::Begin("all", nullptr, ImGuiWindowFlags_NoDecoration);
        ImGui::Button("rest here", {300, 100});
        if (ImGui::BeginItemTooltip()) {
          ++shown;
          ImGui::EndTooltip();
        }
        ImGui::End();
        window->end_frame();
        ++frames;
      }
      std::this_thread::sleep_for(1ms);
    }
    return frames;
  };
  ImGui_ImplGlfw_CursorEnterCallback(window->handle(), GLFW_TRUE);
  draw_what_is_due(100ms);
  for (int i = 0; i < 12; ++i) {
    ImGui_ImplGlfw_CursorPosCallback(window->handle(), 40 + 6 * i, 50 + i % 2);
    draw_what_is_due(20ms);
  }
  CHECK(shown == 0);
  draw_what_is_due(500ms);
  CHECK(shown > 0);
  CHECK(draw_what_is_due(300ms) == 0);  // and it sleeps again
}

TEST_CASE("a window opens no larger than the screen has room for, frame and all") {
  const WindowSize large = size_on({2560, 1400}, 1456, 819);
  CHECK((large.width == 1456 && large.height == 819 && !large.whole));
  // A laptop's, with the desktop's bar.
  const WindowSize laptop = size_on({1366, 728}, 1456, 819);
  CHECK((laptop.width == 1366 && laptop.height < 728 && laptop.height > 670 && laptop.whole));
  // The platform makes half as much again of each unit.
  const WindowSize magnified = size_on({1920, 1040, 1.5F}, 1456, 819);
  CHECK((magnified.width == 1280 && magnified.height < 694 && magnified.whole));
  CHECK(size_on({1, 1}, 1456, 819).width > 1);
}

TEST_CASE("on a display that is smaller than the window would be, all of it is seen") {
  if (!std::getenv("DISPLAY")) return once_more_on_a_display("1366x768x24", "on a display that*");
  Window window({});
  int width = 0, height = 0, most_width = 0, most_height = 0;
  glfwGetWindowSize(window.handle(), &width, &height);
  glfwGetMonitorWorkarea(glfwGetPrimaryMonitor(), nullptr, nullptr, &most_width, &most_height);
  CHECK(width <= most_width);
  CHECK(height <= most_height);
}

TEST_CASE("a window fills its display when that is asked for, and goes back") {
  if (!std::getenv("DISPLAY")) return once_more_on_a_display("1920x1080x24", "a window fills*");
  Window window({.width = 800, .height = 600});
  const auto width = [&] {
    window.scheduler().request_frames(5);
    for (int i = 0; i < 5 && window.wait(); ++i) {
      window.begin_frame();
      window.end_frame();
    }
    int wide = 0, tall = 0;
    glfwGetWindowSize(window.handle(), &wide, &tall);
    return wide;
  };
  CHECK(width() == 800);
  window.set_full_screen(true);
  CHECK(window.full_screen());
  const int display = glfwGetVideoMode(glfwGetPrimaryMonitor())->width;
  REQUIRE(display > 800);
  CHECK(width() == display);
  window.set_full_screen(false);
  CHECK_FALSE(window.full_screen());
  CHECK(width() == 800);
}

TEST_CASE("a window on the display draws like one off screen") {
  if (!std::getenv("DISPLAY")) return once_more_on_a_display("1280x1024x24", "a window on the*");
  Window window({.width = 320, .height = 200});
  for (int i = 0; i < 3 && window.wait(); ++i) {
    window.begin_frame();
    window.end_frame();
  }
  const Picture picture = window.capture();
  CHECK(picture.width > 0);
  CHECK(picture.rgba[0] == 0x0F);
}
