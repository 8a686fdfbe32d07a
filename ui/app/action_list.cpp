#include "ui/app/action_list.h"

#include <algorithm>

namespace trainscope::ui {

const std::vector<ActionInfo>& actions() {
  static const std::vector<ActionInfo> list = {
      {"lesson.predict", "Commit the prediction", "Ctrl+Enter",
       "Fix your answer; it can no longer be changed."},
      {"lesson.run", "Run", "R", "Carry out both sides of the lesson."},
      {"lesson.next", "Next step", "N", "Go on to the lesson's next step."},
      {"lesson.back", "Previous step", "B", "Go back one step of the lesson."},
      {"lesson.hint", "Hint", "H", "Show the step's hint."},
      {"lesson.show_me", "Show me", "S", "Bring what the step talks about into view."},
      {"lesson.skip", "Skip the question", "", "Go on without an answer; skipped is not done."},
      {"lesson.explore", "Explore from here", "E", "Leave the lesson's path with all knobs free."},
      {"lesson.return", "Back to lesson", "Escape", "Return to the lesson exactly as it was left."},
      {"lesson.terms", "Terms of the lesson", "T",
       "What the lesson's words mean, one after another."},
      {"lesson.restart", "Start the lesson again", "",
       "Go to its first step; answers are taken anew."},
      {"lesson.shelf", "All lessons", "Ctrl+L", "Show the shelf of lessons."},
      {"view.fit", "Fit the timelines", "F", "Show the whole of both runs."},
      {"view.zoom_in", "Zoom in", "+", "Show half the time range."},
      {"view.zoom_out", "Zoom out", "-", "Show twice the time range."},
      {"play.toggle", "Play or pause", "Space", "Move the playhead through the visible range."},
      {"play.next_event", "Next event", ".", "Move the playhead to the next start or end."},
      {"play.previous_event", "Previous event", ",", "Move the playhead one start or end back."},
      {"play.start", "Playhead to the start", "Home", "Move the playhead to time 0."},
      {"play.end", "Playhead to the end", "End", "Move the playhead to the end of the longer run."},
      {"play.speed", "Change the speed", "", "The visible range in 5, 20 or 60 seconds."},
      {"play.align", "Align by time or by step", "A",
       "Let B stand at the same time as A, or as far in the same step."},
      {"run.cancel", "Cancel the run", "Ctrl+.", "Stop what is running; nothing of it is kept."},
      {"machine.choose", "Choose a machine", "Ctrl+M",
       "The machines with their data sheets; A and B may run on different ones."},
      {"knobs.reset", "Reset the knobs", "Ctrl+Backspace", "Take back every change to the knobs."},
      {"knobs.undo", "Undo", "Ctrl+Z", "Take back the last change of a knob or a machine."},
      {"knobs.redo", "Redo", "Ctrl+Shift+Z", "Do again what was taken back last."},
      {"knobs.all", "All parameters", "P", "Show every knob of both sides."},
      {"code.side", "Other side's code", "C", "Switch the listing between A and B."},
      {"find.action", "Find an action", "Ctrl+K", "Type a few letters of what you want to do."},
      {"file.open_trace", "Open a trace", "Ctrl+O", "Read a PyTorch trace, plain or gzipped."},
      {"link.copy", "Copy a link", "Ctrl+Shift+C",
       "The lesson, its step and the knobs as they are, in one line to send to somebody."},
      {"link.open", "Open a link", "", "Paste a line that begins with trainscope:1."},
      {"file.save_picture", "Save a picture", "Ctrl+S", "Write the window as a PNG file."},
      {"layout.reset", "Reset the layout", "Ctrl+Shift+L", "Put every panel back in its place."},
      {"layout.lesson", "Panel: Lesson", "", "Show or hide the lesson card."},
      {"layout.timelines", "Panel: Timelines", "", "Show or hide the timelines."},
      {"layout.knobs", "Panel: Knobs", "", "Show or hide the knobs."},
      {"layout.code", "Panel: Code", "", "Show or hide the listing."},
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
      {"layout.roofline", "Show roofline", "",
       "Show every kernel under the roofs of its GPU, and what a step is bound by."},
      {"view.memory_lanes", "Memory on the timelines", "",
       "Show or hide the lanes that count device memory."},
      {"theme.toggle", "Dark or light", "Ctrl+T", "Switch between the dark and the light theme."},
      {"theme.dark", "Theme: dark", "", "Light text on a dark ground."},
      {"theme.light", "Theme: light", "", "Dark text on a light ground."},
      {"theme.projector", "Theme: projector", "Ctrl+Shift+P",
       "White, large type and thick lines: to be read from the back of a room."},
      {"scale.larger", "Larger interface", "Ctrl++", "Make everything larger, up to 300 %."},
      {"scale.smaller", "Smaller interface", "Ctrl+-", "Make everything smaller, down to 75 %."},
      {"scale.reset", "Interface at 100 %", "Ctrl+0", "Take the display's own scale."},
      {"help.show", "Keys and actions", "F1", "List every action with its key."},
      {"app.quit", "Quit", "Ctrl+Q", "Close the window."},
  };
  return list;
}

const ActionInfo* find_action(std::string_view id) {
  const auto& list = actions();
  const auto found = std::find_if(list.begin(), list.end(),
                                  [id](const ActionInfo& action) { return action.id == id; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace trainscope::ui
