#include "ui/panels/charts/loss_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/ticks.h"
#include "base/units.h"
#include "ui/panels/comparison/side_data.h"
#include "ui/panels/window/running.h"

namespace trainscope::ui {
namespace {

using analysis::NumberLine;
using analysis::ScalingState;
using program::ElementType;

LossScalingPanel::Read* read_side(const Workspace& workspace, LossScalingPanel& panel,
                                  std::size_t side) {
  const SideModel& model = workspace.sides()[side];
  const trace::Trace* trace = shown_trace(workspace, side, "loss-scaling");
  if (!has_scaling_data(model, trace)) return nullptr;
  LossScalingPanel::Read& read = panel.sides[side];
  const std::uint32_t steps = trace->steps().size();
  if (read.trace.get() != trace || read.steps != steps) {
    read.trace = model.view->trace;
    read.steps = steps;
    read.time = -1;
    read.history = analysis::scale_history(*trace);
    read.powers.clear();
    for (const double scale : read.history.scale) read.powers.push_back(std::log2(scale));
  }
  const Nanos time = playhead_of(workspace, side);
  if (read.time != time) {
    read.time = time;
    read.state = analysis::scaling_at(*trace, time);
  }
  return &read;
}

// "0.02 %", never "0 %" of something, never "100 %" of less than all.
std::string share_words(double share) {
  if (share <= 0) return "0 %";
  if (share < 0.0001) return "under 0.01 %";
  if (share < 1 && share > 0.9999) return "over 99.99 %";
  return fmt::format("{:.{}f} %", 100 * share, share < 0.01 ? 2 : 1);
}

// "65536 = 2^16"; where there is little room "2^16".
std::string scale_words(double scale, bool brief = false) {
  const double powers = std::log2(scale);
  const bool whole = std::abs(powers - std::round(powers)) < 1e-9;
  if (!whole) return fmt::format("{:.6g}", scale);
  return brief ? fmt::format("2^{:.0f}", powers) : fmt::format("{} = 2^{:.0f}", scale, powers);
}

// ---- The number line and what it says ----------------------------------------------------------

struct Legend {
  Color color;
  std::string words;
  std::string brief;  // where there is little room
};

// "8.3 % lost"; where many are zero before and after, of which others that is a share.
std::string lost_words(const ScalingState& state, double share) {
  return share_words(share) + (state.zeros > 0 ? " of those not 0 lost" : " lost");
}

double zero_share(const ScalingState& state) {
  return static_cast<double>(state.to_zero) / static_cast<double>(state.rounded);
}

// The gradients that are drawn have been rounded: what was lost is no more among them.
Legend unscaled_row(const Theme& theme, const ScalingState& state, const std::string& lost) {
  if (state.rounded == 0) return {before_color(theme), "not scaled: " + lost, lost};
  const std::string zero = share_words(zero_share(state)) + " became 0";
  return {before_color(theme), "what is left, not scaled: " + zero + " in backward",
          "not scaled: " + zero};
}

std::vector<Legend> legend_of(const Theme& theme, const ScalingState& state, bool bf16) {
  const NumberLine fp16 = analysis::number_line(ElementType::kFp16);
  const std::string lost = lost_words(state, state.before.lost(fp16));
  if (bf16) {
    const NumberLine line = analysis::number_line(ElementType::kBf16);
    return {
        {before_color(theme),
         "of these, in BF16: " + share_words(state.after.lost(line)) + " lost; in FP16: " + lost,
         "in FP16: " + lost}};
  }
  if (!state.scaled || state.scale == 1) return {unscaled_row(theme, state, lost)};
  std::vector<Legend> rows;
  if (state.after.infinite < 1)
    rows.push_back({before_color(theme), "at this step, without scaling: " + lost,
                    "unscaled: " + share_words(state.before.lost(fp16)) + " lost"});
  const std::string now = lost_words(state, state.after.lost(fp16));
  // Of two their colours have to be told; one has room for what it is a share of.
  rows.push_back({after_color(theme), "times " + scale_words(state.scale, true) + ": " + now,
                  rows.empty() ? now : "scaled: " + share_words(state.after.lost(fp16)) + " lost"});
  return rows;
}

// What backward itself rounded: more than the gradients of parameters. The longest first.
std::vector<std::string> rounding_words(const ScalingState& state, bool bf16) {
  if (state.rounded == 0) return {};
  const auto all = static_cast<double>(state.rounded);
  const std::string numbers = format_count(all), type = bf16 ? "BF16" : "FP16";
  std::string became = share_words(zero_share(state)) + " became 0";
  if (state.to_infinity > 0)
    became +=
        fmt::format(", {} infinite", share_words(static_cast<double>(state.to_infinity) / all));
  return {fmt::format("on the way to them backward rounded {} numbers to {}: {}", numbers, type,
                      became),
          fmt::format("backward rounded {} to {}: {}", numbers, type, became),
          fmt::format("of {} {}", numbers, became)};
}

void draw_legend(const Theme& theme, const Box& box, const std::vector<Legend>& rows) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float size = theme.size.small, edge = theme.px(11), y = box.centre().y;
  const float mark = edge + theme.px(7), apart = theme.px(20);
  float wanted = -apart;
  for (const Legend& row : rows)
    wanted += mark + text_size(theme.font.text, size, row.words).x + apart;
  const bool brief = wanted > box.width();
  float x = box.min.x;
  for (const Legend& row : rows) {
    const std::string words =
        shortened(theme.font.text, size, brief ? row.brief : row.words, box.max.x - x - mark);
    if (words.empty()) return;
    draw->AddRectFilled({x, y - edge / 2}, {x + edge, y + edge / 2}, row.color, theme.px(2));
    x += mark;
    draw_text_middle(draw, theme.font.text, size, x, y, theme.text, words);
    x += text_size(theme.font.text, size, words).x + apart;
  }
}

void draw_sentence(const Theme& theme, const Box& box, const std::string& words, Color color) {
  const float size = theme.size.label;
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, size, box.min.x, box.centre().y,
                   color, shortened(theme.font.text, size, words, box.width()));
}

