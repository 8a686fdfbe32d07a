#include "ui/app/lesson/further.h"

#include "scenario/extreme.h"

namespace trainscope::ui {

void Further::ask(const scenario::Lesson& lesson, const scenario::Step& step, const Pair& runs) {
  if (step.id == step_ && runs == runs_) return;
  step_ = step.id;
  runs_ = runs;
  found_.reset();
  busy_ = true;
  carrying_out_.start([lesson, step, runs](const Background<bool>::Stopped&) {
    return std::make_shared<bool>(
        scenario::goes_further(lesson, step, {runs.first.get(), runs.second.get()}));
  });
}

void Further::drop() {
  carrying_out_.drop();
  step_.clear();
  runs_ = {};
  found_.reset();
  busy_ = false;
}

bool Further::take() {
  if (!busy_ || carrying_out_.busy()) return false;
  busy_ = false;
  const std::shared_ptr<bool> found = carrying_out_.get();
  found_ = found && *found;  // with less the lesson may not even run
  return true;
}

std::optional<bool> Further::goes_further(const scenario::Step& step,
                                          const scenario::Sides& sides) const {
  if (!step.extreme) return false;
  const bool same = step.id == step_ && sides.size() == 2 && sides[0] == runs_.first.get() &&
                    sides[1] == runs_.second.get();
  return same ? found_ : std::nullopt;
}

}  // namespace trainscope::ui
