// What is to be read with care of the sides that are shown. Pure.
#pragma once

#include <string>
#include <vector>

namespace trainscope::ui {

struct SideCaveat {
  std::string label;   // "A"
  std::string caveat;  // a sentence; empty: none
};

struct SideNote {
  std::string title, sentence;
};

// A note a side that has a caveat; one note where both have the same.
std::vector<SideNote> care_notes(const std::vector<SideCaveat>& sides);

}  // namespace trainscope::ui
