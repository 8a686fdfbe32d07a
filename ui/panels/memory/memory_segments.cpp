#include "ui/panels/memory/memory_segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "ui/panels/charts/chart.h"
#include "ui/panels/memory/memory_chart.h"

namespace trainscope::ui {
namespace {

using analysis::BlockState;
using analysis::MemoryBlock;
using analysis::MemorySegment;

std::string bytes_words(std::int64_t bytes) {
  return format_bytes(static_cast<double>(bytes));
}

struct Piece {
  Box box;
  const MemorySegment* segment;
  const MemoryBlock* block;
};

// Bytes from left to right, row after row.
class Flow {
 public:
  Flow(const Box& room, std::size_t rows, double bytes, float gap)
      : room_(room),
        gap_(gap),
        height_(room.height() / static_cast<float>(rows)),
        per_byte_(static_cast<double>(room.width()) * static_cast<double>(rows) / bytes) {}

  float pixels(double bytes) const { return static_cast<float>(bytes * per_byte_); }

  // The boxes of the next so many bytes; two or more where they go over a row's end.
  template <typename Draw>
  void take(double bytes, const Draw& draw) {
    const double width = room_.width();
    double rest = bytes * per_byte_;
    while (rest > 1e-6) {
      const double part = std::min(rest, width - x_);
      const float top = room_.min.y + static_cast<float>(row_) * height_;
      draw(Box{{room_.min.x + static_cast<float>(x_), top},
               {room_.min.x + static_cast<float>(x_ + part), top + height_ - gap_}});
      rest -= part;
      x_ += part;
      if (x_ < width - 1e-6) continue;
      x_ = 0;
      ++row_;
    }
  }

 private:
  Box room_;
  float gap_, height_;
  double per_byte_;
  double x_ = 0;
  std::size_t row_ = 0;
};

void paint_block(const Theme& theme, const trace::Trace& trace, const Piece& piece) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const MemoryBlock& block = *piece.block;
  Box box = piece.box;
  if (box.width() > theme.px(3)) box.max.x -= 1;
  if (block.state == BlockState::kFree) {
    draw->AddRectFilled(box.min, box.max, faded(theme.text, 0.05F));
    draw_hatch(draw, box, theme.grid(2.2F), theme.px(6), theme.px(1));
    return;
  }
  const CategoryStyle& style =
      role_style(theme, block.role == trace::kNone ? "" : trace.name(block.role));
  draw->AddRectFilled(box.min, box.max, style.fill);
  if (block.state == BlockState::kWaiting)
    draw_hatch(draw, box, theme.panel, theme.px(5), theme.px(1.5F));
  if (block.owner == trace::kNone || box.height() < theme.size.label) return;
  const std::string& name = trace.name(block.owner);
  if (text_size(theme.font.text, theme.size.label, name).x + theme.px(8) < box.width())
    draw_text_middle(draw, theme.font.text, theme.size.label, box.min.x + theme.px(4),
                     box.centre().y, style.text, name);
}

void piece_card(const Theme& theme, const trace::Trace& trace, const Piece& piece) {
  const MemoryBlock& block = *piece.block;
  const bool free = block.state == BlockState::kFree;
  std::string title = free ? "free" : "";
  if (!free) title = block.owner == trace::kNone ? "a tensor" : trace.name(block.owner);
  CardRows rows = {{"bytes", bytes_words(block.bytes)}};
  if (!free && block.requested != block.bytes)
    rows.emplace_back("asked for", bytes_words(block.requested));
  if (!free && block.role != trace::kNone) rows.emplace_back("role", trace.name(block.role));
  if (block.state == BlockState::kWaiting)
    rows.emplace_back("state", "freed, a stream still uses it");
  rows.emplace_back(
      "segment", fmt::format("{}, {}", piece.segment->number, bytes_words(piece.segment->bytes)));
  chart_card(theme, title, rows);
}

}  // namespace

float segment_gap(const Theme& theme, float before, float after) {
  constexpr float kShare = 0.25F, kLeast = 1;  // of the narrower one; pixels that can be seen
  const float gap = std::min(theme.px(4), kShare * std::min(before, after));
  return gap < kLeast ? 0 : gap;
}

void paint_segments(const Theme& theme, const char* id, const Box& box, const trace::Trace& trace,
                    const std::vector<MemorySegment>& segments) {
  double bytes = 0;
  for (const MemorySegment& segment : segments) bytes += static_cast<double>(segment.bytes);
  if (bytes <= 0 || box.width() < 20 || box.height() < theme.px(12)) return;
  const auto rows = static_cast<std::size_t>(std::max(1.0F, box.height() / theme.px(24)));
  Flow flow(box, rows, bytes, theme.px(3));
  ImDrawList* draw = ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(box.min);
  ImGui::InvisibleButton(id, {box.width(), box.height()});
  const bool hovered = ImGui::IsItemHovered();
  const ImVec2 mouse = ImGui::GetMousePos();
  Piece lit{};
  bool any = false;
  float before = 0;
  for (const MemorySegment& segment : segments) {
    bool first = true;
    const float wide = flow.pixels(static_cast<double>(segment.bytes));
    const float gap = segment_gap(theme, std::exchange(before, wide), wide);
    for (const MemoryBlock& block : segment.blocks)
      flow.take(static_cast<double>(block.bytes), [&](const Box& part) {
        const Piece piece{part, &segment, &block};
        paint_block(theme, trace, piece);
        // Where a segment begins.
        if (std::exchange(first, false) && gap > 0 && part.min.x > box.min.x + 1)
          draw->AddLine({part.min.x, part.min.y}, {part.min.x, part.max.y}, theme.panel, gap);
        if (hovered && mouse.x >= part.min.x && mouse.x < part.max.x && mouse.y >= part.min.y &&
            mouse.y < part.max.y)
          lit = piece, any = true;
      });
  }
  if (!any) return;
  draw->AddRect(lit.box.min, lit.box.max, theme.accent, 0, theme.px(2));
  piece_card(theme, trace, lit);
}

}  // namespace trainscope::ui