void draw_gradients(const Theme& theme, const Box& box, const LossScalingPanel::Read& read,
                    const LineScale& scale, bool bf16) {
  if (!read.state || !read.state->has_gradients) {
    const char* words = read.state ? "This step's gradients were not kept."
                                   : "No step is done yet at the playhead.";
    draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, box.centre().x,
                     box.centre().y, theme.muted, words, 0.5F);
    return;
  }
  const ScalingState& state = *read.state;
  const float row = theme.px(20);
  const std::vector<std::string> rounding = rounding_words(state, bf16);
  const bool tall = box.height() > theme.px(150) && !rounding.empty();
  const float under = row + (tall ? row : 0);
  draw_number_line(theme, {box.min, {box.max.x, box.max.y - under - theme.px(4)}}, state, scale);
  const float top = box.max.y - under;
  draw_legend(theme, {{box.min.x, top}, {box.max.x, top + row}}, legend_of(theme, state, bf16));
  if (tall)
    draw_sentence(theme, {{box.min.x, top + row}, {box.max.x, top + 2 * row}},
                  fitting(theme, theme.size.label, rounding, box.width()), theme.muted);
}

// ---- The scale over the steps ------------------------------------------------------------------

// The longest first.
std::vector<std::string> scale_sentences(const LossScalingPanel::Read& read,
                                         const program::Config& config) {
  const std::size_t skipped = read.history.skipped.size();
  const std::string brief = fmt::format("{} of {} skipped", skipped, read.history.scale.size());
  const std::string words = (skipped > 0 ? "triangles: " : "") + brief;
  if (!read.state || !read.state->scaled) return {words, brief};
  if (read.state->skipped) return {words + "; this one was, for an infinity", brief};
  const std::int64_t interval = config.whole("scaler.growth_interval");
  const std::string clean =
      fmt::format("; {} of {} clean", std::min(read.state->clean, interval), interval);
  return {words + clean + " steps to the next growth", brief + clean, brief};
}

