// What *Show me* turns, of a task that asks for the least of a knob or for the most: how far these
// runs go is carried out beside the window, and may take as many runs as there are values.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "analysis/runs/run.h"
#include "scenario/lesson.h"
#include "ui/app/workspace/background.h"

namespace trainscope::ui {

class Solving {
 public:
  using Pair = std::pair<analysis::RunPointer, analysis::RunPointer>;

  // Asks for the step's solution on the lesson's own runs of A and B.
  void ask(const scenario::Lesson& lesson, const scenario::Step& step, const Pair& runs);
  // Nothing is asked for any more.
  void drop();
  // What was found since, once.
  std::optional<scenario::TurnedKnobs> take();
  // Why there is none: what carrying it out threw. Empty where there is one.
  const std::string& fault() { return carrying_out_.error(); }
  bool busy() const { return busy_; }

 private:
  bool busy_ = false;
  Background<scenario::TurnedKnobs> carrying_out_;
};

}  // namespace trainscope::ui
