#include "ui/panels/memory/memory.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/units.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/comparison/side_data.h"
#include "ui/panels/memory/memory_gpus.h"
#include "ui/panels/memory/memory_legend.h"
#include "ui/panels/memory/memory_segments.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

using analysis::MemoryHistory;

// Asks for what is not read yet; the last that was read is shown until then.
MemoryFacts* facts_of(const PanelContext& context, MemoryPanel& panel, std::size_t side) {
  const SideModel& model = context.workspace.sides()[side];
  MemoryPanel::SideFacts& own = panel.sides[side];
  const trace::Trace* trace = shown_trace(context.workspace, side, "memory");
  if (!trace || !analysis::counts_memory(*trace)) return nullptr;
  if (own.trace.get() != trace) own.facts = nullptr;
  const std::uint32_t samples = trace->samples().size();
  if (const auto& ready = own.reading.get(); ready && ready->trace.get() == trace)
    own.facts = ready;
  // Of a run under way once there is a good deal more of it.
  const bool grown = model.busy ? samples > own.samples + own.samples / 4 : samples != own.samples;
  const bool other = own.trace.get() != trace;
  if (other || (grown && !own.reading.busy())) {
    own.trace = model.view->trace;
    own.samples = samples;
    own.reading.start([trace = own.trace, gpu = own.asked](const auto&) {
      return std::make_shared<MemoryFacts>(trace, gpu);
    });
  }
  if (own.reading.busy()) context.ask("animate");
  return own.facts && !own.facts->history.empty() ? own.facts.get() : nullptr;
}

// Why there is nothing of what is shown now.
std::string fault_of(const PanelContext& context, MemoryPanel& panel, std::size_t side) {
  MemoryPanel::SideFacts& own = panel.sides[side];
  const bool is_shown = own.trace.get() == shown_trace(context.workspace, side, "memory");
  return is_shown ? own.reading.error() : "";
}

const analysis::BatchFit* fit_of(const PanelContext& context, MemoryPanel& panel,
                                 std::size_t side) {
  const SideModel& model = context.workspace.sides()[side];
  MemoryPanel::SideFacts& own = panel.sides[side];
  // What would fit is the simulator's to say, and not beside what was measured.
  if (!model.run || !model.run->program || !model.run->machine ||
      trace::is_measured(*model.run->trace))
    return nullptr;
  if (own.fitted != model.run) {
    own.fitted = model.run;
    own.fit.start([run = model.run](const auto& stopped) -> std::shared_ptr<analysis::BatchFit> {
      const auto fit = analysis::batch_fit(run->config, *run->machine, stopped);
      return fit ? std::make_shared<analysis::BatchFit>(*fit) : nullptr;
    });
  }
  if (own.fit.busy()) context.ask("animate");
  return own.fit.get().get();
}

// With as few steps as are shown together, all are shown.
bool has_more_than_shown(const MemoryFacts& facts) {
  return facts.history.steps().size() > 3;
}

// The step at the playhead with one before and one after; where there are no steps, what the
// timeline shows. In the side's own time.
TimeRange shown_range(const PanelContext& context, const MemoryPanel& panel,
                      const MemoryFacts& facts, std::size_t side, Nanos playhead) {
  const auto& steps = facts.history.steps();
  if (panel.whole || !has_more_than_shown(facts)) {
    const TimeRange& view = context.attention.timeline.view;
    const Nanos offset = side > 0 ? context.workspace.playhead.offset : 0;
    if (view.end > view.start) return {view.start - offset, view.end - offset};
    return {0, std::max<Nanos>(facts.trace->end(), 1)};
  }
  const auto after = std::ranges::upper_bound(steps, playhead, {}, &MemoryHistory::Step::start);
  const auto now = std::clamp<std::ptrdiff_t>(after - steps.begin() - 1, 1, std::ssize(steps) - 2);
  const auto first = static_cast<std::size_t>(now - 1), last = static_cast<std::size_t>(now + 1);
  return {steps[first].start, std::max(steps[last].end, steps[first].start + 1)};
}

double held(const std::vector<analysis::MemorySegment>& segments) {
  double bytes = 0;
  for (const analysis::MemorySegment& segment : segments)
    for (const analysis::MemoryBlock& block : segment.blocks)
      if (block.state != analysis::BlockState::kFree) bytes += static_cast<double>(block.bytes);
  return bytes;
}

