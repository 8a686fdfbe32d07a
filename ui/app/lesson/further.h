// Whether a task that asks for the least of a knob could be done with less: carried out beside the
// window once its goal is reached.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analysis/runs/run.h"
#include "scenario/expression.h"
#include "scenario/lesson.h"
#include "ui/app/workspace/background.h"

namespace trainscope::ui {

class Further {
 public:
  using Pair = std::pair<analysis::RunPointer, analysis::RunPointer>;

  // Asks for these runs of A and B, on which the step's goal holds; once for the same.
  void ask(const scenario::Lesson& lesson, const scenario::Step& step, const Pair& runs);
  // Nothing is asked for any more.
  void drop();
  // Takes in what was found since; true when something was.
  bool take();
  bool busy() const { return busy_; }

  // Of the step on these runs; nothing while it is not known.
  std::optional<bool> goes_further(const scenario::Step& step, const scenario::Sides& sides) const;

 private:
  std::string step_;
  Pair runs_;
  bool busy_ = false;
  std::optional<bool> found_;
  Background<bool> carrying_out_;
};

}  // namespace trainscope::ui
