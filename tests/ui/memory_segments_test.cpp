// The map of the allocator's segments, however many there are.
#include "ui/panels/memory/memory_segments.h"

#include <imgui.h>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "support/skip.h"
#include "ui/app/window/window.h"
#include "ui/panels/memory/memory_chart.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

constexpr int kWidth = 600, kHeight = 240;

// Segments of 2 MiB, all of them in use.
std::vector<analysis::MemorySegment> full_segments(trace::Trace& trace, std::uint32_t count) {
  constexpr std::int64_t kBytes = 2 << 20;
  const trace::NameId role = trace.intern("activations");
  std::vector<analysis::MemorySegment> segments;
  for (std::uint32_t number = 0; number < count; ++number) {
    analysis::MemorySegment segment;
    segment.number = number;
    segment.bytes = kBytes;
    segment.blocks = {{0, kBytes, kBytes, analysis::BlockState::kAllocated, trace::kNone, role}};
    segments.push_back(segment);
  }
  return segments;
}

// The share of the picture that is the role's colour; negative: nothing can be drawn here.
double share_in_color(std::uint32_t count) {
  std::unique_ptr<Window> window;
  try {
    window = std::make_unique<Window>(
        WindowOptions{.width = kWidth, .height = kHeight, .scale = 1, .off_screen = true});
  } catch (const MissingError&) {
    return -1;
  }
  const Theme theme = make_theme(ThemeMode::kDark, 1, window->fonts());
  trace::Trace trace{trace::Origin{}};
  const auto segments = full_segments(trace, count);
  for (int frame = 0; frame < 2; ++frame) {
    window->begin_frame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({kWidth, kHeight});
    ImGui::Begin("map", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground);
    paint_segments(theme, "##segments", {{0, 0}, {kWidth, kHeight}}, trace, segments);
    ImGui::End();
    window->end_frame();
  }
  const Picture picture = window->capture();
  const Color fill = role_style(theme, "activations").fill;
  int alike = 0;
  for (std::size_t i = 0; i + 3 < picture.rgba.size(); i += 4)
    alike +=
        picture.rgba[i] == fill.r && picture.rgba[i + 1] == fill.g && picture.rgba[i + 2] == fill.b;
  return static_cast<double>(alike) / (kWidth * kHeight);
}

}  // namespace

TEST_CASE("what is in use is seen among a few segments, and among thousands") {
  for (const std::uint32_t count : {8U, 500U, 3000U}) {
    INFO(count);
    const double share = share_in_color(count);
    if (share < 0) TRAINSCOPE_SKIP("nothing can be drawn here");
    CHECK(share > 0.6);  // the rest is the ground between rows and segments
  }
}

TEST_CASE("segments are as far apart as they are wide enough for") {
  const Theme theme = make_theme(ThemeMode::kDark, 1);
  CHECK(segment_gap(theme, 200, 300) == theme.px(4));
  CHECK(segment_gap(theme, 200, 8) == 2);
  CHECK(segment_gap(theme, 3, 200) == 0);
}
