#include "ui/app/window.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "support/skip.h"

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

TEST_CASE("a window on the display draws like one off screen") {
  if (!std::getenv("DISPLAY")) {
    // Once more, on a display of its own.
    if (std::system("command -v xvfb-run xauth >/dev/null") != 0)
      TRAINSCOPE_SKIP("no display, and no xvfb-run to make one");
    const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
    CHECK(std::system(
              ("xvfb-run -a '" + self + "' 'a window on the display*' >/dev/null").c_str()) == 0);
    return;
  }
  Window window({.width = 320, .height = 200});
  for (int i = 0; i < 3 && window.wait(); ++i) {
    window.begin_frame();
    window.end_frame();
  }
  const Picture picture = window.capture();
  CHECK(picture.width > 0);
  CHECK(picture.rgba[0] == 0x0F);
}
