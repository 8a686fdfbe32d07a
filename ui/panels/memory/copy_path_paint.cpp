#include "ui/panels/memory/copy_path_paint.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace trainscope::ui {
namespace {

using analysis::PathChunk;
using analysis::PathLink;
using analysis::Rest;
using analysis::Way;
using trace::Category;

void dashed_box(const Theme& theme, const Box& box) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const Color color = mixed(theme.panel, theme.faint, 0.55F);
  const ImVec2 corners[] = {box.min, {box.max.x, box.min.y}, box.max, {box.min.x, box.max.y}};
  for (int i = 0; i < 4; ++i)
    draw_dashed_line(draw, corners[i], corners[(i + 1) % 4], color, theme.size.border, theme.px(5),
                     theme.px(4));
}

void card(const Theme& theme, const Box& box) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(box.min, box.max, theme.card, theme.px(4));
  draw->AddRect(box.min, box.max, theme.line, theme.px(4), 0, theme.size.border);
}

// Title to the left, figure to the right. A title that has no room is said in brief.
void head_line(const Theme& theme, const Box& box, float middle, const PlaceBox& place) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float pad = theme.px(8), size = theme.size.label;
  float right = box.max.x - pad;
  if (!place.figure.empty()) {
    draw_text_middle(draw, theme.font.mono, size, right, middle, theme.text, place.figure, 1);
    right -= text_size(theme.font.mono, size, place.figure).x + theme.px(8);
  }
  const float left = box.min.x + pad, room = right - left;
  const bool whole = text_size(theme.font.text, size, place.title).x <= room;
  const std::string& title = whole || place.brief.empty() ? place.title : place.brief;
  draw_text_middle(draw, theme.font.text, size, left, middle, theme.muted,
                   shortened(theme.font.text, size, title, room));
}

// Where the parts of a box stand: two lines of text where there is room, the bar below.
struct Parts {
  float first = 0, second = 0;  // middles of the lines; second 0: no room
  Box bar;
};

Parts parts_of(const Theme& theme, const Box& box) {
  Parts parts;
  const float line = theme.px(17), pad = theme.px(8);
  parts.first = box.min.y + theme.px(4) + line / 2;
  float top = parts.first + line / 2 + theme.px(2);
  if (box.height() >= theme.px(52)) {
    parts.second = parts.first + line;
    top += line;
  }
  parts.bar = {{box.min.x + pad, top}, {box.max.x - pad, box.max.y - theme.px(6)}};
  const float most = theme.px(26);
  if (parts.bar.height() > most) parts.bar.min.y = parts.bar.max.y - most;
  return parts;
}

void second_line(const Theme& theme, const Box& box, float middle, const PlaceBox& place) {
  if (middle <= 0 || place.words.empty()) return;
  const float pad = theme.px(8), size = theme.size.label;
  const bool fits = text_size(theme.font.text, size, place.words).x <= box.width() - 2 * pad;
  const std::string& words = fits || place.fewer_words.empty() ? place.words : place.fewer_words;
  draw_text_middle(ImGui::GetWindowDrawList(), theme.font.text, size, box.min.x + pad, middle,
                   theme.text, shortened(theme.font.text, size, words, box.width() - 2 * pad));
}

void trough(const Theme& theme, const Box& bar) {
  ImGui::GetWindowDrawList()->AddRectFilled(bar.min, bar.max, mixed(theme.panel, theme.text, 0.07F),
                                            theme.px(3));
}

void unused(const Theme& theme, const Box& box, const PlaceBox& place) {
  dashed_box(theme, box);
  const float size = theme.size.label, room = box.width() - theme.px(12);
  const bool two = box.height() >= theme.px(36);
  const float middle = box.centre().y, half = two ? size * 0.7F : 0;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw_text_middle(draw, theme.font.text, size, box.centre().x, middle - half, theme.muted,
                   shortened(theme.font.text, size, place.title, room), 0.5F);
  if (two)
    draw_text_middle(draw, theme.font.text, size, box.centre().x, middle + half, theme.faint,
                     shortened(theme.font.text, size, place.words, room), 0.5F);
}

}  // namespace

