// The notes on lanes: a range's edges, a flag with its text, the whole of it beside the mouse.
#include <algorithm>

#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

void paint_flag(const Canvas& canvas, const SideView& view, const NoteFlag& flag) {
  const Theme& theme = *canvas.theme;
  const LaneNote& note = view.side->notes[flag.note];
  const float top = view.top + flag.lane_top, bottom = view.top + flag.lane_bottom;
  const float from = canvas.lanes.min.x + flag.from, to = canvas.lanes.min.x + flag.to;
  const bool strong = note.selected || note.open;
  canvas.draw->AddRectFilled({from, top}, {to, bottom}, faded(theme.accent, strong ? 0.2F : 0.08F));
  for (const float x : {from, to})
    canvas.draw->AddLine({x, top}, {x, bottom}, theme.accent, theme.px(strong ? 2 : 1));
  canvas.draw->AddLine({from, bottom - 1}, {to, bottom - 1}, theme.accent, theme.px(2));
  if (note.open) return;
  const Box box = flag_box(canvas, view, flag);
  canvas.draw->AddRectFilled(box.min, box.max, strong ? theme.accent : theme.panel, theme.px(3));
  canvas.draw->AddRect(box.min, box.max, theme.accent, theme.px(3), theme.px(1));
  const float size = std::min(theme.size.label, box.height() - 1);
  draw_text_middle(canvas.draw, theme.font.text, size, box.min.x + theme.px(5), box.centre().y,
                   strong ? theme.accent_text : theme.text, flag.shown);
}

void paint_flags(const Canvas& canvas, const SideView& view, bool pinned, float top, float bottom) {
  if (bottom <= top) return;
  canvas.draw->PushClipRect({canvas.lanes.min.x - 1, top}, {canvas.lanes.max.x + 1, bottom}, true);
  for (const NoteFlag& flag : view.flags)
    if (flag.pinned == pinned) paint_flag(canvas, view, flag);
  canvas.draw->PopClipRect();
}

}  // namespace

Box flag_box(const Canvas& canvas, const SideView& view, const NoteFlag& flag) {
  const float left = canvas.lanes.min.x + flag.x, top = view.top + flag.y;
  return {{left, top}, {left + flag.width, top + flag.height}};
}

FlagSizes flag_sizes(const Theme& theme) {
  FlagSizes sizes;
  sizes.height = theme.size.label + theme.px(4);
  sizes.pad = theme.px(5);
  sizes.least = theme.px(10);
  sizes.gap = theme.px(2);
  sizes.text_width = [&theme](std::string_view words) {
    return text_size(theme.font.text, theme.size.label, words).x;
  };
  sizes.cut = [&theme](std::string_view words, float room) {
    return shortened(theme.font.text, theme.size.label, words, std::min(room, theme.px(260)));
  };
  return sizes;
}

void paint_notes(const Canvas& canvas, const SideView& view) {
  paint_flags(canvas, view, false, view.scrolled_top(), view.window_end);
  paint_flags(canvas, view, true, view.window, std::min(view.scrolled_top(), view.window_end));
}

std::optional<Box> open_note(const Canvas& canvas) {
  for (const SideView& view : canvas.sides)
    for (const NoteFlag& flag : view.flags)
      if (view.side->notes[flag.note].open) return flag_box(canvas, view, flag);
  return std::nullopt;
}

void note_card(const Theme& theme, const TimelineSide& side, const LaneNote& note) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(12), theme.px(10)));
  if (ImGui::BeginTooltip()) {
    ImGui::PushTextWrapPos(theme.px(440));
    text(theme.font.text, theme.size.text, theme.text, note.text, true);
    ImGui::PopTextWrapPos();
    text(theme.font.text, theme.size.small, theme.muted, note_place_words(*side.trace, note));
    ImGui::EndTooltip();
  }
  ImGui::PopStyleVar();
}

}  // namespace trainscope::ui
