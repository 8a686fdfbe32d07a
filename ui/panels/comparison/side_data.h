// What the panels about training share: which trace of a side may be shown, who has data, and where
// a panel stands that no layout knows yet.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "ui/panels/window/context.h"

namespace trainscope::ui {

// The trace of a side, of its last run or of one under way; null while it may not be seen.
const trace::Trace* shown_trace(const Workspace& workspace, std::size_t side,
                                std::string_view panel);

// A side's last run where its trace is the one that may be seen; null else.
RunPointer shown_run(const Workspace& workspace, std::size_t side, std::string_view panel);

// Whether the panel has anything to show of either side.
bool has_loss(const Workspace& workspace);
bool has_loss_scaling(const Workspace& workspace);
bool has_memory(const Workspace& workspace);

// Of one side.
bool has_scaling_data(const SideModel& side, const trace::Trace* trace);

// The frame of a panel that draws its whole body itself. Where no layout has a place for it, it is
// docked with `beside`. `secondary` stands right of the head.
PanelOptions chart_panel(const char* beside, bool* open, std::string secondary);

// The room left in a panel, less the panel's pad at its sides.
Box padded_room(const Theme& theme, float above, float below);

// "A, fp16" and the like: the mark alone where there is one run. Returns where it ends.
float draw_side_title(const Theme& theme, const Workspace& workspace, std::size_t side, ImVec2 at);

// A sentence over as many lines as it takes, from a box's upper edge down; all of it is under the
// mouse, also what the box has no room for.
void draw_sentence(const Theme& theme, const Box& box, Color color, const std::string& sentence);

// Why nothing could be read of a side, by side, where there is such a sentence: in all of the room
// where nothing else is shown, else below it. Returns what is left of the room.
Box draw_faults(const PanelContext& context, const Box& room,
                const std::array<std::string, 2>& by_side, bool alone);

}  // namespace trainscope::ui