void paint_place(const Theme& theme, const Box& box, const PlaceBox& place) {
  if (!place.used) return unused(theme, box, place);
  card(theme, box);
  const Parts parts = parts_of(theme, box);
  head_line(theme, box, parts.first, place);
  second_line(theme, box, parts.second, place);
  trough(theme, parts.bar);
  const float level = std::clamp(place.level, 0.0F, 1.0F);
  if (level <= 0) return;
  const float right = parts.bar.min.x + std::max(parts.bar.width() * level, theme.px(2));
  ImGui::GetWindowDrawList()->AddRectFilled(parts.bar.min, {right, parts.bar.max.y}, place.fill,
                                            theme.px(3));
}

void paint_buffers(const Theme& theme, const Box& box, const PlaceBox& place,
                   const std::vector<PathChunk>& chunks, int buffers) {
  if (!place.used) return unused(theme, box, place);
  card(theme, box);
  const Parts parts = parts_of(theme, box);
  head_line(theme, box, parts.first, place);
  second_line(theme, box, parts.second, place);
  const auto count = static_cast<std::uint32_t>(std::max(buffers, 1));
  const float gap = theme.px(4);
  const float width = (parts.bar.width() + gap) / static_cast<float>(count) - gap;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto slot = [&](std::uint32_t index) {
    const float left = parts.bar.min.x + static_cast<float>(index) * (width + gap);
    return Box{{left, parts.bar.min.y}, {left + width, parts.bar.max.y}};
  };
  for (std::uint32_t i = 0; i < count; ++i) trough(theme, slot(i));
  for (const PathChunk& chunk : chunks) {
    const Box place_of = slot(chunk.number % count);
    const auto at = [&](std::int64_t bytes) {
      return place_of.min.x + width * static_cast<float>(bytes) /
                                  static_cast<float>(std::max<std::int64_t>(chunk.bytes, 1));
    };
    // What has gone on already leaves its outline.
    draw->AddRect(place_of.min, {std::max(at(chunk.written), place_of.min.x + 2), place_of.max.y},
                  theme.of(Category::kStaging).fill, theme.px(3), 0, theme.px(1));
    if (chunk.written > chunk.read)
      draw->AddRectFilled({at(chunk.read), place_of.min.y}, {at(chunk.written), place_of.max.y},
                          theme.of(Category::kStaging).fill, theme.px(3));
    const std::string number = std::to_string(chunk.number + 1);
    const float middle = place_of.centre().x;
    // Upon the bytes or beside them, never across their edge.
    const float half = theme.px(8);
    const bool covered = at(chunk.read) < middle - half && at(chunk.written) > middle + half;
    const bool clear = at(chunk.read) > middle + half || at(chunk.written) < middle - half;
    if (place_of.height() >= theme.px(13) && width > theme.px(20) && (covered || clear))
      draw_text_middle(draw, theme.font.text, theme.size.label, middle, place_of.centre().y,
                       covered ? theme.of(Category::kStaging).text : theme.muted, number, 0.5F);
  }
}

namespace {

// Bytes as segments that cross the track once a transfer; empty and hatched while it rests.
void paint_track(const Theme& theme, const Box& track, const PathLink& link, Way way,
                 bool reversed) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  trough(theme, track);
  const Color color =
      theme.of(way == Way::kToDevice ? Category::kCopyH2D : Category::kCopyD2H).fill;
  if (link.rest == Rest::kBusy && link.bytes > 0) {
    const float share = static_cast<float>(link.moved) / static_cast<float>(link.bytes);
    const float length = theme.px(15), pitch = theme.px(21);
    const float offset = std::fmod(share * track.width(), pitch);
    draw->PushClipRect(track.min, track.max, true);
    for (float x = offset - pitch; x < track.width(); x += pitch) {
      const float left = reversed ? track.max.x - x - length : track.min.x + x;
      draw->AddRectFilled({left, track.min.y}, {left + length, track.max.y}, color, theme.px(3));
    }
    draw->PopClipRect();
  } else if (link.rest != Rest::kDone && link.rest != Rest::kUnused) {
    draw_hatch(draw, track, theme.idle_line, theme.px(7), theme.px(1), track.min.x);
  }
}

std::string link_words(const PathLink& link) {
  if (link.rest != Rest::kBusy) return std::string(name_of(link.rest));
  return link.moves + ", " + format_bytes(static_cast<double>(link.moved)) + " of " +
         format_bytes(static_cast<double>(link.bytes));
}