void small_heading(const Theme& theme, const Box& box, const std::string& words,
                   const std::string& more) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float size = theme.size.small, y = box.centre().y;
  draw_text_middle(draw, theme.font.strong, size, box.min.x, y, theme.text, words);
  const float left = box.min.x + text_size(theme.font.strong, size, words).x + theme.px(10);
  draw_text_middle(draw, theme.font.text, theme.size.label, left, y, theme.muted,
                   shortened(theme.font.text, theme.size.label, more, box.max.x - left));
}

void draw_map(const PanelContext& context, MemoryFacts& facts, const Box& box, Nanos playhead) {
  const Theme& theme = context.theme;
  const float head = theme.px(24);
  const auto& segments = facts.maps.at(playhead);
  double all = 0;
  for (const analysis::MemorySegment& segment : segments) all += static_cast<double>(segment.bytes);
  small_heading(theme, {box.min, {box.max.x, box.min.y + head}}, "Segments at the playhead",
                fmt::format("{}, {} of {} in use", counted(segments.size(), "segment"),
                            format_bytes(held(segments)), format_bytes(all)));
  paint_segments(theme, "##segments", {{box.min.x, box.min.y + head + theme.px(2)}, box.max},
                 *facts.trace, segments);
}

void draw_fit(const Theme& theme, const Box& box, const SideModel& side,
              const analysis::BatchFit* fit, bool busy, const std::string& error) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (!error.empty()) {
    const float pad = theme.px(10), above = (box.height() - theme.size.small) / 2;
    draw->AddRectFilled(box.min, box.max, theme.card, theme.size.corner);
    return draw_sentence(theme,
                         {{box.min.x + pad, box.min.y + above}, {box.max.x - pad, box.max.y}},
                         theme.bad, error);
  }
  if (!fit && !busy) return;
  const auto ways = fit ? fit_words(*fit) : std::vector<std::string>{"trying larger batches"};
  const std::string batch = fmt::format("batch {}", side.config.whole("batch_size"));
  const bool fits = fit && fit->fits();
  const float size = theme.size.small, y = box.centre().y;
  draw->AddRectFilled(box.min, box.max, theme.card, theme.size.corner);
  const std::string verdict = !fit ? batch : batch + (fits ? " fits" : " does not fit");
  const float x = box.min.x + theme.px(10);
  draw_text_middle(draw, theme.font.strong, size, x, y,
                   !fit   ? theme.muted
                   : fits ? theme.good
                          : theme.bad,
                   verdict);
  const float left = x + text_size(theme.font.strong, size, verdict).x + theme.px(12);
  const float room = box.max.x - left - theme.px(8);
  const std::string way = fitting(theme, size, ways, room);  // not a piece of the shortest
  if (std::ranges::find(ways, way) != ways.end())
    draw_text_middle(draw, theme.font.text, size, left, y, theme.muted, way);
}

// Where the parts of a side stand.
struct Places {
  Box gpu, chart, peak, map, fit;
};

// The peak's list beside the chart tells what the colours mean; a narrower side has a legend below.
bool lists_peak(const Theme& theme, float width) {
  return width > theme.px(430);
}

Places places_in(const Theme& theme, const Box& box, const MemoryFacts& facts, bool has_fit) {
  const bool has_map = !facts.maps.empty();
  Places places;
  Box rest = box;
  const float gap = theme.px(16), fit = theme.px(28), choice = theme.px(26);
  if (facts.gpus.size() > 1) {
    places.gpu = {rest.min, {rest.max.x, rest.min.y + choice}};
    rest.min.y += choice + theme.px(6);
  }
  if (has_fit && box.height() > theme.px(150)) {
    places.fit = {{box.min.x, box.max.y - fit}, box.max};
    rest.max.y -= fit + theme.px(8);
  }
  if (box.width() < theme.px(200) && rest.height() < theme.px(70)) {  // too little for a chart
    places.peak = rest;
    return places;
  }
  if (lists_peak(theme, box.width())) {
    const float wide = std::clamp(box.width() * 0.26F, theme.px(180), theme.px(280));
    places.peak = {{rest.max.x - wide, rest.min.y}, rest.max};
    rest.max.x -= wide + gap;
  }
  // Beside the chart where that is wide and low.
  if (has_map && rest.width() > theme.px(760)) {
    const float wide = rest.width() * 0.42F;
    places.map = {{rest.max.x - wide, rest.min.y}, rest.max};
    rest.max.x -= wide + gap;
  } else if (has_map && rest.height() > theme.px(190)) {
    const float tall = std::clamp(rest.height() * 0.34F, theme.px(76), theme.px(220));
    places.map = {{rest.min.x, rest.max.y - tall}, rest.max};
    rest.max.y -= tall + theme.px(6);
  }
  places.chart = rest;
  return places;
}

