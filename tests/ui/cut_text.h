// Finds letters that are drawn but cut: what a person sees as half a word at a panel's edge.
//
// It reads the finished frame's triangles, so nothing that draws text can be forgotten. A letter is
// a quad with an extent in the font's texture; it is cut when its clip rectangle goes through it
// from top to bottom. (Lines that scroll out of sight above and below are cut across: that is what
// a scroll bar is for.)
#pragma once

#include <imgui.h>

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
