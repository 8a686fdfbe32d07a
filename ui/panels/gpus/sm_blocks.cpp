#include "ui/panels/gpus/sm_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "ui/app/views/wave_rows.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/gpus/occupancy_map.h"
#include "ui/panels/gpus/sm_raster.h"

namespace trainscope::ui {
namespace {

void paint_block(const Theme& theme, const SlotBox& one) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(one.box.min, one.box.max, wave_color(theme, one.block.wave));
  const std::string words = std::to_string(one.block.block);
  const float size = theme.size.label;
  const ImVec2 room = text_size(theme.font.mono, size, words);
  if (room.x + theme.px(6) > one.box.width() || size > one.box.height()) return;
  draw_text_middle(draw, theme.font.mono, size, one.box.centre().x, one.box.centre().y,
                   wave_text(theme, one.block.wave), words, 0.5F);
}

void paint_unused(const Theme& theme, const Box& box) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw_hatch(draw, box, theme.idle_line, theme.px(7), theme.px(1), box.min.x);
  if (box.height() > theme.px(3)) draw->AddRect(box.min, box.max, faded(theme.faint, 0.8F));
}

// On a ground of its own, where there is room for one of them; the first that has it.
void name_slots(const Theme& theme, const Box& box, Color color,
                const std::vector<std::string>& ways) {
  const float size = theme.size.small, pad = theme.px(4);
  for (const std::string& words : ways) {
    const ImVec2 room = text_size(theme.font.text, size, words);
    if (room.x + 4 * pad > box.width() || size > box.height()) continue;
    const ImVec2 middle = box.centre();
    const float wide = room.x / 2 + pad, tall = std::min(size * 0.7F, box.height() / 2);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled({middle.x - wide, middle.y - tall}, {middle.x + wide, middle.y + tall},
                        theme.panel, theme.px(3));
    return draw_text_middle(draw, theme.font.text, size, middle.x, middle.y, color, words, 0.5F);
  }
}

void explain_block(const Theme& theme, const sim::SmRun& run, const sim::BlockBar& block) {
  const auto time = [](Nanos at) { return format_nanos(static_cast<double>(at)); };
  chart_card(theme, fmt::format("block {}", block.block),
             {{"slot", fmt::format("{} of SM {}'s {}", block.slot, block.sm, slots_held(run))},
              {"wave", fmt::format("{} of {}", block.wave + 1, run.waves)},
              {"starts", time(block.start)},
              {"ends", time(block.end)},
              {"takes", time(block.end - block.start)}});
}

void explain(const Theme& theme, const sim::SmRun& run, const SlotBox& one) {
  switch (one.kind) {
    case SlotKind::kBlock:
      return explain_block(theme, run, one.block);
    case SlotKind::kEmpty:
    case SlotKind::kIdle:
    case SlotKind::kUnused: {
      const FreeSlot free = free_slot(run, one.kind);
      return chart_card(theme, free.title, free.rows);
    }
  }
}

void paint_slot(const Theme& theme, const SlotBox& one) {
  switch (one.kind) {
    case SlotKind::kBlock:
      return paint_block(theme, one);
    case SlotKind::kEmpty:
      draw_no_block(theme, one.box);
      return name_slots(theme, one.box, theme.muted, {"free: no block left", "free"});
    case SlotKind::kIdle:
      draw_tail(theme, one.box);
      return name_slots(theme, one.box, theme.bad, {"idle: tail", "idle"});
    case SlotKind::kUnused:
      return paint_unused(theme, one.box);
  }
}

}  // namespace

FreeSlot free_slot(const sim::SmRun& run, SlotKind kind) {
  const machine::Occupancy& occupancy = run.occupancy;
  if (kind == SlotKind::kUnused)
    return {
        "free slot: the SM holds no more blocks",
        {{"limited by", limiter_words(occupancy)},
         {"blocks that fit", std::to_string(occupancy.blocks_per_sm)},
         {"their warps", fmt::format("{} of {}", occupancy.warps_per_sm, occupancy.most_warps)}}};
  const std::string last = last_wave_words(run);
  if (kind == SlotKind::kEmpty)
    return {"free slot: the grid has no block left for it", {{"blocks in the last wave", last}}};
  return {"idle: waits for the last blocks of other SMs", {{"blocks in the last wave", last}}};
}

std::vector<std::string> slot_words(const Theme& theme, const sim::SmRun& run,
                                    const SmSlots& slots) {
  const auto length = [&](std::int64_t wave) { return length_of(run, {wave, 1}); };
  const std::int64_t first = slots.waves.first, last = first + slots.waves.count - 1;
  const std::string sm = fmt::format("SM {}", slots.sm);
  const std::string waves = first == last
                                ? fmt::format("{}: wave {}", sm, first + 1)
                                : fmt::format("{}: waves {} to {}", sm, first + 1, last + 1);
  std::vector<std::string> ways{waves, sm};
  if (length(first) == length(last)) {
    const std::string time = format_nanos(static_cast<double>(length(first)));
    ways.insert(ways.begin(), waves + ", " + time + (first == last ? "" : " each"));
  }
  const float tall = slots.unused.height();
  if (tall > 0 && tall < theme.size.small) {
    const std::string hatched = "; hatched: free, " + limiter_words(run.occupancy);
    for (const std::string& way : std::vector(ways)) ways.insert(ways.begin(), way + hatched);
    std::ranges::stable_sort(ways, std::ranges::greater{}, &std::string::size);
  }
  return ways;
}

void paint_blocks(const Theme& theme, const Box& box, const sim::SmRun& run, const SmSlots& slots) {
  ImGui::GetWindowDrawList()->PushClipRect(box.min, box.max, true);
  for (const SlotBox& one : slots.boxes) paint_slot(theme, one);
  if (slots.unused.height() > 0)
    name_slots(theme, slots.unused, theme.warn,
               {"free slots, limited by " + limiter_words(run.occupancy),
                "free: " + limiter_words(run.occupancy), "free"});
  ImGui::GetWindowDrawList()->PopClipRect();
  ImGui::SetCursorScreenPos(box.min);
  ImGui::InvisibleButton(fmt::format("##blocks of SM {}", slots.sm).c_str(),
                         {box.width(), box.height()});
  if (!ImGui::IsItemHovered()) return;
  if (const SlotBox* one = slot_at(slots, ImGui::GetIO().MousePos)) explain(theme, run, *one);
}

}  // namespace trainscope::ui
