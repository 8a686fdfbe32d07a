#include "ui/panels/gpus/star_paint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "ui/app/views/gradient_cells.h"

namespace trainscope::ui {
namespace {

using analysis::GpuWork;
using analysis::Interval;
using analysis::IntervalSet;
using analysis::StarFlow;
using analysis::StarStageTimes;
using analysis::StarStep;
using analysis::StarTransfer;
using trace::Category;

// ---- Cards -------------------------------------------------------------------------------------

bool covers(const IntervalSet& set, Nanos time) {
  return set.length_within({time, time + 1}) > 0;
}

std::optional<Category> doing(const GpuWork& work, Nanos time) {
  if (covers(work.forward, time)) return Category::kForward;
  if (covers(work.backward, time)) return Category::kBackward;
  if (covers(work.optimizer, time)) return Category::kOptimizer;
  if (covers(work.others, time)) return Category::kKernel;
  return std::nullopt;
}

// What the GPU does now.
void paint_doing(const Theme& theme, const Box& box, const GpuWork& work, Nanos time) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto category = doing(work, time);
  const float size = std::min(theme.size.label, box.height() - 2);
  if (category) {
    draw_solid(draw, theme, box, theme.of(*category));
  } else {
    draw->AddRectFilled(box.min, box.max, mixed(theme.panel, theme.faint, 0.16F),
                        theme.size.bar_corner);
    draw_hatch(draw, box, theme.idle_line, theme.px(7), theme.px(1), box.min.x);
  }
  const std::string words = category ? std::string(trace::name_of(*category)) : "idle";
  const float wide = text_size(theme.font.text, size, words).x;
  if (wide + theme.px(4) > box.width() || size < theme.px(8)) return;
  const ImVec2 middle = box.centre();
  if (!category)
    draw->AddRectFilled({middle.x - wide / 2 - theme.px(3), middle.y - size * 0.6F},
                        {middle.x + wide / 2 + theme.px(3), middle.y + size * 0.6F},
                        faded(theme.card, 0.9F), theme.px(3));
  draw_text_middle(draw, theme.font.text, size, middle.x, middle.y,
                   category ? theme.of(*category).text : theme.muted, words, 0.5F);
}

// Its whole step in a line, with the playhead.
void paint_step(const Theme& theme, const Box& box, const GpuWork& work, Interval shown,
                Nanos time) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto all = static_cast<double>(std::max<Nanos>(shown.end - shown.start, 1));
  const auto x = [&](Nanos at) {
    const double share = std::clamp(static_cast<double>(at - shown.start) / all, 0.0, 1.0);
    return box.min.x + box.width() * static_cast<float>(share);
  };
  draw->AddRectFilled(box.min, box.max, mixed(theme.panel, theme.faint, 0.16F), theme.px(1.5F));
  StripLane lane;
  add_bars(lane, work, shown, static_cast<Nanos>(all / std::max(box.width(), 1.0F)));
  for (const StripBar& bar : lane.bars)
    for (const StripShade& part : parts_of(bar))
      draw->AddRectFilled({x(part.time.start), box.min.y},
                          {std::max(x(part.time.end), x(part.time.start) + 1), box.max.y},
                          shaded(theme.of(bar.category).fill, part));
  if (time >= shown.start && time <= shown.end)
    draw->AddLine({x(time), box.min.y - theme.px(1)}, {x(time), box.max.y + theme.px(1)},
                  theme.accent, theme.px(1.5F));
}

void paint_card(const Theme& theme, const CardLook& look, const GpuMap::Gpu& gpu,
                const GpuWork& work, Interval shown, Nanos time) {
  CardEdge edge = card_edge(theme);
  if (gpu.number == 0) edge = {mixed(theme.line, theme.text, 0.6F), theme.px(1.8F)};
  if (look.is_small()) {
    const auto now = doing(work, time);
    return paint_small_card(theme, look, gpu, edge, now ? theme.of(*now).fill : theme.card,
                            now ? 1 : 0);
  }
  const Box inner = paint_card_frame(theme, look, gpu, edge);
  const float foot = std::clamp(inner.height() * 0.26F, theme.px(4), theme.px(11));
  paint_doing(theme, {inner.min, {inner.max.x, inner.max.y - foot - theme.px(4)}}, work, time);
  paint_step(theme, {{inner.min.x, inner.max.y - foot}, inner.max}, work, shown, time);
}

// ---- Traffic -----------------------------------------------------------------------------------

