// The notes that people write on runs, by run: a run is known by where it comes from and by its
// config, for equal configs give equal runs. So a note is there again when a knob is turned back,
// and goes with a run that is kept. What is written lasts as long as the window. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "ui/app/workspace/side_model.h"

namespace trainscope::ui {

// What tells a run from others that a window may show.
std::string identity_of(const analysis::Run& run);

class Notebook {
 public:
  using Notes = std::vector<analysis::RunNote>;  // sorted

  const Notes& of(const analysis::Run& run) const;
  // Those that came with the run are added to what is there already.
  void take_over(const analysis::Run& run);

  // Returns its place. Nothing is written without a text, on a lane that the run does not have, or
  // where it says the same already.
  std::optional<std::size_t> add(const analysis::Run& run, analysis::RunNote note);
  // Returns its place; an empty text removes it.
  std::optional<std::size_t> change(const analysis::Run& run, std::size_t at, std::string text);
  void remove(const analysis::Run& run, std::size_t at);

  // The run with its notes, to be saved or reported; the same one where it has them already.
  RunPointer with_notes(const RunPointer& run) const;

 private:
  std::map<std::string, Notes> pages_;
};

}  // namespace trainscope::ui
