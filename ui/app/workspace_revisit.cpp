// What the workspace's learner missed: told to their record, and asked again in a later lesson.

#include <utility>

#include "base/error.h"
#include "ui/app/lesson_answers.h"
#include "ui/app/workspace.h"

namespace trainscope::ui {

void Workspace::prepare_revisit() {
  scenario::Choices missed = learner_.missed();
  std::erase_if(missed, [&](const auto& one) { return one.lesson == lesson_->lesson.id; });
  revisit_.prepare(std::move(missed));
}

// While the last step is read, so that nobody waits for it.
void Workspace::begin_revisit() {
  if (!lesson_ || present.on || !revisit_.is_due() || !revealed()) return;
  if (lesson_->progress.step() + 1 == lesson_->progress.steps()) revisit_.begin(language_);
}

const Revisit* Workspace::revisit() const {
  if (!lesson_ || present.on || forked() || !lesson_->progress.finished()) return nullptr;
  return revisit_.question() ? &revisit_ : nullptr;
}

void Workspace::choose_again(int option) {
  if (revisit()) revisit_.choose(option);
}

void Workspace::answer_again() {
  if (!revisit() || !revisit_.can_answer()) return;
  try {
    learner_.keep(revisit_.answer());
  } catch (const Error& error) {
    notice = std::string("Your answer could not be kept: ") + error.what();
  }
}

// A room's answers are nobody's.
std::vector<scenario::JudgedChoice> Workspace::take_decided() {
  std::vector<scenario::JudgedChoice> decided = judged_choices(*lesson_, opened_with());
  for (const scenario::JudgedChoice& one : decided) lesson_->told.insert(one.choice.step);
  if (present.on) decided.clear();
  return decided;
}

}  // namespace trainscope::ui
