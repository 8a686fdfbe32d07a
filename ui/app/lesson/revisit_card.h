// What the card of a question that is asked again says. Pure; the panel only draws it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/app/lesson/lesson_card.h"

namespace trainscope::ui {

// Nothing in it tells which option is right before one is given.
struct RevisitCard {
  std::string lesson, title;  // of the earlier lesson: its id too
  std::string caveat;
  std::string setting;  // Markdown, as are all below
  std::string text;
  std::vector<OptionCard> options;
  bool open = true;  // may still be answered
  bool right = false;
  std::string kind;     // of its step: "recap"
  std::string verdict;  // why the option is wrong, and what decides; empty until it is answered
  std::string explain;  // likewise
};

// Nothing where the workspace has none to ask now.
std::optional<RevisitCard> revisit_card_of(const Workspace& workspace);

}  // namespace trainscope::ui
