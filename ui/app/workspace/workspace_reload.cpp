// A lesson that is written while it is open: read again once its file is saved.

#include <algorithm>

#include "base/error.h"
#include "scenario/translation.h"
#include "ui/app/lesson/lesson_answers.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {
namespace {

bool same_question(const scenario::Step& a, const scenario::Step& b) {
  if (a.question.has_value() != b.question.has_value()) return false;
  return !a.question || (a.question->kind == b.question->kind &&
                         a.question->options.size() == b.question->options.size());
}

// What was answered and what was run stays true: only words and expressions are others.
bool same_course(const scenario::Lesson& a, const scenario::Lesson& b) {
  if (!(a.common == b.common && a.side_a == b.side_a && a.side_b == b.side_b)) return false;
  if (a.draws != b.draws) return false;
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [](const scenario::Step& one, const scenario::Step& other) {
                      return one.id == other.id && one.kind == other.kind &&
                             same_question(one, other);
                    });
}

}  // namespace

void Workspace::watch_lesson() {
  const std::filesystem::path& file = lesson_->lesson.file;
  std::vector<std::filesystem::path> files{file};
  if (!shelf.language().empty()) files.push_back(scenario::sidecar_of(file, shelf.language()));
  watch_.watch(std::move(files));
}

void Workspace::reload_if_saved() {
  if (!lesson_ || forked() || busy() || !watch_.take_change()) return;
  try {
    reload(scenario::find_lesson(lesson_->lesson.file.string(), shelf.language()));
  } catch (const Error& error) {
    // What was last read stands.
    lesson_->fault = error.what();
  }
}

void Workspace::reload(scenario::Lesson again) {
  // A translation with a fault is English; what was read of it last is better.
  if (!again.translation_fault.empty()) throw InputError(again.translation_fault);
  if (same_course(again, lesson_->lesson)) {
    lesson_->lesson = std::move(again);
    lesson_->fault.clear();
    notice = "The lesson was read again.";
    return;
  }
  const scenario::Answers answers = answers_of(*lesson_, opened_with(), record.student());
  const std::string here = lesson_->step().id;
  const std::size_t number = lesson_->progress.step();
  const bool is_kept = lesson_->kept;
  show_lesson(std::move(again));
  lesson_->kept = is_kept;
  const auto& steps = lesson_->lesson.steps;
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const scenario::Step& one) { return one.id == here; });
  const auto at = found == steps.end() ? std::min(number, steps.size() - 1)
                                       : static_cast<std::size_t>(found - steps.begin());
  resume(answers, at);
  notice = "The lesson was read again, and runs anew.";
}

}  // namespace trainscope::ui
