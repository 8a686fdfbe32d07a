// What is written in the finished frame, read back from its triangles: a letter is known by its
// place in the font's texture.
#pragma once

#include <imgui.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "ui/cut_text.h"

namespace trainscope::ui {
namespace read_text_detail {

using Place = std::pair<float, float>;

inline std::map<Place, unsigned> letters_by_place() {
  std::map<Place, unsigned> letters;
  auto& pool = ImGui::GetIO().Fonts->Builder->BakedPool;
  for (int i = 0; i < pool.Size; ++i)
    for (const ImFontGlyph& glyph : pool[i].Glyphs)
      if (glyph.Visible) letters.emplace(Place{glyph.U0, glyph.V0}, glyph.Codepoint);
  return letters;
}

}  // namespace read_text_detail

// All words of the windows whose name holds `window`, in the order in which they were drawn,
// without blanks; what is not ASCII is left out.
inline std::string written(const ImDrawData& data, std::string_view window = "") {
  const auto known = read_text_detail::letters_by_place();
  std::string words;
  for (const ImDrawList* list : data.CmdLists) {
    if (std::string_view(list->_OwnerName ? list->_OwnerName : "").find(window) ==
        std::string::npos)
      continue;
    for (const ImDrawCmd& command : list->CmdBuffer)
      for (unsigned at = 0; at + 6 <= command.ElemCount; at += 3) {
        if (!cut_text_detail::quad_of(*list, command, at).is_letter) continue;
        const ImDrawIdx* index = list->IdxBuffer.Data + command.IdxOffset + at;
        const ImDrawVert& first = list->VtxBuffer.Data[command.VtxOffset + index[0]];
        const auto letter = known.find({first.uv.x, first.uv.y});
        if (letter != known.end() && letter->second < 128)
          words += static_cast<char>(letter->second);
      }
  }
  return words;
}

// The same words as written() has them.
inline std::string without_blanks(std::string words) {
  std::erase(words, ' ');
  return words;
}

// Whether the words stand in one piece in the finished frame.
inline bool says(const std::string& words, std::string_view window = "") {
  return written(*ImGui::GetDrawData(), window).find(without_blanks(words)) != std::string::npos;
}

}  // namespace trainscope::ui
