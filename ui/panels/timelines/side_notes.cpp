#include "ui/panels/timelines/side_notes.h"

namespace trainscope::ui {

std::vector<SideNote> care_notes(const std::vector<SideCaveat>& sides) {
  const bool alike = sides.size() == 2 && sides[0].caveat == sides[1].caveat;
  std::vector<SideNote> notes;
  for (const SideCaveat& side : sides) {
    if (side.caveat.empty() || (alike && !notes.empty())) continue;
    const std::string whose = sides.size() == 1 ? ""
                              : alike           ? "Both sides: "
                                                : "Side " + side.label + ": ";
    notes.push_back({whose.empty() ? "Read with care" : whose + "read with care", side.caveat});
  }
  return notes;
}

}  // namespace trainscope::ui