void choose_gpu(const Theme& theme, MemoryPanel::SideFacts& side, const MemoryFacts& facts,
                const Box& box) {
  if (box.width() <= 0) return;
  analysis::MemoryGpu gpu = facts.gpu;
  if (!memory_gpu_choice(theme, box, facts.gpus, gpu)) return;
  side.asked = gpu;
  side.samples = 0;  // to be read anew
}

// How all charts are drawn, so that they can be compared.
struct Scale {
  double highest = 0;  // bytes
  bool by_change = true;
};

Scale common_scale(const MemoryPanel& panel,
                   const std::vector<std::pair<std::size_t, MemoryFacts*>>& shown) {
  Scale scale;
  for (const auto& [side, facts] : shown) {
    scale.highest =
        std::max({scale.highest, facts->history.most_reserved(), facts->history.peak().allocated});
    scale.by_change = scale.by_change && !panel.whole && has_more_than_shown(*facts);
  }
  return scale;
}

void draw_side(const PanelContext& context, MemoryPanel& panel, std::size_t side,
               MemoryFacts& facts, const Scale& scale, const Box& box) {
  const Theme& theme = context.theme;
  Workspace& workspace = context.workspace;
  const SideModel& model = workspace.sides()[side];
  const analysis::BatchFit* fit = fit_of(context, panel, side);
  const bool trying = panel.sides[side].fit.busy();
  const std::string& error = panel.sides[side].fit.error();
  const Places places = places_in(theme, box, facts, fit || trying || !error.empty());
  MemoryChart chart;
  chart.playhead = playhead_of(workspace, side);
  chart.by_change = scale.by_change;
  chart.highest = scale.highest;
  chart.range = shown_range(context, panel, facts, side, chart.playhead);
  if (model.run && model.run->machine) {
    chart.capacity = static_cast<double>(machine::room_of_allocator(*model.run->machine));
    chart.context = static_cast<double>(model.run->machine->host.context_bytes);
  }
  ImGui::PushID(static_cast<int>(side));
  choose_gpu(theme, panel.sides[side], facts, places.gpu);
  Nanos time = 0;
  if (places.chart.width() > 0 && paint_memory_chart(theme, "##memory", places.chart, facts.history,
                                                     chart, facts.columns, time))
    workspace.playhead.time = std::clamp<Nanos>(time + (side > 0 ? workspace.playhead.offset : 0),
                                                0, playhead_end(workspace));
  if (places.peak.width() > 0)
    paint_peak(theme, places.peak, facts.columns, *facts.trace, facts.history, facts.at_peak);
  if (places.map.width() > 0) draw_map(context, facts, places.map, chart.playhead);
  if (places.fit.width() > 0) draw_fit(theme, places.fit, model, fit, trying, error);
  ImGui::PopID();
}

// One for all sides, over their whole width: what is left of the room for the charts.
Box above_legend(const Theme& theme, const Box& room,
                 const std::vector<std::pair<std::size_t, MemoryFacts*>>& shown) {
  std::vector<std::string> roles;
  for (const auto& [side, facts] : shown) add_drawn_roles(facts->history, facts->columns, roles);
  const float tall = memory_legend_height(theme, room.width(), roles);
  paint_memory_legend(theme, {{room.min.x, room.max.y - tall}, room.max}, roles);
  return {room.min, {room.max.x, room.max.y - tall - theme.px(4)}};
}

void draw_body(const PanelContext& context, MemoryPanel& panel) {
  const Theme& theme = context.theme;
  std::vector<std::pair<std::size_t, MemoryFacts*>> shown;
  std::array<std::string, 2> faults;
  for (std::size_t i = 0; i < context.workspace.sides().size(); ++i) {
    if (MemoryFacts* facts = facts_of(context, panel, i))
      shown.emplace_back(i, facts);
    else
      faults.at(i) = fault_of(context, panel, i);
  }
  const float gap = theme.px(30);
  Box room = padded_room(theme, theme.px(10), theme.px(8));
  room = draw_faults(context, room, faults, shown.empty());
  if (shown.empty() || room.width() < theme.px(140) || room.height() < theme.px(60)) return;
  const bool stacked = room.width() < theme.px(760) && room.height() > theme.px(420);
  const auto count = static_cast<float>(shown.size());
  const float each = (room.width() + gap) / (stacked ? 1 : count) - gap;
  const float letter = theme.px(34);
  if (!lists_peak(theme, each - letter) && room.height() > theme.px(110))
    room = above_legend(theme, room, shown);
  const Scale scale = common_scale(panel, shown);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto n = static_cast<float>(i);
    const float wide = stacked ? room.width() : (room.width() + gap) / count - gap;
    const float tall = stacked ? (room.height() + gap) / count - gap : room.height();
    Box box{{room.min.x + (stacked ? 0 : n * (wide + gap)),
             room.min.y + (stacked ? n * (tall + gap) : 0)},
            {}};
    box.max = {box.min.x + wide, box.min.y + tall};
    const std::size_t side = shown[i].first;
    box.min.x =
        draw_side_title(theme, context.workspace, side, {box.min.x, box.min.y + theme.px(10)});
    draw_side(context, panel, side, *shown[i].second, scale, box);
  }
}

