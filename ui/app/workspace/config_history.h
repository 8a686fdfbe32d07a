// What knobs were turned, to be taken back and done again: both sides' configs before each change.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "program/config.h"

namespace trainscope::ui {

class ConfigHistory {
 public:
  using State = std::vector<program::Config>;  // of the sides, in order

  // Before a change of `what`. Changes of the same one after another are one: a slider that is
  // dragged is not taken back pixel by pixel.
  void remember(State before, const std::string& what);

  bool can_undo() const { return !past_.empty(); }
  bool can_redo() const { return !future_.empty(); }
  // The configs before the last change, and, after that, those that it led to. `now`: as they are.
  // Nothing where there is none.
  std::optional<State> undo(State now);
  std::optional<State> redo(State now);

  void clear();

 private:
  std::deque<State> past_;  // the latest last
  std::deque<State> future_;
  std::string last_;
};

}  // namespace trainscope::ui
