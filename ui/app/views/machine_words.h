// How the window says which machine a side runs on. Pure.
#pragma once

#include <string>
#include <vector>

#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

// "h200-1"; of a file of a person's own: its name without folder and ending.
std::string file_stem(const std::string& id);

// Where a side's numbers come from: of what is drawn, else of what is about to run; null: unknown.
const trace::Origin* origin_of(const SideModel& side);

// "1 x H200, PCIe 5.0 x16"; of an imported trace what recorded it, which may be nothing.
std::string machine_name(const SideModel& side);
// "1 x H200": what of it comes first.
std::string machine_brief(const SideModel& side);
// "h200-1"; of an imported trace as machine_name().
std::string machine_short(const SideModel& side);

// Whether every side's numbers come from the same kind of run, or from the same machine: then that
// is said once, in the top bar; else each side says its own.
bool have_one_kind(const std::vector<SideModel>& sides);
bool have_one_machine(const std::vector<SideModel>& sides);

}  // namespace trainscope::ui
