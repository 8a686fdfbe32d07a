#include "ui/app/views/sweep_picture.h"

#include <algorithm>

#include "base/error.h"
#include "ui/app/window/shapes.h"
#include "ui/app/window/window.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/comparison/sweep_chart.h"

namespace trainscope::ui {
namespace {

// What was run, on which sides, and that it is simulated. Returns where it ends.
float draw_head(const Theme& theme, const SweepPicture& picture, const Box& room) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  float y = room.min.y + theme.px(14);
  draw_text_middle(draw, theme.font.strong, theme.size.heading, room.min.x, y, theme.text,
                   shortened(theme.font.strong, theme.size.heading, picture.title,
                             room.width() - theme.px(140)));
  const std::string badge = "SIMULATED";
  const ImVec2 size = text_size(theme.font.strong, theme.size.small, badge);
  const Box pill{{room.max.x - size.x - theme.px(20), y - theme.px(12)},
                 {room.max.x, y + theme.px(12)}};
  draw->AddRectFilled(pill.min, pill.max, theme.accent_soft, theme.px(12));
  draw_text_middle(draw, theme.font.strong, theme.size.small, pill.centre().x, y, theme.accent,
                   badge, 0.5F);
  for (std::size_t i = 0; i < picture.sides.size(); ++i) {
    y += theme.px(26);
    float x = room.min.x;
    if (picture.sides.size() > 1)
      x += draw_side_mark(draw, theme, {x, y}, static_cast<char>('A' + i), i == 0) + theme.px(8);
    draw_text_middle(
        draw, theme.font.text, theme.size.small, x, y, theme.muted,
        shortened(theme.font.text, theme.size.small, picture.sides[i], room.max.x - x));
  }
  return y + theme.px(30);
}

// What the crosses or the hatched cells mean, at the bottom. Returns where the charts end.
float draw_failures(const Theme& theme, const scenario::Sweep& sweep, const Box& room) {
  const std::string words = words_of_failures(sweep);
  if (words.empty()) return room.max.y;
  const float y = room.max.y - theme.px(10);
  const float x =
      room.min.x + draw_failure_key(theme, {room.min.x, y}, sweep.axes.size() == 2) + theme.px(10);
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, x, y, theme.bad,
                   shortened(theme.font.text, theme.size.small, words, room.max.x - x));
  return room.max.y - theme.px(32);
}

// Likewise what the rings and hollow bars mean.
float draw_caveats(const Theme& theme, const scenario::Sweep& sweep, const Box& room) {
  const std::string words = words_of_caveats(sweep);
  if (words.empty()) return room.max.y;
  const float y = room.max.y - theme.px(10);
  const float x = room.min.x + draw_caveat_key(theme, {room.min.x, y}) + theme.px(10);
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, x, y, theme.warn,
                   shortened(theme.font.text, theme.size.small, words, room.max.x - x));
  return room.max.y - theme.px(32);
}

void draw_card(const Theme& theme, const Box& box) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(box.min, box.max, theme.panel, theme.size.corner);
  draw->AddRect(box.min, box.max, theme.line, theme.size.corner);
}

void draw_charts(const Theme& theme, const scenario::Sweep& sweep, const Box& room) {
  constexpr std::size_t kCharts = 4;
  const bool map = sweep.axes.size() == 2;
  const std::size_t sides = sweep.points.front().sides.size();
  const std::size_t maps = map ? sides : 1;  // of a metric
  const auto metrics = scenario::telling_metrics(sweep, std::max<std::size_t>(kCharts / maps, 1));
  const std::size_t count = metrics.size() * maps;
  const std::size_t columns = count > 1 ? 2 : 1, rows = (count + columns - 1) / columns;
  const float gap = theme.px(12);
  const ImVec2 cell{(room.width() + gap) / static_cast<float>(columns) - gap,
                    (room.height() + gap) / static_cast<float>(rows) - gap};
  for (std::size_t i = 0; i < count; ++i) {
    const ImVec2 at{room.min.x + static_cast<float>(i % columns) * (cell.x + gap),
                    room.min.y + static_cast<float>(i / columns) * (cell.y + gap)};
    const Box card{at, {at.x + cell.x, at.y + cell.y}};
    draw_card(theme, card);
    const float pad = theme.px(16);
    const Box inner{{card.min.x + pad, card.min.y + pad}, {card.max.x - pad, card.max.y - pad / 2}};
    if (map)
      paint_sweep_map(theme, inner, sweep, *metrics[i / maps], i % maps);
    else
      paint_sweep_lines(theme, inner, sweep, *metrics[i]);
  }
}

void draw_frame(const Theme& theme, const scenario::Sweep& sweep, const SweepPicture& picture) {
  const ImGuiViewport* view = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(view->Pos);
  ImGui::SetNextWindowSize(view->Size);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, theme.ground);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::Begin("##sweep", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoDocking);
  const float pad = theme.px(20);
  Box room{{view->Pos.x + pad, view->Pos.y + pad},
           {view->Pos.x + view->Size.x - pad, view->Pos.y + view->Size.y - pad}};
  room.min.y = draw_head(theme, picture, room);
  room.max.y = draw_failures(theme, sweep, room);
  room.max.y = draw_caveats(theme, sweep, room);
  draw_charts(theme, sweep, room);
  ImGui::End();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
}

bool are_alike(const std::vector<std::string>& sides) {
  return sides.size() > 1 &&
         std::ranges::all_of(sides, [&](const std::string& side) { return side == sides.front(); });
}

scenario::Sweep first_side_of(scenario::Sweep sweep) {
  for (scenario::SweepPoint& point : sweep.points) point.sides.resize(1);
  return sweep;
}

}  // namespace

void draw_sweep(const scenario::Sweep& sweep, const SweepPicture& picture,
                const std::filesystem::path& png) {
  // What they differ in is varied: two curves would be one upon the other.
  if (are_alike(picture.sides)) {
    SweepPicture one = picture;
    one.sides.resize(1);
    return draw_sweep(first_side_of(sweep), one, png);
  }
  if (sweep.axes.size() > 2)
    throw InputError("a picture shows one knob or two, and this sweep varies " +
                     std::to_string(sweep.axes.size()) + "; use --csv or --json");
  WindowOptions options;
  options.width = picture.width;
  options.height = picture.height;
  options.scale = picture.scale;
  options.off_screen = true;
  Window window(options);
  const float scale = picture.room ? window.scale_in_a_room() : window.scale();
  const Theme theme = make_theme(picture.theme, scale, window.fonts(), picture.room);
  apply(theme);
  window.set_ground(theme.ground);
  constexpr int kFrames = 2;  // fonts are loaded with the first
  for (int i = 0; i < kFrames; ++i) {
    window.begin_frame();
    draw_frame(theme, sweep, picture);
    window.end_frame();
  }
  write_png(png, window.capture());
}

}  // namespace trainscope::ui
