#include "ui/app/views/sweep_picture.h"

#include <imgui.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "support/skip.h"
#include "ui/app/views/sweep_form.h"
#include "ui/app/window/window.h"
#include "ui/panels/comparison/sweep_chart.h"
#include "ui/read_text.h"

using namespace trainscope;

namespace {

scenario::Sweep sweep(std::initializer_list<const char*> vary, bool of_two = false) {
  program::Config config;
  config.set_text("workload=copy");
  std::vector<scenario::SweepAxis> axes;
  for (const char* axis : vary) axes.push_back(scenario::parse_axis(axis));
  std::vector<scenario::LabelledConfig> sides = {{"A", config}};
  if (of_two) sides.emplace_back("B", config);
  const std::atomic<bool> stop{false};
  return scenario::run_sweep(sides, axes, 2, [](std::size_t) {}, stop);
}

}  // namespace

TEST_CASE("a sweep of one knob, of words, and of two is drawn; of three it is refused") {
  const std::filesystem::path png = std::filesystem::temp_directory_path() / "sweep-picture.png";
  ui::SweepPicture picture;
  picture.title = "Sweep";
  picture.sides = {"machine = h200-1"};
  picture.width = 1280;
  picture.height = 720;
  std::string before;
  for (const auto& one :
       {sweep({"copy.bytes=1 MiB..16 MiB"}), sweep({"copy.memory=pinned,pageable"}),
        sweep({"copy.bytes=1 MiB..4 MiB", "copy.count=1,2"})}) {
    ui::draw_sweep(one, picture, png);
    const std::string bytes = read_file(png, 1 << 24);
    CHECK(bytes.starts_with("\x89PNG"));
    CHECK(bytes.size() > 10'000);  // an empty window has fewer
    CHECK(bytes != before);
    before = bytes;
  }
  std::filesystem::remove(png);
  CHECK_THROWS_WITH(
      ui::draw_sweep(sweep({"copy.bytes=1,2", "copy.count=1,2", "steps=1,2"}), picture, png),
      Catch::Contains("one knob or two"));
}

TEST_CASE("a sweep is drawn larger where a room is to read it") {
  const std::filesystem::path png = std::filesystem::temp_directory_path() / "sweep-room.png";
  const auto drawn = [&](bool room) {
    ui::SweepPicture picture;
    picture.title = "Sweep";
    picture.width = 1280;
    picture.height = 720;
    picture.room = room;
    ui::draw_sweep(sweep({"copy.bytes=1 MiB..16 MiB"}), picture, png);
    return read_file(png, 1 << 24);
  };
  CHECK(drawn(false) != drawn(true));
  std::filesystem::remove(png);
}

TEST_CASE("two sides that differ in nothing but what is varied are drawn as one") {
  const std::filesystem::path png = std::filesystem::temp_directory_path() / "sweep-alike.png";
  const auto drawn = [&](bool of_two, const std::vector<std::string>& sides) {
    ui::SweepPicture picture;
    picture.sides = sides;
    picture.width = 1280;
    picture.height = 720;
    ui::draw_sweep(sweep({"copy.bytes=1 MiB..4 MiB"}, of_two), picture, png);
    return read_file(png, 1 << 24);
  };
  const std::string one = drawn(false, {"steps = 1"});
  CHECK(drawn(true, {"steps = 1", "steps = 1"}) == one);
  CHECK(drawn(true, {"steps = 1", "steps = 2"}) != one);
  std::filesystem::remove(png);
}

TEST_CASE("points that are to be read with care are drawn otherwise, and below stands why") {
  const std::filesystem::path png = std::filesystem::temp_directory_path() / "sweep-caveats.png";
  ui::SweepPicture picture;
  picture.width = 1280;
  picture.height = 720;
  const auto drawn = [&](const scenario::Sweep& one) {
    ui::draw_sweep(one, picture, png);
    return read_file(png, 1 << 24);
  };
  for (scenario::Sweep one :
       {sweep({"copy.bytes=1 MiB..4 MiB"}), sweep({"copy.memory=pinned,pageable"}),
        sweep({"copy.bytes=1 MiB,4 MiB", "copy.count=1,2"})}) {
    CHECK(ui::words_of_caveats(one).empty());
    const std::string plain = drawn(one);
    one.points[1].sides.front().caveat = "It says less than it seems to";
    CHECK(ui::words_of_caveats(one) ==
          "1 of " + std::to_string(one.points.size()) + " runs to be read with care. " +
              ui::point_title(one, 1) + ": It says less than it seems to");
    const std::string first = drawn(one);
    CHECK(first != plain);
    std::swap(one.points[0].sides.front().caveat, one.points[1].sides.front().caveat);
    CHECK(drawn(one) != first);
  }
  std::filesystem::remove(png);
}

TEST_CASE("a picture says what its crosses and hatched cells mean") {
  const std::filesystem::path png = std::filesystem::temp_directory_path() / "sweep-failures.png";
  ui::SweepPicture picture;
  picture.width = 1280;
  picture.height = 720;
  const auto drawn = [&](const scenario::Sweep& one) {
    ui::draw_sweep(one, picture, png);
    return read_file(png, 1 << 24);
  };
  for (scenario::Sweep one :
       {sweep({"power_limit=200..700:+100"}), sweep({"power_limit=200,700", "copy.count=1,2"})}) {
    CHECK_THAT(ui::words_of_failures(one), Catch::Contains("power_limit = 200 W"));
    const std::string with_words = drawn(one);
    for (scenario::SweepPoint& point : one.points) point.sides.front().refused.clear();
    CHECK(ui::words_of_failures(one).empty());
    CHECK(drawn(one) != with_words);
  }
  std::filesystem::remove(png);
}

TEST_CASE("a value on a map stands out from its cell in every theme") {
  const ui::Fonts fonts;
  for (const ui::ThemeMode mode : ui::kThemeModes) {
    const ui::Theme theme = ui::make_theme(mode, 1, fonts);
    for (int tone = 0; tone <= 100; ++tone) {
      const ui::Color cell = ui::mixed(theme.card, theme.accent, static_cast<float>(tone) / 100);
      const ui::MapInk ink = ui::map_ink(theme, cell);
      CAPTURE(ui::name_of(mode), tone);
      CHECK(ui::contrast(ink.color, ink.plate.value_or(cell)) >=
            (mode == ui::ThemeMode::kProjector ? 7 : 4.5));
    }
  }
}

TEST_CASE("on a projector each cell of a map has its value, and the colours have a scale") {
  std::unique_ptr<ui::Window> window;
  try {
    window = std::make_unique<ui::Window>(
        ui::WindowOptions{.width = 1366, .height = 768, .scale = 1, .off_screen = true});
  } catch (const MissingError& error) {
    TRAINSCOPE_SKIP(error.what());
  }
  const ui::Theme theme = ui::make_theme(ui::ThemeMode::kProjector, 1, window->fonts());
  ui::apply(theme);
  const scenario::Sweep all = sweep({"copy.bytes=1 MiB..64 MiB", "copy.count=1,2"});
  const analysis::Metric& metric = analysis::find_metric("time.h2d");
  for (int i = 0; i < 2; ++i) {
    window->begin_frame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({1366, 768});
    ImGui::Begin("map", nullptr, ImGuiWindowFlags_NoDecoration);
    ui::paint_sweep_map(theme, {{20, 20}, {615, 276}}, all, metric, 0);
    ImGui::End();
    window->end_frame();
  }
  CHECK(ui::says("rows: copy.bytes, columns: copy.count"));
  const std::string words = ui::written(*ImGui::GetDrawData(), "map");
  std::map<std::string, int> wanted;
  double least = INFINITY, most = 0;
  for (const scenario::SweepPoint& point : all.points) {
    const double value = *analysis::value_of(point.sides[0].metrics, metric.name);
    ++wanted[ui::without_blanks(analysis::show(metric, value))];
    least = std::min(least, value), most = std::max(most, value);
  }
  for (const double end : {least, most}) ++wanted[ui::without_blanks(analysis::show(metric, end))];
  for (const auto& [value, times] : wanted) {
    int found = 0;
    for (std::size_t at = words.find(value); at != words.npos; at = words.find(value, at + 1))
      ++found;
    CAPTURE(value, words);
    CHECK(found >= times);
  }
}
