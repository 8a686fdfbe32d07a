#include "ui/app/actions/action_list.h"

#include <algorithm>
#include <utility>

namespace trainscope::ui {

namespace {

using Actions = std::vector<ActionInfo>;

Actions of_lessons() {
  return {
      {"lesson.predict", "Commit the answer", "Ctrl+Enter",
       "Fix your prediction, answer or, where a span is asked for, the selected one."},
      {"lesson.option_1", "First option", "1",
       "Choose it; in front of a room, count a hand for it."},
      {"lesson.option_2", "Second option", "2",
       "Choose it; in front of a room, count a hand for it."},
      {"lesson.option_3", "Third option", "3",
       "Choose it; in front of a room, count a hand for it."},
      {"lesson.option_4", "Fourth option", "4",
       "Choose it; in front of a room, count a hand for it."},
      {"lesson.run", "Run", "R", "Carry out both sides of the lesson."},
      {"lesson.next", "Next step", "N", "Go on to the lesson's next step."},
      {"lesson.back", "Previous step", "B", "Go back one step of the lesson."},
      {"lesson.hint", "Hint", "H", "Show the step's hint."},
      {"lesson.show_me", "Show me", "Shift+H",
       "Bring what the step talks about into view; of a task, set its knobs."},
      {"lesson.skip", "Skip the question", "", "Go on without an answer; skipped is not done."},
      {"lesson.explore", "Explore from here", "E", "Leave the lesson's path with all knobs free."},
      {"lesson.return", "Back to lesson", "Escape", "Return to the lesson exactly as it was left."},
      {"lesson.terms", "Terms of the lesson", "T",
       "What the lesson's words mean, one after another."},
      {"lesson.notes", "The lecturer's notes", "Ctrl+Shift+N",
       "What the lesson's author says to whoever teaches it."},
      {"present.toggle", "Present", "F5",
       "For a room: large type, few lanes, one thing after another; again: back."},
      {"present.reveal", "Reveal the next", "",
       "Space, while presenting: the room's answer, the run, a lane, the span, a cause, the next "
       "step."},
      {"present.clear_hands", "Count the hands again", "0", "Begin at no hands for any option."},
      {"machine.laptop", "On a laptop's GPU", "L",
       "Both sides on a laptop, to explore; Escape brings the lesson back."},
      {"lesson.language", "Language of the lessons", "",
       "Show the lessons in the next language that there are texts in."},
      {"lesson.restart", "Start the lesson again", "",
       "Go to its first step; answers are taken anew."},
      {"lesson.shelf", "All lessons", "Ctrl+L", "Show the shelf of lessons."},
  };
}

Actions of_timelines() {
  return {
      {"view.fit", "Fit the timelines", "F", "Show the whole of both runs."},
      {"view.zoom_in", "Zoom in", "+",
       "Show half the time range; over the timelines also W and the wheel."},
      {"view.zoom_out", "Zoom out", "-",
       "Show twice the time range; over the timelines also S and the wheel."},
      {"timeline.leave", "Leave or clear", "Escape",
       "Leave measuring, searching, the critical path or a note, else clear the selected range, "
       "else the span."},
      {"timeline.zoom_to", "Zoom to the selection", "Z",
       "Show the selected range, else the selected span. Shift-drag selects a range."},
      {"timeline.measure", "Measure", "M",
       "The time between two starts or ends of spans, on one lane, on two, or on A and B."},
      {"timeline.take_edge", "Measure from the playhead", "",
       "What Enter does while measuring: take the start or end at the playhead. Shift+. goes to "
       "the "
       "next, and with a span selected . does."},
      {"timeline.search", "Search the timelines", "/",
       "Find spans by name or kind; Enter shows the next one, Shift+Enter the one before."},
      {"timeline.critical_path", "Critical path", "Shift+P",
       "Show the one chain of work, calls and waits that makes the steps as long as they are."},
      {"timeline.next_match", "Next span found", "G", "Show the next span that was found."},
      {"timeline.previous_match", "Previous span found", "Shift+G",
       "Show the span found before it."},
      {"timeline.pin_lane", "Pin or unpin the lane", "",
       "Keep the selected span's lane, or the one last under the mouse, on top; as its menu does."},
      {"timeline.hide_lane", "Hide the lane", "",
       "Hide the selected span's lane, or the one last under the mouse; as its menu does."},
      {"timeline.minimap", "Minimap", "I",
       "Show or hide the whole run in little, below the timelines."},
      {"timeline.show_lanes", "Show all lanes", "",
       "Show again what was hidden, and what there was no room for."},
      {"timeline.next_span", "Next span", ".",
       "Select the next span on the lane; with none selected, go to the next event."},
      {"timeline.previous_span", "Previous span", ",",
       "Select the span before it on the lane; with none selected, go to the event before."},
      {"note.write", "Write a note here", "Shift+N",
       "On the selected range of the lane where it was drawn, or on the selected span."},
      {"note.keep", "Keep the note", "", "What Enter does in its field; Escape leaves it."},
      {"note.next", "Next note", "J", "Show the next note on the timelines."},
      {"note.previous", "Previous note", "Shift+J", "Show the note before it."},
      {"note.edit", "Edit the note", "Enter", "Change the text of the selected note."},
      {"note.delete", "Delete the note", "Delete", "Remove the selected note from its run."},
      {"play.toggle", "Play or pause", "Space",
       "Move the playhead through the visible range, over and over through a selected one."},
      {"play.next_event", "Next event", "Shift+.", "Move the playhead to the next start or end."},
      {"play.previous_event", "Previous event", "Shift+,",
       "Move the playhead one start or end back."},
      {"play.start", "Playhead to the start", "Home", "Move the playhead to time 0."},
      {"play.end", "Playhead to the end", "End", "Move the playhead to the end of the longer run."},
      {"play.speed", "Change the speed", "", "The visible range in 5, 20 or 60 seconds."},
      {"play.align", "Align by time or by step", "Shift+A",
       "Let B stand at the same time as A, or as far in the same step."},
  };
}

Actions of_runs() {
  return {
      {"run.cancel", "Cancel the run", "Ctrl+.", "Stop what is running; nothing of it is kept."},
      {"run.measure", "Measure on this GPU", "Shift+R",
       "Carry both sides out on the GPU of this machine, with the knobs as they are."},
      {"run.simulate", "Simulate again", "",
       "Put simulated runs back in place of measured ones, as turning a knob does."},
      {"machine.choose", "Choose a machine", "Ctrl+M",
       "The machines with their data sheets; A and B may run on different ones."},
      {"knobs.reset", "Reset the knobs", "Ctrl+Backspace", "Take back every change to the knobs."},
      {"knobs.undo", "Undo", "Ctrl+Z", "Take back the last change of a knob or a machine."},
      {"knobs.redo", "Redo", "Ctrl+Shift+Z", "Do again what was taken back last."},
      {"knobs.all", "All parameters", "P", "Show every knob of both sides."},
      {"code.side", "Other side's code", "C", "Switch the listing between A and B."},
      {"find.action", "Find an action", "Ctrl+K",
       "Type a few letters of what you want to do, or a word that a lesson is about."},
      {"file.open", "Open…", "Ctrl+O",
       "A lesson, a run, a trace or a machine: what was opened lately, and folders to look in."},
      {"file.open_beside", "Open beside A…", "Ctrl+Shift+O",
       "Another run, trace or config as B, to be compared with what is shown."},
      {"runs.copy_beside", "Copy A beside itself", "Shift+B",
       "A second run with the same knobs, to turn some of them and compare."},
      {"runs.what_if", "What if…", "Shift+W",
       "Beside a trace, its replay: turn how fast its host, kernels or links are, and see what "
       "that would bring."},
      {"runs.close_b", "Close B", "", "Show A alone again."},
      {"file.open_trace", "Open a trace", "", "Read a PyTorch trace, plain or gzipped."},
      {"link.copy", "Copy a link", "Ctrl+Shift+C",
       "The lesson, its step and the knobs as they are, in one line to send to somebody."},
      {"link.open", "Open a link", "", "Paste a line that begins with trainscope:1."},
      {"file.save_picture", "Save a picture", "Ctrl+S", "Write the window as a PNG file."},
      {"file.export", "Export", "Ctrl+Shift+E",
       "Write a report, a handout, the traces, the metrics, the runs or a picture to a file."},
  };
}

Actions of_panels() {
  return {
      {"layout.reset", "Reset the layout", "Ctrl+Shift+L", "Put every panel back in its place."},
      {"layout.next_panel", "Go to the next panel", "Ctrl+Tab",
       "The keys go there; in a panel Tab and Shift+Tab go on and back, arrows to what is beside, "
       "and Space or Enter presses."},
      {"layout.lesson", "Panel: Lesson", "", "Show or hide the lesson card."},
      {"layout.timelines", "Panel: Timelines", "", "Show or hide the timelines."},
      {"layout.knobs", "Panel: Knobs", "", "Show or hide the knobs."},
      {"layout.code", "Panel: Code", "X",
       "Show or hide the listing; in front of a room, where A's and B's differ."},
      {"layout.compare", "Panel: Compare", "", "Show or hide the comparison."},
      {"layout.copy_path", "Show copy path", "Y", "Show where the bytes of the copies are."},
      {"layout.loss", "Show loss", "", "Show the loss and the accuracy over the steps."},
      {"layout.loss_scaling", "Show loss scaling", "",
       "Show the gradients on FP16's number line, and the scale over the steps."},
      {"layout.memory", "Show memory", "",
       "Show what device memory is used for, and its segments."},
      {"layout.sm_array", "Show SM array", "",
       "Show a kernel's blocks on the GPU's SMs, and its occupancy."},
      {"layout.gradient_flow", "Show gradient flow", "",
       "Show gradients, buckets and all-reduces on the GPUs and their links."},
      {"layout.scaling", "Show scaling curve", "",
       "Show what more and fewer GPUs bring, beside the ideal."},
      {"layout.roofline", "Show roofline", "",
       "Show every kernel under the roofs of its GPU, and what a step is bound by."},
      {"align.start", "Align the starts", "", "Take B back to where its own time begins."},
      {"align.first_kernel", "Align the first kernels", "",
       "Move B along the axis until its first kernel stands below A's."},
      {"align.step", "Align this step", "",
       "Move B along the axis until the step at the playhead begins where A's does."},
      {"align.selection", "Align the selected span", "",
       "Move B along the axis until the span and its namesake begin together."},
      {"runs.keep_a", "Keep run A", "Shift+K", "Put A's run aside, to be looked at beside others."},
      {"runs.keep_b", "Keep run B", "K", "Put B's run aside, to be looked at beside others."},
      {"layout.runs", "Show the runs", "", "Show A, B and the runs kept under one axis."},
      {"layout.operations", "Show operations", "O",
       "Show what a run, or A beside B, spends its time on, operation by operation."},
      {"compare.save_operations", "Save the operations", "",
       "Write the table of operations as a CSV file."},
      {"sweep.knob", "Sweep this knob", "V",
       "Run over several values of the knob under the mouse, and see the curve."},
      {"sweep.cancel", "Cancel the sweep", "", "Stop it; the points that have come stay."},
      {"layout.sweep", "Show sweep", "", "Show a metric over the values of a knob, or of two."},
      {"view.memory_lanes", "Memory on the timelines", "",
       "Show or hide the lanes that count device memory."},
  };
}

Actions of_the_window() {
  return {
      {"theme.toggle", "Dark or light", "Ctrl+T", "Switch between the dark and the light theme."},
      {"theme.dark", "Theme: dark", "", "Light text on a dark ground."},
      {"theme.light", "Theme: light", "", "Dark text on a light ground."},
      {"theme.projector", "Theme: projector", "Ctrl+Shift+P",
       "White, large type and thick lines: to be read from the back of a room."},
      {"scale.larger", "Larger interface", "Ctrl++", "Make everything larger, up to 300 %."},
      {"scale.smaller", "Smaller interface", "Ctrl+-", "Make everything smaller, down to 75 %."},
      {"scale.reset", "Interface at 100 %", "Ctrl+0", "Take the display's own scale."},
      {"window.full_screen", "Full screen", "F11", "Fill the display, or go back to a window."},
      {"log.show", "What was said", "F8",
       "Every message of the window since it was opened; to be copied."},
      {"help.tour", "Show the tour", "", "What is where in the window, in a minute."},
      {"help.show", "Keys and actions", "F1", "List every action with its key."},
      {"app.quit", "Quit", "Ctrl+Q", "Close the window."},
  };
}

}  // namespace

const std::vector<ActionInfo>& actions() {
  static const Actions list = [] {
    Actions all;
    for (Actions (*part)() : {of_lessons, of_timelines, of_runs, of_panels, of_the_window})
      for (ActionInfo& action : part()) all.push_back(std::move(action));
    return all;
  }();
  return list;
}

const ActionInfo* find_action(std::string_view id) {
  const auto& list = actions();
  const auto found = std::find_if(list.begin(), list.end(),
                                  [id](const ActionInfo& action) { return action.id == id; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace trainscope::ui
