// A window off screen that shows nothing but one timeline, for tests to draw and use.
#pragma once

#include <imgui.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "support/skip.h"
#include "ui/app/window/window.h"
#include "ui/timeline/view.h"

namespace trainscope::ui {

struct Recorded {
  trace::Trace trace{trace::Origin{trace::OriginKind::kSimulated, "test", ""}};
  trace::TraceIndex index;
  DrawIndex draw;
};

inline trace::SpanId add_span(trace::Trace& trace, trace::LaneId lane, Nanos start,
                              Nanos duration) {
  trace::Span span;
  span.lane = lane;
  span.start = start;
  span.duration = duration;
  span.category = trace::Category::kForward;
  span.name = trace.intern("forward");
  return trace.add_span(span);
}

// One lane with spans of 10 ms at 0, 30 and 60 ms, and a flow from the first to the last.
inline std::unique_ptr<Recorded> three_spans(int lanes = 1) {
  auto recorded = std::make_unique<Recorded>();
  for (int i = 0; i < lanes; ++i) {
    trace::Lane lane;
    lane.name = "lane " + std::to_string(i);
    const trace::LaneId id = recorded->trace.add_lane(lane);
    for (const Nanos start : {0, 30, 60})
      add_span(recorded->trace, id, start * kMillisecond, 10 * kMillisecond);
  }
  recorded->trace.add_flow({0, 2, trace::FlowKind::kEvent});
  recorded->index = trace::build_index(recorded->trace);
  recorded->draw = build_draw_index(recorded->trace, recorded->index);
  return recorded;
}

inline TimelineSide side_of(const Recorded& recorded) {
  TimelineSide side;
  side.trace = &recorded.trace;
  side.index = &recorded.index;
  side.draw = &recorded.draw;
  return side;
}

// A window that shows nothing but one timeline; null where the machine cannot draw.
class Stage {
 public:
  static std::unique_ptr<Stage> open() {
    try {
      return std::make_unique<Stage>();
    } catch (const MissingError& error) {
      reason() = error.what();
      return nullptr;
    }
  }
  static std::string& reason() {
    static std::string text;
    return text;
  }

  Stage() : window({.width = 1000, .height = 400, .scale = 1, .off_screen = true}) {
    theme = make_theme(ThemeMode::kDark, window.scale(), window.fonts());
    apply(theme);
  }

  TimelineEvents frame() {
    window.wait();
    window.begin_frame();
    ImGui::GetIO().DeltaTime = 0.1F;
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({1000, 400});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
    ImGui::Begin("stage", nullptr, ImGuiWindowFlags_NoDecoration);
    const TimelineEvents events = draw_timeline("timeline", theme, input, state);
    ImGui::End();
    ImGui::PopStyleVar();
    window.end_frame();
    return events;
  }
  void settle() {
    for (int i = 0; i < 12; ++i) frame();
  }

  void point(float x, float y) {
    ImGui::GetIO().AddMousePosEvent(x, y);
    frame();
  }
  void press(bool down) { ImGui::GetIO().AddMouseButtonEvent(0, down); }
  // What the release brings.
  TimelineEvents click(float x, float y) {
    point(x, y);
    press(true);
    frame();
    press(false);
    return frame();
  }
  TimelineEvents drag(ImVec2 from, ImVec2 to) {
    point(from.x, from.y);
    press(true);
    frame();
    point((from.x + to.x) / 2, (from.y + to.y) / 2);
    point(to.x, to.y);
    press(false);
    return frame();
  }
  void key(ImGuiKey key) {
    ImGui::GetIO().AddKeyEvent(key, true);
    frame();
    ImGui::GetIO().AddKeyEvent(key, false);
    settle();
  }

  Window window;
  Theme theme;
  TimelineInput input;
  TimelineState state;
};

}  // namespace trainscope::ui

// Skips the test where no window can be opened.
#define REQUIRE_STAGE(stage)                          \
  const auto stage = ::trainscope::ui::Stage::open(); \
  if (!(stage)) TRAINSCOPE_SKIP(::trainscope::ui::Stage::reason())