void paint_link(const Theme& theme, const Box& box, const PathLink& link, Way way) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float size = theme.size.label, line = theme.px(17);
  const bool busy = link.rest == Rest::kBusy;
  const std::string title = way == Way::kToDevice ? "PCIe to the device" : "PCIe to the host";
  const std::string rate = busy ? format_rate(link.rate) : "";
  const float first = box.min.y + theme.px(4) + line / 2;
  const bool two = box.height() >= theme.px(52);
  float right = box.max.x;
  draw_text_middle(draw, theme.font.mono, size, right, first, theme.text, rate, 1);
  if (!rate.empty()) right -= text_size(theme.font.mono, size, rate).x + theme.px(8);
  const Color quiet = busy ? theme.text : theme.muted;
  const std::string words = two ? title : link_words(link);
  draw_text_middle(draw, theme.font.text, size, box.min.x, first, two ? theme.muted : quiet,
                   shortened(theme.font.text, size, words, right - box.min.x));
  float top = first + line / 2 + theme.px(2);
  if (two) {
    draw_text_middle(draw, theme.font.text, size, box.min.x, first + line, quiet,
                     shortened(theme.font.text, size, link_words(link), box.width()));
    top += line;
  }
  const float bottom = box.max.y - theme.px(6);
  const float thick = std::min(bottom - top, theme.px(16));
  if (thick < theme.px(3)) return;
  paint_track(theme, {{box.min.x, bottom - thick}, {box.max.x, bottom}}, link, way,
              way == Way::kToHost);
}

}  // namespace

void paint_links(const Theme& theme, const Box& box, const analysis::PathState& state, bool both) {
  const PathLink &out = state.link(Way::kToDevice), &back = state.link(Way::kToHost);
  if (!both) {
    const Way way = back.used && !out.used ? Way::kToHost : Way::kToDevice;
    return paint_link(theme, box, state.link(way), way);
  }
  const float gap = theme.px(2), half = (box.height() - gap) / 2;
  paint_link(theme, {box.min, {box.max.x, box.min.y + half}}, out, Way::kToDevice);
  paint_link(theme, {{box.min.x, box.max.y - half}, box.max}, back, Way::kToHost);
}

void paint_thread(const Theme& theme, const Box& box, const analysis::PathThread& thread) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float size = theme.size.label, middle = box.centre().y, pad = theme.px(8);
  std::string words = thread.doing.empty() ? "not held" : thread.doing;
  if (!thread.because.empty()) words += ", " + thread.because;
  const CategoryStyle& style = theme.of(thread.held            ? Category::kHeld
                                        : thread.doing.empty() ? Category::kHostApi
                                                               : Category::kStaging);
  const std::string shown_name = shortened(theme.font.text, size, thread.name, box.width() * 0.4F);
  const float name = text_size(theme.font.text, size, shown_name).x + theme.px(12);
  draw_text_middle(draw, theme.font.text, size, box.min.x, middle, theme.muted, shown_name);
  const Box bar{{box.min.x + name, box.min.y}, box.max};
  if (bar.width() < theme.px(30)) return;
  if (thread.doing.empty()) {
    trough(theme, bar);
  } else {
    draw_bar(draw, theme, bar, style);
  }
  const std::string shown = shortened(theme.font.text, size, words, bar.width() - 2 * pad);
  if (thread.held)  // so that the hatch does not cross the letters
    draw->AddRectFilled({bar.min.x + pad - theme.px(4), middle - size * 0.66F},
                        {bar.min.x + pad + text_size(theme.font.text, size, shown).x + theme.px(4),
                         middle + size * 0.66F},
                        style.fill, theme.px(2));
  draw_text_middle(draw, theme.font.text, size, bar.min.x + pad, middle,
                   thread.doing.empty() ? theme.muted : style.text, shown);
}

void paint_step(const Theme& theme, ImVec2 from, ImVec2 to, bool forth, bool back) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
  if (length < theme.px(6)) return;
  const float ux = dx / length, uy = dy / length, head = theme.px(4.5F);
  draw->AddLine(from, to, theme.faint, theme.px(1.3F));
  const auto arrow = [&](ImVec2 tip, float way) {
    const ImVec2 root{tip.x - way * ux * head * 1.5F, tip.y - way * uy * head * 1.5F};
    draw->AddTriangleFilled(tip, {root.x - uy * head, root.y + ux * head},
                            {root.x + uy * head, root.y - ux * head}, theme.faint);
  };
  if (forth) arrow(to, 1);
  if (back) arrow(from, -1);
}

}  // namespace trainscope::ui
