// Writing notes on the timelines: where one may be written, the field that is open, walking from
// one to the next. The notes themselves are in the workspace's Notebook. No ImGui.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/app/workspace/notebook.h"
#include "ui/timeline/view.h"

namespace trainscope::ui {

class Workspace;
struct Attention;

// The note that is selected, and the field in which one is written.
struct NoteDesk {
  NoteRef selected;
  bool open = false;
  bool just_opened = false;       // the field takes the keys
  Side side = Side::kA;           // of what is being written
  analysis::RunNote note;         // its lane and range, and the text as it stands in the field
  std::optional<std::size_t> at;  // its place, of one that is changed; none: it is new
};

// The side's run, when it is finished and may be written on; else null.
const analysis::Run* noted_run(const Workspace& workspace, Side side);

// The notes of a side as the timelines show them; the one that is being written comes last.
std::vector<LaneNote> lane_notes(const Workspace& workspace, const NoteDesk& desk, Side side);

// All notes of both sides in the order of the shared axis.
std::vector<NoteRef> notes_in_order(const Workspace& workspace);

// Where a note would stand: the selected range on the lane on which it was drawn, else the selected
// span. Nothing where neither is there.
struct NotePlace {
  LaneRef lane;
  TimeRange range;  // of the shared axis
};
std::optional<NotePlace> place_for_note(const Workspace& workspace, const Attention& attention);
// The same for a lane whose menu was asked for: the selected range, else a span selected on that
// lane, else the time at which the menu was opened.
NotePlace place_in_menu(const Workspace& workspace, const Attention& attention);

// Opens the field.
void begin_note(const Workspace& workspace, Attention& attention, const NotePlace& place);
void edit_note(const Workspace& workspace, Attention& attention);
// Keeps what stands in the field, and selects it; an empty text removes what was there.
void keep_note(Workspace& workspace, Attention& attention);
void delete_note(Workspace& workspace, Attention& attention);

// The selected note, or null.
const analysis::RunNote* selected_note(const Workspace& workspace, const NoteDesk& desk);
// Selects a note and brings it into view.
void show_note(const Workspace& workspace, Attention& attention, NoteRef note);
// The next one (the one before), around at the ends; from the view's left edge where none is
// selected.
void step_note(const Workspace& workspace, Attention& attention, bool forward);

}  // namespace trainscope::ui
