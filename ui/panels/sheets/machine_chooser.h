// The machines to choose from, with the data sheet of the one that is looked at: every figure with
// its unit, where it comes from, and why.
#pragma once

#include <string>
#include <vector>

#include "ui/app/views/machine_catalogue.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

enum class MachineTarget : std::uint8_t { kA, kB, kBoth };

struct MachineChooser {
  bool open = false;
  bool just_opened = false;
  bool moved = false;  // by keys: what is highlighted is brought into sight
  std::string words;
  std::string highlighted;  // a machine's id
  MachineTarget target = MachineTarget::kBoth;
  std::vector<CatalogueEntry> catalogue;  // read when it is opened
};

// For one side (0: A, 1: B), or for both (-1).
void open_machine_chooser(MachineChooser& chooser, const Workspace& workspace, int side);

// Asks for the action "choose-machine SIDES ID" once one is chosen.
void draw_machine_chooser(const PanelContext& context, MachineChooser& chooser);

}  // namespace trainscope::ui
