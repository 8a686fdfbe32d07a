// Finds letters that are drawn but cut: what a person sees as half a word at a panel's edge.
//
// It reads the finished frame's triangles, so nothing that draws text can be forgotten. A letter is
// a quad with an extent in the font's texture; it is cut when its clip rectangle goes through it
// from top to bottom. (Lines that scroll out of sight above and below are cut across: that is what
// a scroll bar is for.)
#pragma once

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <string>
#include <vector>

namespace trainscope::ui {

struct CutLetter {
  std::string window;  // the draw list's owner
  ImVec2 min, max;
  float clip_left = 0, clip_right = 0;
};

namespace cut_text_detail {

struct Quad {
  ImVec2 min, max;
  bool is_letter = false;
};

// The quad of six indices, or nothing of a letter.
inline Quad quad_of(const ImDrawList& list, const ImDrawCmd& command, unsigned at) {
  const ImDrawIdx* index = list.IdxBuffer.Data + command.IdxOffset + at;
  const ImDrawVert* vertex = list.VtxBuffer.Data + command.VtxOffset;
  const bool square = index[1] == index[0] + 1 && index[2] == index[0] + 2 &&
                      index[3] == index[0] && index[4] == index[2] && index[5] == index[0] + 3;
  if (!square) return {};
  const ImDrawVert &a = vertex[index[0]], &c = vertex[index[2]];
  return {a.pos, c.pos, a.uv.x != c.uv.x && a.uv.y != c.uv.y && (a.col >> 24) > 0};
}

// Drawn with the ellipsis' place in the texture, in any face and size that was used.
inline bool is_ellipsis(const ImDrawList& list, const ImDrawCmd& command, unsigned at) {
  if (!quad_of(list, command, at).is_letter) return false;
  const ImDrawIdx* index = list.IdxBuffer.Data + command.IdxOffset + at;
  const ImDrawVert& first = list.VtxBuffer.Data[command.VtxOffset + index[0]];
  auto& pool = ImGui::GetIO().Fonts->Builder->BakedPool;
  for (int i = 0; i < pool.Size; ++i) {
    if (!pool[i].IsGlyphLoaded(0x2026)) continue;
    const ImFontGlyph* glyph = pool[i].FindGlyphNoFallback(0x2026);
    if (glyph && glyph->U0 == first.uv.x && glyph->V0 == first.uv.y) return true;
  }
  return false;
}

}  // namespace cut_text_detail

inline std::vector<CutLetter> cut_text(const ImDrawData& data) {
  constexpr float kTolerance = 1.5F;  // letters have a rim of faint pixels
  std::vector<CutLetter> cut;
  for (const ImDrawList* list : data.CmdLists) {
    for (const ImDrawCmd& command : list->CmdBuffer) {
      const ImVec4& clip = command.ClipRect;
      for (unsigned at = 0; at + 6 <= command.ElemCount; at += 3) {
        const auto quad = cut_text_detail::quad_of(*list, command, at);
        if (!quad.is_letter) continue;
        const float middle = (quad.min.y + quad.max.y) / 2;
        if (middle < clip.y || middle > clip.w) continue;
        const bool right = quad.min.x < clip.z && quad.max.x > clip.z + kTolerance;
        const bool left = quad.max.x > clip.x && quad.min.x < clip.x - kTolerance;
        if (left || right)
          cut.push_back(
              {list->_OwnerName ? list->_OwnerName : "", quad.min, quad.max, clip.x, clip.z});
      }
    }
  }
  return cut;
}

// How many words were shortened to fit: their last letter is an ellipsis.
inline std::size_t ellipses(const ImDrawData& data) {
  std::size_t found = 0;
  for (const ImDrawList* list : data.CmdLists)
    for (const ImDrawCmd& command : list->CmdBuffer)
      for (unsigned at = 0; at + 6 <= command.ElemCount; at += 3)
        if (cut_text_detail::is_ellipsis(*list, command, at)) ++found;
  return found;
}

// Two texts of one window, one on top of the other.
struct TextOverlap {
  std::string window;
  ImVec2 first, second;  // where each begins
  float width = 0;       // of what both cover
};

namespace cut_text_detail {

// Letters that follow one another on a line.
struct TextRun {
  ImVec2 min, max;
};

inline bool goes_on(const TextRun& run, const Quad& letter) {
  const float height = std::max(run.max.y - run.min.y, letter.max.y - letter.min.y);
  return letter.min.y < run.max.y && letter.max.y > run.min.y && letter.min.x > run.max.x - 2 &&
         letter.min.x < run.max.x + height;
}

inline std::vector<TextRun> runs_of(const ImDrawList& list) {
  std::vector<TextRun> runs;
  for (const ImDrawCmd& command : list.CmdBuffer) {
    const ImVec4& clip = command.ClipRect;
    bool open = false;
    for (unsigned at = 0; at + 6 <= command.ElemCount; at += 3) {
      const Quad quad = quad_of(list, command, at);
      if (!quad.is_letter || quad.max.x < clip.x || quad.min.x > clip.z || quad.max.y < clip.y ||
          quad.min.y > clip.w)
        continue;
      if (open && goes_on(runs.back(), quad)) {
        TextRun& run = runs.back();
        run.min.y = std::min(run.min.y, quad.min.y);
        run.max = {quad.max.x, std::max(run.max.y, quad.max.y)};
      } else {
        runs.push_back({quad.min, quad.max});
        open = true;
      }
    }
  }
  return runs;
}

}  // namespace cut_text_detail

inline std::vector<TextOverlap> overlapping_text(const ImDrawData& data) {
  constexpr float kWidth = 3, kHeight = 3;  // rims may touch
  std::vector<TextOverlap> found;
  for (const ImDrawList* list : data.CmdLists) {
    const auto runs = cut_text_detail::runs_of(*list);
    for (std::size_t i = 0; i < runs.size(); ++i)
      for (std::size_t j = i + 1; j < runs.size(); ++j) {
        const auto &a = runs[i], &b = runs[j];
        const float width = std::min(a.max.x, b.max.x) - std::max(a.min.x, b.min.x);
        const float height = std::min(a.max.y, b.max.y) - std::max(a.min.y, b.min.y);
        if (width > kWidth && height > kHeight)
          found.push_back({list->_OwnerName ? list->_OwnerName : "", a.min, b.min, width});
      }
  }
  return found;
}

// How many letters there are: a test that looked at nothing must not pass.
inline std::size_t letters(const ImDrawData& data) {
  std::size_t count = 0;
  for (const ImDrawList* list : data.CmdLists)
    for (const ImDrawCmd& command : list->CmdBuffer)
      for (unsigned at = 0; at + 6 <= command.ElemCount; at += 3)
        if (cut_text_detail::quad_of(*list, command, at).is_letter) ++count;
  return count;
}

}  // namespace trainscope::ui
