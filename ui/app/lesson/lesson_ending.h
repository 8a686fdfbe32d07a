// What a lesson's card says where its runs ended before they were through, as on a GPU with less
// memory than the lesson needs: figures that its text asks for are not there, and that is no fault
// of the lesson. Pure; the panel only draws it.
#pragma once

#include <optional>
#include <string>

#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

struct LessonEnding {
  std::string title;   // "The model does not fit into this GPU"
  std::string text;    // Markdown: how much it wants and what there is, or what happened
  std::string action;  // that helps: its id, and what its button says; empty: none
  std::string label;
};

// Of these runs of the lesson that is open; nothing where none of them ended early.
std::optional<LessonEnding> lesson_ending(const Workspace& workspace, const scenario::Sides& sides);

}  // namespace trainscope::ui
