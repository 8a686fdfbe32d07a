#include "ui/app/lesson/solving.h"

#include <memory>

#include "scenario/extreme.h"

namespace trainscope::ui {

void Solving::ask(const scenario::Lesson& lesson, const scenario::Step& step, const Pair& runs) {
  busy_ = true;
  carrying_out_.start([lesson, step, runs](const auto& stopped) {
    return std::make_shared<scenario::TurnedKnobs>(
        scenario::solution_on(lesson, step, {runs.first.get(), runs.second.get()}, stopped));
  });
}

void Solving::drop() {
  carrying_out_.drop();
  busy_ = false;
}

std::optional<scenario::TurnedKnobs> Solving::take() {
  if (!busy_ || carrying_out_.busy()) return std::nullopt;
  busy_ = false;
  const auto found = carrying_out_.get();
  return found ? std::optional(*found) : std::nullopt;
}

}  // namespace trainscope::ui
