#include "ui/panels/gpus/sm_array.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "program/products.h"
#include "sim/block_cost.h"
#include "ui/app/views/exact_count.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/comparison/side_data.h"
#include "ui/panels/gpus/sm_blocks.h"
#include "ui/panels/gpus/tile_map.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

using analysis::PlacedKernel;
using SideFacts = SmArrayPanel::SideFacts;

constexpr const char* kPanelName = "sm-array";

// ---- Which kernel ------------------------------------------------------------------------------

bool has_block_work(const RunPointer& run) {
  return run && run->program && run->machine &&
         std::ranges::any_of(run->program->operations,
                             [](const auto& one) { return one.block_work.has_value(); });
}

RunPointer run_of_blocks(const Workspace& workspace, std::size_t side) {
  const RunPointer run = shown_run(workspace, side, kPanelName);
  return has_block_work(run) ? run : nullptr;
}

// The one selected, else the last that has begun at the playhead, else the first.
const PlacedKernel* kernel_shown(const PanelContext& context, const SideFacts& facts,
                                 std::size_t side) {
  if (facts.kernels.empty()) return nullptr;
  const SpanRef of_interest = span_of_interest(context.attention);
  if (of_interest.span != trace::kNone && static_cast<std::size_t>(of_interest.side) == side) {
    const auto found = std::ranges::find(facts.kernels, of_interest.span, &PlacedKernel::span);
    if (found != facts.kernels.end()) return &*found;
  }
  const Nanos time = playhead_of(context.workspace, side);
  const auto after = std::ranges::upper_bound(facts.kernels, time, {}, &PlacedKernel::time);
  return after == facts.kernels.begin() ? &facts.kernels.front() : &*std::prev(after);
}

SideFacts* facts_of(const PanelContext& context, SmArrayPanel& panel, std::size_t side) {
  const RunPointer run = run_of_blocks(context.workspace, side);
  if (!run) return nullptr;
  SideFacts& facts = panel.sides[side];
  if (facts.run != run) {
    facts = {};
    facts.run = run;
    facts.kernels = analysis::placed_kernels(*run);
  }
  const PlacedKernel* kernel = kernel_shown(context, facts, side);
  if (!kernel) return nullptr;
  if (facts.operation != kernel->operation) {
    facts.operation = kernel->operation;
    facts.sms = sim::run_alone(run->program->operations[kernel->operation], run->machine->gpu);
    facts.last = last_wave_rows(facts.sms);
    facts.place = {std::min(facts.place.sm, facts.sms.sms - 1), facts.sms.waves - 1};
  }
  return &facts;
}

const program::Operation& operation_of(const SideFacts& facts) {
  return facts.run->program->operations[facts.operation];
}

// ---- The rasters -------------------------------------------------------------------------------

using Shown = std::vector<std::pair<std::size_t, SideFacts*>>;

// A side's raster, and beside it one of its SMs.
struct SideRows {
  Box raster, blocks;   // the second is empty where there is no room for it
  RasterPlace place{};  // what is shown block by block: what is under the mouse, or was pressed
  WaveRange waves{};
};

float blocks_width(const Theme& theme, const Box& box) {
  const bool fits = box.width() >= theme.px(440) && box.height() >= theme.px(48);
  return fits ? std::floor(box.width() * 0.42F) : 0;
}

// By keys from one SM to the next.
void take_press(SideFacts& facts, const RasterUse& use) {
  if (use.under_mouse)
    facts.place = *use.under_mouse;
  else
    facts.place.sm = (facts.place.sm + 1) % facts.sms.sms;
}

SideRows rows_in(const Theme& theme, std::size_t side, SideFacts& facts, Nanos longest,
                 const Box& box) {
  const float wide = blocks_width(theme, box);
  const float apart = wide > 0 ? wide + theme.px(20) : 0;
  SideRows rows{{box.min, {box.max.x - apart, box.max.y}},
                {{box.max.x - wide, box.min.y}, box.max}};
  ImGui::PushID(static_cast<int>(side));
  const RasterUse use =
      use_raster(theme, "##raster", rows.raster, {facts.sms, facts.last, longest});
  ImGui::PopID();
  if (use.pressed) take_press(facts, use);
  rows.place = use.under_mouse.value_or(facts.place);
  const auto most = static_cast<std::int64_t>(wide / theme.px(44));
  rows.waves = waves_around(facts.sms, rows.place.wave, most);
  return rows;
}

