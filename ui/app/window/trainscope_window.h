// The window as the command line knows it: open it, or write what it would show as a picture.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "scenario/lesson.h"
#include "scenario/link.h"
#include "scenario/progress.h"
#include "ui/app/actions/action_list.h"
#include "ui/app/views/sweep_picture.h"
#include "ui/app/window/theme_mode.h"

namespace trainscope::ui {

using analysis::RunPointer;

// A run that was read, else a config to be run, else the file of a trace, read in the background.
struct SideRequest {
  RunPointer run;
  std::optional<program::Config> config;
  std::filesystem::path file;
};

// What the window opens with; all empty: the lesson shelf. One thing is open at a time: the link,
// else the lesson, else the sides.
struct WindowRequest {
  std::optional<scenario::Link> link;
  std::optional<scenario::Lesson> lesson;
  std::vector<SideRequest> sides;            // one, or two to compare
  std::optional<ThemeMode> theme;            // else what was chosen last; dark at first
  std::vector<std::filesystem::path> files;  // that these were read from, to be remembered
  float scale = 0;                           // of fonts and sizes; 0: the display's
  bool present = false;                      // in front of a room
  bool resumes = false;  // what was open the last time is open again without a word, as a page is
  std::string language;  // of the lessons' texts; empty: as chosen last, English at first
  std::string student;   // whose answers are kept, and whose seed lessons take; empty: nobody's
};

// Returns once the window is closed: 0. Throws MissingError when there is no display.
int open_window(const WindowRequest& request);

// A lesson with its runs A and B, or one or two runs alone (of a config, of a trace), or the shelf.
struct PictureRequest {
  bool shelf = false;
  std::string language;  // of the shelf; a lesson has its own
  std::optional<scenario::Lesson> lesson;
  std::vector<RunPointer> runs;
  std::filesystem::path file;              // of a trace that is alone; empty: of none
  std::optional<std::size_t> step;         // from 0; else the first step after the run
  std::optional<scenario::Answer> answer;  // to the lesson's first question; else it is skipped
  bool present = false;                    // as in front of a room, all revealed
  std::string panel;                       // in front; empty: those of the layout
  std::optional<std::string> action;       // done before it is drawn: "help.tour"
  std::optional<Nanos> playhead;           // its time; else as the step has it
  int width = 1920;                        // pixels
  int height = 1080;                       // 0: as much as the shelf takes
  float scale = 1;
  std::optional<ThemeMode> theme;  // else dark, and the projector's in front of a room
};

// The largest side of a picture, in pixels.
inline constexpr int kLargestPicture = 8192;

// Draws off screen. Returns what the window would say beside it, as a sentence; empty: nothing.
// Throws MissingError when OSMesa is missing, InputError when the file cannot be written or there
// is nothing to draw.
std::string draw_picture(const PictureRequest& request, const std::filesystem::path& png);

}  // namespace trainscope::ui
