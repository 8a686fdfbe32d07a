// The window looks as it did when these pictures were last kept. After a change that is meant to
// be seen, look at what it made and keep it: TRAINSCOPE_KEEP_PICTURES=1 tests_ui "*as it was kept*"
#include "ui/kept_pictures.h"

#include <imgui_internal.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

namespace fs = std::filesystem;

constexpr double kMostDifferent = 0.002;  // of the pixels

const fs::path kFolder = fs::path(TRAINSCOPE_SOURCE_DIR) / "tests/ui/pictures";

void compare_with_kept(const std::string& name, const Picture& now) {
  const fs::path kept = kFolder / (name + ".png");
  if (std::getenv("TRAINSCOPE_KEEP_PICTURES")) {
    fs::create_directories(kFolder);
    write_png(kept, now);
  }
  const PictureDifference found = difference(read_png(kept), now);
  INFO(name << ": " << 100 * found.share << " % of the pixels differ");
  if (found.same_size && found.share > kMostDifferent) {
    const fs::path folder = fs::current_path() / "picture-differences";
    fs::create_directories(folder);
    write_png(folder / (name + ".png"), now);
    write_png(folder / (name + "-difference.png"), found.picture);
    WARN(name << " is not as it was kept: see " << folder.string());
  }
  CHECK(found.same_size);
  CHECK(found.share <= kMostDifferent);
}

Picture picture_of(int width, int height, Color color) {
  Picture picture{width, height, {}};
  for (int i = 0; i < width * height; ++i)
    for (const int shift : {0, 8, 16, 24})
      picture.rgba.push_back(static_cast<std::uint8_t>(std::uint32_t{color} >> shift));
  return picture;
}

}  // namespace

TEST_CASE("a picture differs by the share of its pixels, and a faint shift is none") {
  const Picture grey = picture_of(20, 10, rgb(0x808080));
  CHECK(difference(grey, grey).share == 0);
  CHECK(difference(grey, picture_of(20, 10, rgb(0x888888))).share == 0);
  CHECK(difference(grey, picture_of(20, 10, rgb(0x80FF80))).share == 1);
  CHECK_FALSE(difference(grey, picture_of(10, 20, rgb(0x808080))).same_size);
  Picture spot = grey;
  for (int y = 4; y < 7; ++y)
    for (int x = 0; x < 10; ++x) spot.rgba[static_cast<std::size_t>(4 * (y * 20 + x))] = 255;
  const PictureDifference found = difference(grey, spot);
  CHECK(found.share > 0.15 * 0.99);  // 30 of 200, and their rim
  CHECK(found.share < 0.3);
  CHECK(found.picture.rgba[4 * (5 * 20 + 5)] == 255);
  CHECK(found.picture.rgba[4 * (5 * 20 + 5) + 1] == 0);
}

// How far the listing is scrolled tells of the way to its line; followed anew, of the line alone.
void follow_from_top(Driver& driver) {
  driver.app().attention().followed_line = 0;
  driver.settle();
}

TEST_CASE("the window looks as it was kept") {
  REQUIRE_DRIVER(driver, 1280, 720);
  if (!driver->window().warnings().empty()) TRAINSCOPE_SKIP(driver->window().warnings().front());
  const auto keep = [&](const std::string& name) {
    driver->settle();
    follow_from_top(*driver);
    compare_with_kept(name, driver->window().capture());
  };
  keep("shelf");
  walk_to_result(*driver, "pinned-vs-pageable");
  keep("pinned-vs-pageable");
  driver->app().set_theme(ThemeMode::kLight);
  keep("pinned-vs-pageable-light");
  driver->app().set_theme(ThemeMode::kProjector);
  keep("pinned-vs-pageable-projector");
  driver->app().set_theme(ThemeMode::kDark);
  walk_to_result(*driver, "dp-vs-ddp");
  driver->app().show_panel("gradient-flow");
  keep("dp-vs-ddp");
  walk_to_result(*driver, "waves-and-tails");
  keep("waves-and-tails");
}