// Every power, or every second, fourth, ... where there are many.
std::vector<double> power_ticks(double from, double to, double count) {
  double apart = 1;
  while ((to - from) / apart > count) apart *= 2;
  return multiples(apart, from, to);
}

void draw_scale_hover(const Theme& theme, const LossScalingPanel::Read& read) {
  if (!ImPlot::IsPlotHovered()) return;
  const double x = std::round(ImPlot::GetPlotMousePos().x);
  if (x < 0 || x >= static_cast<double>(read.history.scale.size())) return;
  const auto step = static_cast<std::size_t>(x);
  draw_upright(theme, x, theme.grid(3), 1);
  CardRows rows = {{"scale", scale_words(read.history.scale[step])}};
  if (std::binary_search(read.history.skipped.begin(), read.history.skipped.end(),
                         static_cast<std::int64_t>(step)))
    rows.emplace_back("update", "skipped: infinity");
  chart_card(theme, fmt::format("step {}", step), rows);
}

// Above its chart, where that leaves enough of it. Returns what is below.
Box titled(const Theme& theme, const Box& box, const char* title) {
  const float row = theme.px(18);
  if (box.height() < 5 * row) return box;
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.strong, theme.size.small, box.min.x,
                   box.min.y + row / 2, theme.text, title);
  return {{box.min.x, box.min.y + row}, box.max};
}

void draw_scale(const PanelContext& context, LossScalingPanel& panel, std::size_t side,
                const Box& room) {
  const Theme& theme = context.theme;
  const Box box = titled(theme, room, "Loss scale of each step");
  const LossScalingPanel::Read& read = panel.sides[side];
  const float foot = theme.px(20), beside = room_for_axis_name(theme, box, "step");
  ChartOptions options;
  options.y_format = format_power;
  options.y_from = std::floor(std::log2(panel.axes.least)) - 0.9;
  options.y_to = std::ceil(std::log2(panel.axes.most)) + 0.6;
  const std::vector<double> ticks =
      power_ticks(options.y_from, options.y_to, std::max(2.0F, box.height() / theme.px(28)));
  options.y_ticks = &ticks;
  ImGui::PushID(static_cast<int>(side));
  if (begin_chart(theme, "##scale", {box.min, {box.max.x - beside, box.max.y - foot}},
                  panel.stretch, options)) {
    name_axis(theme, box, "step");
    const Pen pen{theme.of(trace::Category::kCollective).line, 2, true, theme.panel};
    draw_values(theme, read.powers, pen, true);
    draw_marks(theme, read.history.skipped, theme.bad, true);
    if (read.state) draw_upright(theme, static_cast<double>(read.state->step), theme.accent, 1.4F);
    draw_scale_hover(theme, read);
    if (double step = 0; dragged_to(step)) {
      const double last = static_cast<double>(read.trace->steps().size() - 1);
      const auto at = static_cast<std::uint32_t>(std::clamp(std::round(step), 0.0, last));
      Workspace& workspace = context.workspace;
      workspace.playhead.time =
          std::clamp<Nanos>(read.trace->steps()[at].time, 0, playhead_end(workspace));
    }
    end_chart();
  }
  ImGui::PopID();
  const auto sentences = scale_sentences(read, context.workspace.sides()[side].config);
  draw_sentence(theme, {{box.min.x, box.max.y - foot}, box.max},
                fitting(theme, theme.size.label, sentences, box.width()), theme.muted);
}

// ---- Both sides --------------------------------------------------------------------------------

std::string title_of(const SideModel& side, const LossScalingPanel::Read& read, bool brief) {
  if (!read.state) return is_training(side) ? progress_words(side) : "before the first step";
  // The last that is done: at the playhead another may be under way.
  std::string words = fmt::format("step {} done", read.state->step);
  if (read.state->scaled)
    words += ", scale " + scale_words(read.state->scale, brief);
  else
    words += analysis::is_bf16(side.config) ? ", BF16, no loss scaling" : ", no loss scaling";
  if (read.state->skipped) words += ": skipped";
  return words;
}