// One scale for both, so that they can be compared; not where one would hardly be seen.
Nanos shown_time(const sim::SmRun& run, const WaveRange& waves, Nanos longest) {
  constexpr Nanos kLeastShare = 6;
  const Nanos length = length_of(run, waves);
  return length * kLeastShare < longest ? length : longest;
}

void title_rows(const PanelContext& context, std::size_t side, const SideFacts& facts,
                const SideRows& rows, float middle) {
  const Theme& theme = context.theme;
  const float left = draw_side_title(theme, context.workspace, side, {rows.raster.min.x, middle});
  const std::string words = operation_of(facts).kernel + ": " + wave_words(facts.sms);
  // Where there is little room, without what is said of the last wave.
  const std::vector<std::string> ways{words, words.substr(0, words.find(';'))};
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, left, middle,
                   theme.text, fitting(theme, theme.size.small, ways, rows.raster.max.x - left));
}

void draw_blocks(const Theme& theme, const sim::SmRun& run, const SideRows& rows, Nanos longest,
                 float middle) {
  const SmSlots slots = lay_out_slots(run, rows.place.sm, rows.waves,
                                      shown_time(run, rows.waves, longest), rows.blocks);
  draw_text_middle(
      ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, rows.blocks.min.x, middle,
      theme.muted,
      fitting(theme, theme.size.small, slot_words(theme, run, slots), rows.blocks.width()));
  paint_blocks(theme, rows.blocks, run, slots);
}

void draw_rows(const PanelContext& context, std::size_t side, const SideFacts& facts,
               const SideRows& rows, Nanos longest, Nanos longest_blocks) {
  const Theme& theme = context.theme;
  const float middle = rows.raster.min.y - theme.px(11);
  const bool has_blocks = rows.blocks.width() > 0;
  const sim::SmRun& run = facts.sms;
  title_rows(context, side, facts, rows, middle);
  std::optional<RasterMark> mark;
  if (has_blocks) {
    const Nanos start = run.wave(rows.waves.first).start;
    mark = RasterMark{rows.place.sm, start, start + length_of(run, rows.waves)};
  }
  paint_raster(theme, rows.raster, {run, facts.last, longest}, mark);
  ImGui::PushID(static_cast<int>(side));
  if (has_blocks) draw_blocks(theme, run, rows, longest_blocks, middle);
  ImGui::PopID();
}

void draw_rasters(const PanelContext& context, const Shown& shown, const Box& box) {
  const Theme& theme = context.theme;
  const float axis = theme.px(18), title = theme.px(22), gap = theme.px(8);
  Nanos longest = 1, longest_blocks = 1;
  for (const auto& [side, facts] : shown) longest = std::max(longest, facts->sms.kernel);
  const auto count = static_cast<float>(shown.size());
  const float tall = (box.height() - axis - gap * (count - 1)) / count;
  std::vector<SideRows> rows;
  for (const auto& [side, facts] : shown) {
    const float top = box.min.y + static_cast<float>(rows.size()) * (tall + gap);
    rows.push_back(
        rows_in(theme, side, *facts, longest, {{box.min.x, top + title}, {box.max.x, top + tall}}));
    longest_blocks = std::max(longest_blocks, length_of(facts->sms, rows.back().waves));
  }
  for (std::size_t i = 0; i < shown.size(); ++i)
    draw_rows(context, shown[i].first, *shown[i].second, rows[i], longest, longest_blocks);
  paint_raster_axis(theme, {{box.min.x, box.max.y - axis}, {rows.front().raster.max.x, box.max.y}},
                    longest);
}

// ---- The figures -------------------------------------------------------------------------------

struct Row {
  const char* name;
  std::vector<std::string> values;
  bool strong = false;
};

constexpr const char* kTailIdle = "SM time idle in the tail";

// SMs that get no block of the only wave are idle; a tail follows a wave.
bool any_single_wave(const Shown& shown) {
  return std::ranges::any_of(shown, [](const auto& one) { return one.second->sms.waves == 1; });
}