bool has_choice(const MemoryPanel& panel) {
  return std::ranges::any_of(panel.sides, [](const MemoryPanel::SideFacts& side) {
    return side.facts && has_more_than_shown(*side.facts);
  });
}

// How much of time is shown, in the panel's head.
float range_width(const Theme& theme) {
  return theme.px(186);
}

void draw_range_choice(const Theme& theme, MemoryPanel& panel) {
  static const std::vector<std::string> kWords = {"3 steps", "timeline"};
  const ImVec2 at = ImGui::GetWindowPos();
  const float width = range_width(theme) - theme.px(16);
  ImGui::SetCursorScreenPos({at.x + ImGui::GetWindowWidth() - theme.px(38) - width,
                             at.y + (theme.size.head - theme.px(22)) / 2});
  std::string chosen = kWords[panel.whole ? 1 : 0];
  if (segments(theme, "##range", width, kWords, kWords, chosen)) panel.whole = chosen == kWords[1];
}

analysis::MemoryGpu one_of(const std::vector<analysis::MemoryGpu>& gpus,
                           const std::optional<analysis::MemoryGpu>& asked) {
  for (const analysis::MemoryGpu& gpu : gpus)
    if (asked && gpu.same_place(*asked)) return gpu;
  const analysis::MemoryGpu* most = analysis::fullest(gpus);
  return most ? *most : analysis::MemoryGpu{};
}

}  // namespace

MemoryFacts::MemoryFacts(std::shared_ptr<const trace::Trace> of,
                         const std::optional<analysis::MemoryGpu>& asked)
    : trace(std::move(of)),
      gpus(analysis::memory_gpus(*trace)),
      gpu(one_of(gpus, asked)),
      history(*trace, gpu),
      at_peak(analysis::held_at_peak(*trace, gpu.device)),
      maps(*trace, gpu.device) {}

void draw_memory(const PanelContext& context, MemoryPanel& panel, const char* name,
                 const char* beside, bool* open) {
  PanelOptions options = chart_panel(
      beside, open, "at t = " + format_nanos(static_cast<double>(context.workspace.playhead.time)));
  const ImGuiWindow* window = ImGui::FindWindowByName(name);
  const bool roomy =
      has_choice(panel) && window && window->Size.x > 2.4F * range_width(context.theme);
  options.kept_free = roomy ? range_width(context.theme) : 0;
  if (begin_panel(context, name, options)) draw_body(context, panel);
  ImGui::EndChild();
  if (roomy) draw_range_choice(context.theme, panel);
  ImGui::End();
}

// ---- What fits ---------------------------------------------------------------------------------

namespace {

std::string exact(std::int64_t batch) {
  char out[32];
  format_step(static_cast<double>(batch), out, sizeof out, nullptr);
  return out;
}

std::string largest_words(const analysis::BatchFit& fit, std::int64_t batch) {
  if (batch < fit.most) return exact(batch);
  return (fit.all_samples ? "all " : "at least ") + exact(batch) +
         (fit.all_samples ? " samples" : "");
}

}  // namespace

std::vector<std::string> fit_words(const analysis::BatchFit& fit) {
  if (fit.largest == 0) return {"not even a batch of 1 fits"};
  const std::string largest = largest_words(fit, fit.largest);
  const std::string how = fit.checkpointed ? "without checkpointing" : "with checkpointing";
  if (fit.largest_other <= 0 || fit.largest_other == fit.largest)
    return {"largest batch that fits: " + largest, "largest " + largest};
  const std::string other = largest_words(fit, fit.largest_other);
  return {"largest batch that fits: " + largest + "; " + how + " " + other,
          "largest " + largest + "; " + how + " " + other, "largest " + largest};
}

}  // namespace trainscope::ui