void draw_side(const PanelContext& context, LossScalingPanel& panel, std::size_t side, Box box) {
  const Theme& theme = context.theme;
  const SideModel& model = context.workspace.sides()[side];
  const LossScalingPanel::Read& read = panel.sides[side];
  const float head = theme.px(22), middle = box.min.y + head / 2;
  const float x = draw_side_title(theme, context.workspace, side, {box.min.x, middle});
  const bool bad = read.state && read.state->skipped;
  draw_text_middle(
      ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, x, middle,
      bad ? theme.bad : theme.text,
      fitting(theme, theme.size.small, {title_of(model, read, false), title_of(model, read, true)},
              box.max.x - x));
  box.min.y += head + theme.px(4);
  const bool scaled = !read.history.empty();
  const bool under = box.height() > theme.px(280);
  const bool beside = !under && box.width() > theme.px(560);
  const bool bf16 = analysis::is_bf16(model.config);
  if (!scaled || (!under && !beside))
    return draw_gradients(theme, box, read, panel.axes.line, bf16);
  Box line = box, scale = box;
  if (under) {
    line.max.y = box.min.y + box.height() * 0.56F;
    scale.min.y = line.max.y + theme.px(8);
  } else {
    line.max.x = box.min.x + box.width() * 0.56F;
    scale.min.x = line.max.x + theme.px(22);
  }
  draw_gradients(theme, line, read, panel.axes.line, bf16);
  draw_scale(context, panel, side, scale);
}

LossScalingPanel::Axes axes_of(const LossScalingPanel& panel,
                               const std::vector<std::size_t>& shown) {
  LossScalingPanel::Axes axes;
  bool any = false;
  for (const std::size_t side : shown) {
    const LossScalingPanel::Read& read = panel.sides[side];
    if (read.state && read.state->has_gradients) axes.line.include(*read.state);
    if (read.history.empty()) continue;
    axes.least = any ? std::min(axes.least, read.history.least) : read.history.least;
    axes.most = any ? std::max(axes.most, read.history.most) : read.history.most;
    any = true;
  }
  return axes;
}

void draw_body(const PanelContext& context, LossScalingPanel& panel) {
  const Theme& theme = context.theme;
  std::vector<std::size_t> shown;
  std::size_t steps = 2;
  for (std::size_t i = 0; i < context.workspace.sides().size(); ++i)
    if (const auto* read = read_side(context.workspace, panel, i)) {
      shown.push_back(i);
      steps = std::max(steps, read->history.scale.size());
    }
  panel.axes = axes_of(panel, shown);
  panel.stretch.follow(0, static_cast<double>(steps) - 1);
  const float gap = theme.px(34);
  const Box room = padded_room(theme, theme.px(8), theme.px(4));
  const bool stacked = room.width() < theme.px(760) && room.height() > theme.px(420);
  const auto count = static_cast<float>(shown.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto n = static_cast<float>(i);
    const float wide = stacked ? room.width() : (room.width() + gap) / count - gap;
    const float tall = stacked ? (room.height() + gap / 2) / count - gap / 2 : room.height();
    const ImVec2 corner{room.min.x + (stacked ? 0 : n * (wide + gap)),
                        room.min.y + (stacked ? n * (tall + gap / 2) : 0)};
    draw_side(context, panel, shown[i], {corner, {corner.x + wide, corner.y + tall}});
  }
}

}  // namespace

void draw_loss_scaling(const PanelContext& context, LossScalingPanel& panel, const char* name,
                       const char* beside, bool* open) {
  const PanelOptions options =
      chart_panel(beside, open, "gradients on FP16's number line, at the playhead");
  if (begin_panel(context, name, options)) draw_body(context, panel);
  end_panel();
}

}  // namespace trainscope::ui