std::vector<Row> rows_of(const Shown& shown) {
  std::vector<Row> rows{{"threads per block", {}},
                        {"registers per thread", {}},
                        {"shared memory", {}},
                        {"blocks per SM", {}},
                        {"limited by", {}, true},
                        {"occupancy", {}},
                        {"waves", {}},
                        {"blocks in the last wave", {}},
                        {any_single_wave(shown) ? "SM time idle" : kTailIdle, {}}};
  for (const auto& [side, facts] : shown) {
    const machine::LaunchShape shape =
        sim::launch_shape(operation_of(*facts), facts->run->machine->gpu);
    const sim::SmRun& run = facts->sms;
    const std::string values[] = {
        std::to_string(shape.threads),
        std::to_string(shape.registers),
        format_bytes(static_cast<double>(shape.static_shared + shape.dynamic_shared)),
        std::to_string(run.occupancy.blocks_per_sm),
        limiter_words(run.occupancy),
        fmt::format("{:.1f} %", 100 * run.occupancy.theoretical),
        exact_count(static_cast<double>(run.waves)),
        last_wave_words(run),
        fmt::format("{:.1f} %", 100 * run.tail_idle)};
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].values.push_back(values[i]);
  }
  return rows;
}

float name_width(const Theme& theme) {
  return text_size(theme.font.text, theme.size.small, kTailIdle).x;
}

// With every value whole.
float figures_width(const Theme& theme, const Shown& shown) {
  float widest = 0;
  for (const Row& row : rows_of(shown))
    for (const std::string& value : row.values)
      widest = std::max(widest, row.strong ? text_size(theme.font.text, theme.size.small, value).x
                                           : text_size(theme.font.mono, theme.size.mono, value).x);
  return name_width(theme) + theme.px(10) +
         static_cast<float>(shown.size()) * (widest + theme.px(14));
}

void draw_figures(const PanelContext& context, const Shown& shown, const Box& box) {
  const Theme& theme = context.theme;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float size = theme.size.small,
              line = std::clamp(box.height() / 10.2F, theme.px(17), theme.px(27));
  const float column =
      (box.width() - name_width(theme) - theme.px(10)) / static_cast<float>(shown.size());
  float y = box.min.y + theme.px(11);
  draw_text_middle(draw, theme.font.strong, size, box.min.x, y, theme.text, "Occupancy");
  if (shown.size() > 1)
    for (std::size_t i = 0; i < shown.size(); ++i)
      draw_text_middle(draw, theme.font.strong, size,
                       box.max.x - column * static_cast<float>(shown.size() - 1 - i), y,
                       theme.muted, shown[i].first == 0 ? "A" : "B", 1);
  for (const Row& row : rows_of(shown)) {
    y += line;
    if (y + line / 2 > box.max.y + theme.px(4)) return;
    draw_text_middle(draw, theme.font.text, size, box.min.x, y, theme.muted, row.name);
    for (std::size_t i = 0; i < row.values.size(); ++i)
      draw_text_middle(draw, row.strong ? theme.font.text : theme.font.mono,
                       row.strong ? size : theme.size.mono,
                       box.max.x - column * static_cast<float>(row.values.size() - 1 - i), y,
                       row.strong ? theme.warn : theme.text,
                       shortened(theme.font.text, size, row.values[i], column - theme.px(6)), 1);
  }
}

// ---- The maps ----------------------------------------------------------------------------------

bool has_tiles(const Shown& shown) {
  return std::ranges::any_of(shown, [](const auto& one) {
    return program::tiles_of(operation_of(*one.second), one.second->run->machine->gpu).has_value();
  });
}

void draw_tiles(const PanelContext& context, const Shown& shown, const Box& box) {
  const Theme& theme = context.theme;
  const float title = theme.px(22), gap = theme.px(6), count = static_cast<float>(shown.size());
  const float tall = (box.height() - gap * (count - 1)) / count;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto& [side, facts] = shown[i];
    const auto map = tile_map_of(operation_of(*facts), facts->run->machine->gpu);
    if (!map) continue;
    const float top = box.min.y + static_cast<float>(i) * (tall + gap);
    const ImVec2 middle{box.min.x, top + title / 2};
    const float left = draw_side_title(theme, context.workspace, side, middle);
    draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, left, middle.y,
                     theme.text,
                     shortened(theme.font.text, theme.size.small, map->words(), box.max.x - left));
    paint_tile_map(theme, {{box.min.x, top + title}, {box.max.x, top + tall}}, *map);
  }
}