void paint_transfer(const Theme& theme, const GpuMap& map, const std::vector<ImVec2>& way,
                    double share) {
  if (way.empty()) return;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const CategoryStyle& style = theme.of(Category::kCollective);
  draw->AddPolyline(way.data(), static_cast<int>(way.size()), faded(style.line, 0.55F), 0,
                    theme.px(2.5F));
  const float half = std::min(theme.px(6), map.chip);
  const ImVec2 at = along(way, static_cast<float>(share), half + 1);
  draw->AddRectFilled({at.x - half - 1, at.y - half - 1}, {at.x + half + 1, at.y + half + 1},
                      theme.panel, half * 0.6F);
  draw->AddRectFilled({at.x - half, at.y - half}, {at.x + half, at.y + half}, style.fill, half / 2);
}

void paint_one(const Theme& theme, const GpuMap& map, const StarTransfer& one, bool leaves,
               double share) {
  for (int gpu = 1; gpu < static_cast<int>(map.gpus.size()); ++gpu)
    if (one.other == StarTransfer::kAll || one.other == gpu)
      paint_transfer(theme, map, leaves ? map.route(0, gpu) : map.route(gpu, 0), share);
}

const StarStageTimes* stage_at(const StarStep& step, Nanos time) {
  const StarStageTimes* last = nullptr;
  for (const StarStageTimes& stage : step.stages)
    if (stage.start <= time) last = &stage;
  return last;
}

}  // namespace

void paint_star_cards(const Theme& theme, const GpuPicture& picture, const StarFlow& flow,
                      Nanos time) {
  const Interval shown = flow.at(time).window;
  for (const GpuMap::Gpu& gpu : picture.map.gpus)
    if (static_cast<std::size_t>(gpu.number) < flow.gpus.size())
      paint_card(theme, picture.look, gpu, flow.gpus[static_cast<std::size_t>(gpu.number)], shown,
                 time);
}

void paint_star_traffic(const Theme& theme, const GpuMap& map, const StarFlow& flow, Nanos time) {
  for (const StarStageTimes& stage : flow.at(time).stages)
    for (const StarTransfer& one : stage.transfers)
      if (one.start <= time && time < one.end)
        paint_one(theme, map, one, leaves_gpu0(stage.stage),
                  static_cast<double>(time - one.start) / static_cast<double>(one.end - one.start));
}

std::vector<std::string> star_words(const StarFlow& flow, Nanos time) {
  const StarStageTimes* stage = stage_at(flow.at(time), time);
  if (!stage) return {"nothing is sent yet"};
  const std::string name(analysis::name_of(stage->stage));
  if (time >= stage->end) return {"nothing is sent; " + name + " is over", name + " is over"};
  const auto others = static_cast<double>(flow.gpus.size() - 1);
  const std::string each =
      others == 1 ? "the other" : fmt::format("each of the {:.0f} others", others);
  const std::string bytes = format_bytes(static_cast<double>(stage->bytes) / others);
  const std::string way = leaves_gpu0(stage->stage)
                              ? fmt::format("{} from GPU 0 to {}", bytes, each)
                              : fmt::format("{} from {} to GPU 0", bytes, each);
  return {name + ": " + way, name};
}

// ---- The table ---------------------------------------------------------------------------------

