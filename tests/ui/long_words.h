// Words about twice as long as ours, as another language may have them: every letter takes the
// room of two.
#pragma once

#include <imgui_internal.h>

#include "ui/app/window/theme.h"

namespace trainscope::ui {

// Before the first frame: letters are measured when they are first drawn.
inline void make_words_long(const Theme& theme) {
  const float letter = theme.size.text * 0.55F;  // the mean of Inter's lower case
  for (ImFont* font : ImGui::GetIO().Fonts->Fonts)
    for (ImFontConfig* source : font->Sources) source->GlyphExtraAdvanceX = letter;
}

}  // namespace trainscope::ui
