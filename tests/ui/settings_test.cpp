#include "ui/app/window/settings.h"

#include <catch2/catch.hpp>

using namespace trainscope::ui;

TEST_CASE("what the window remembers comes back as it was") {
  for (const ThemeMode mode : kThemeModes)
    for (const float zoom : {0.75F, 1.0F, 1.25F, 3.0F}) {
      const Settings back = read_settings(write_settings({mode, zoom, Room::kLow, true, {}}));
      CHECK(back.theme == mode);
      CHECK(back.zoom == Approx(zoom));
      CHECK(back.room == Room::kLow);
      CHECK(back.toured);
    }
}

TEST_CASE("settings that make no sense are as at first") {
  CHECK(read_settings("zoom 40\ntheme purple\n").zoom == 1);
  CHECK(read_settings("theme purple").theme == ThemeMode::kDark);
  CHECK(read_settings("zoom nan").zoom == 1);
  CHECK(read_settings("").zoom == 1);
}

TEST_CASE("the scale goes from 75 to 300 per cent and back through 100") {
  float zoom = 1;
  int steps = 0;
  for (; zoom < kMostZoom; ++steps) {
    REQUIRE(larger_zoom(zoom) > zoom);
    zoom = larger_zoom(zoom);
  }
  CHECK(larger_zoom(zoom) == kMostZoom);
  for (; steps > 0; --steps) zoom = smaller_zoom(zoom);
  CHECK(zoom == 1);
  while (zoom > kLeastZoom) zoom = smaller_zoom(zoom);
  CHECK(smaller_zoom(zoom) == kLeastZoom);
}