void draw_occupancies(const PanelContext& context, SmArrayPanel& panel, MapAxis axis,
                      const Shown& shown, const Box& box) {
  const machine::Gpu& gpu = shown.front().second->run->machine->gpu;
  std::vector<OccupancyMark> marks;
  for (const auto& [side, facts] : shown)  // another GPU has another map
    if (facts->run->machine->gpu.name == gpu.name)
      marks.push_back({side == 0 ? 'A' : 'B',
                       sim::launch_shape(operation_of(*facts), facts->run->machine->gpu)});
  panel.map.follow(gpu, axis, marks.front().shape);
  paint_occupancy_map(context.theme, "##map", box, panel.map, marks);
}

void draw_map(const PanelContext& context, SmArrayPanel& panel, const Shown& shown,
              const Box& box) {
  const Theme& theme = context.theme;
  std::vector<std::string> words = {"registers", "shared memory"};
  if (has_tiles(shown)) words.insert(words.begin(), "tiles");
  if (std::ranges::find(words, panel.map_shown) == words.end()) panel.map_shown = words.front();
  const float head = theme.px(32), width = std::min(theme.px(270), box.width());
  ImGui::SetCursorScreenPos(box.min);
  segments(theme, "##map shown", width, words, words, panel.map_shown);
  const Box below{{box.min.x, box.min.y + head}, box.max};
  if (panel.map_shown == "tiles") return draw_tiles(context, shown, below);
  draw_occupancies(context, panel,
                   panel.map_shown == words.back() ? MapAxis::kSharedMemory : MapAxis::kRegisters,
                   shown, below);
}

void draw_body(const PanelContext& context, SmArrayPanel& panel) {
  const Theme& theme = context.theme;
  Shown shown;
  for (std::size_t i = 0; i < context.workspace.sides().size(); ++i)
    if (SideFacts* facts = facts_of(context, panel, i)) shown.emplace_back(i, facts);
  const float gap = theme.px(28);
  Box room = padded_room(theme, theme.px(8), theme.px(8));
  if (room.width() < theme.px(160) || room.height() < theme.px(80)) return;
  if (shown.empty())
    return draw_text_middle(
        ImGui::GetWindowDrawList(), theme.font.text, theme.size.small, room.centre().x,
        room.centre().y, theme.muted,
        shortened(theme.font.text, theme.size.small,
                  "no kernel that is placed block by block has run", room.width()),
        0.5F);
  if (room.width() > theme.px(900)) {
    const float wide = std::clamp(room.width() * 0.27F, theme.px(260), theme.px(420));
    draw_map(context, panel, shown, {{room.max.x - wide, room.min.y}, room.max});
    room.max.x -= wide + gap;
  }
  if (room.width() > theme.px(520)) {
    const float most = std::max(theme.px(360), room.width() * 0.5F);
    const float least = std::max(room.width() * 0.34F, figures_width(theme, shown));
    const float wide = std::clamp(least, theme.px(220), std::min(most, room.width() * 0.6F));
    draw_figures(context, shown, {{room.max.x - wide, room.min.y}, room.max});
    room.max.x -= wide + gap;
  }
  draw_rasters(context, shown, room);
}

// Blocks are placed by the model's rules, also of a run that was measured.
std::string head_words(const Workspace& workspace) {
  for (std::size_t i = 0; i < workspace.sides().size(); ++i)
    if (const RunPointer run = run_of_blocks(workspace, i)) {
      const bool measured = trace::is_measured(*run->trace);
      return (measured ? "simulated, for " : "") + run->machine->gpu.name;
    }
  return "";
}

}  // namespace

bool has_sm_array(const Workspace& workspace) {
  for (std::size_t i = 0; i < workspace.sides().size(); ++i)
    if (run_of_blocks(workspace, i)) return true;
  return false;
}

void draw_sm_array(const PanelContext& context, SmArrayPanel& panel, const char* name,
                   const char* beside, bool* open) {
  const PanelOptions options = chart_panel(beside, open, head_words(context.workspace));
  if (begin_panel(context, name, options)) draw_body(context, panel);
  end_panel();
}

}  // namespace trainscope::ui
