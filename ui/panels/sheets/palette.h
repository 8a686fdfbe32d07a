// "Find an action": a few letters, a list, Enter. Lessons are found there by what they are about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/app/actions/action_list.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct PalettePanel {
  bool open = false;
  bool just_opened = false;
  std::string words;
  int chosen = 0;
  std::vector<ActionInfo> more;  // what can be done now beyond the registry: files to open again
};

// "open-recent 3": the file of that place in the list of those opened lately.
inline constexpr std::string_view kOpenRecent = "open-recent ";

// "open-lesson fuse-it".
inline constexpr std::string_view kOpenLesson = "open-lesson ";

void draw_palette(const PanelContext& context, PalettePanel& panel);

// Opening each lesson that is about the words, best first.
std::vector<ActionInfo> matching_lessons(const std::vector<scenario::Lesson>& lessons,
                                         const std::string& words);

// The actions that the letters fit, best first; all of them for no letters, those of `more` last.
// `lessons` fit already: they come after what is called so, before what the letters are scattered
// in.
std::vector<const ActionInfo*> matching_actions(const std::string& words,
                                                const std::vector<ActionInfo>& more = {},
                                                const std::vector<ActionInfo>& lessons = {});

}  // namespace trainscope::ui