namespace {

float row_height(const Theme& theme) {
  return theme.px(25);
}

// Right edges but for the name; 0: there is no room for it.
struct Columns {
  float name = 0, sent = 0, start = 0, done = 0, exposed = 0;
};

// The name first, then what is exposed, when it was done, how much it was, when it began.
Columns columns_in(const Theme& theme, const Box& box) {
  const float figure = std::max({text_size(theme.font.mono, theme.size.label, "99.99 MiB").x,
                                 text_size(theme.font.text, theme.size.label, "begun ms").x}) +
                       theme.px(14);
  Columns columns;
  columns.name = box.min.x + theme.px(8);
  columns.exposed = box.max.x - theme.px(10);
  const float room = columns.exposed - columns.name - theme.px(96);
  const int figures = static_cast<int>(room / figure);
  float right = columns.exposed;
  if (figures >= 2) columns.done = right -= figure;
  if (figures >= 4) columns.start = right -= figure;
  if (figures >= 3) columns.sent = right -= figure;
  return columns;
}

void words_at(const Theme& theme, ImFont* font, float x, float y, Color color,
              std::string_view words, float align) {
  if (x <= 0) return;
  draw_text_middle(ImGui::GetWindowDrawList(), font, theme.size.label, x, y, color, words, align);
}

void draw_head(const Theme& theme, const Columns& columns, float y, bool milliseconds) {
  const char* unit = milliseconds ? " ms" : " us";
  words_at(theme, theme.font.text, columns.name, y, theme.faint, "sent", 0);
  words_at(theme, theme.font.text, columns.sent, y, theme.faint, "bytes", 1);
  words_at(theme, theme.font.text, columns.start, y, theme.faint, std::string("begun") + unit, 1);
  words_at(theme, theme.font.text, columns.done, y, theme.faint, std::string("done") + unit, 1);
  words_at(theme, theme.font.text, columns.exposed, y, theme.faint, "exposed", 1);
}

void draw_row(const Theme& theme, const Columns& columns, const StarStageTimes& stage, float y,
              Nanos time, bool milliseconds) {
  const bool begun = stage.start <= time, done = stage.end <= time;
  const auto color = [&](bool known) { return known ? theme.text : theme.faint; };
  ImFont* mono = theme.font.mono;
  const std::string bytes = stage.bytes > 0 ? format_bytes(static_cast<double>(stage.bytes)) : "?";
  const float room =
      columns.sent > 0
          ? columns.sent - columns.name - theme.px(12) - text_size(mono, theme.size.label, bytes).x
          : (columns.done > 0 ? columns.done : columns.exposed) - columns.name - theme.px(84);
  words_at(theme, theme.font.text, columns.name, y, color(begun),
           shortened(theme.font.text, theme.size.label, analysis::name_of(stage.stage), room), 0);
  words_at(theme, mono, columns.sent, y, color(begun), bytes, 1);
  words_at(theme, mono, columns.start, y, color(begun), table_time(stage.start, milliseconds), 1);
  words_at(theme, mono, columns.done, y, color(done), table_time(stage.end, milliseconds), 1);
  words_at(theme, mono, columns.exposed, y,
           !done               ? theme.faint
           : stage.exposed > 0 ? theme.bad
                               : theme.text,
           stage.exposed > 0 ? format_nanos(static_cast<double>(stage.exposed)) : "0", 1);
}

bool is_selected(const StarStageTimes& stage, trace::SpanId selected) {
  return selected != trace::kNone &&
         std::any_of(stage.transfers.begin(), stage.transfers.end(),
                     [selected](const StarTransfer& one) { return one.span == selected; });
}

// Of a row, once its item is there.
void paint_ground(const Theme& theme, const Box& row, const StarStageTimes& stage, Nanos time,
                  trace::SpanId selected) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float corner = theme.px(3);
  if (stage.start <= time && time < stage.end)
    draw->AddRectFilled(row.min, row.max,
                        mixed(theme.panel, theme.of(Category::kCollective).line, 0.20F), corner);
  else if (ImGui::IsItemHovered())
    draw->AddRectFilled(row.min, row.max, theme.lane_tone, corner);
  if (is_selected(stage, selected))
    draw->AddRect({row.min.x + 0.5F, row.min.y + 0.5F}, {row.max.x - 0.5F, row.max.y - 0.5F},
                  theme.accent, corner, theme.px(1.4F));
}

}  // namespace

float star_table_height(const Theme& theme, const StarStep& step) {
  return theme.px(24) + row_height(theme) * static_cast<float>(step.stages.size());
}

std::optional<std::size_t> draw_star_table(const Theme& theme, const char* id, const Box& box,
                                           const StarFlow& flow, Nanos time,
                                           trace::SpanId selected) {
  const StarStep& step = flow.at(time);
  const bool milliseconds = step.window.end - step.window.start >= kMillisecond;
  const bool scrolls = star_table_height(theme, step) > box.height() + 1;
  const Box inner{box.min, {box.max.x - (scrolls ? theme.px(12) : 0), box.max.y}};
  const Columns columns = columns_in(theme, inner);
  const float head = theme.px(22);
  draw_head(theme, columns, box.min.y + head / 2, milliseconds);
  ImGui::SetCursorScreenPos({box.min.x, box.min.y + head});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::BeginChild(id, {box.width(), box.height() - head}, ImGuiChildFlags_NavFlattened);
  std::optional<std::size_t> clicked;
  for (std::size_t i = 0; i < step.stages.size(); ++i) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Box row{at, {at.x + inner.width(), at.y + row_height(theme)}};
    if (press_area(fmt::format("stage {}", i).c_str(), {row.width(), row.height()})) clicked = i;
    paint_ground(theme, row, step.stages[i], time, selected);
    draw_row(theme, columns, step.stages[i], row.centre().y, time, milliseconds);
  }
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
  return clicked;
}

}  // namespace trainscope::ui
