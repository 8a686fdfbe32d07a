// What the workspace's learner missed: told to their record, and asked again in a later lesson.

#include <utility>

#include "base/error.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

void Workspace::prepare_revisit() {
  scenario::Choices missed = record.learner().missed();
  std::erase_if(missed, [&](const auto& one) { return one.lesson == lesson_->lesson.id; });
  revisit_.prepare(std::move(missed));
}

// While the last step is read, so that nobody waits for it.
void Workspace::begin_revisit() {
  if (!lesson_ || present.on || !revisit_.is_due() || !revealed()) return;
  if (lesson_->progress.step() + 1 == lesson_->progress.steps()) revisit_.begin(shelf.language());
}

const Revisit* Workspace::revisit() const {
  if (!lesson_ || present.on || forked() || !lesson_->progress.finished()) return nullptr;
  return revisit_.question() ? &revisit_ : nullptr;
}

Revisit* Workspace::revisit() {
  return std::as_const(*this).revisit() ? &revisit_ : nullptr;
}

void Workspace::answer_again() {
  if (!revisit() || !revisit_.can_answer()) return;
  try {
    record.keep(revisit_.answer());
  } catch (const Error& error) {
    notice = std::string("Your answer could not be kept: ") + error.what();
  }
}

}  // namespace trainscope::ui
