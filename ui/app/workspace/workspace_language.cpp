// The language of the lessons' texts.

#include <fmt/format.h>

#include "base/error.h"
#include "scenario/translation.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

void Workspace::set_language(const std::string& language) {
  if (!shelf.choose_language(language) || !lesson_) return;
  try {
    scenario::Lesson again = scenario::find_lesson(lesson_->lesson.file.string(), shelf.language());
    // Answers belong to steps: another file than the one that was opened stays as it is.
    if (again.steps.size() != lesson_->lesson.steps.size()) return;
    lesson_->lesson = std::move(again);
    tell_translation();
    watch_lesson();
    if (revisit_.begun()) revisit_.begin(shelf.language());
  } catch (const Error& error) {
    notice = error.what();
  }
}

// What of the lesson is English although another language is chosen.
void Workspace::tell_translation() {
  const scenario::Lesson& lesson = lesson_->lesson;
  if (!lesson.translation_fault.empty()) {
    notice = "The lesson is shown in English: " + lesson.translation_fault;
  } else if (!shelf.language().empty() && lesson.language == scenario::kEnglish) {
    notice = "This lesson is not there in " + scenario::name_of_language(shelf.language()) +
             " yet, and is shown in English.";
  } else if (lesson.untranslated > 0) {
    notice = fmt::format("{} of this lesson's texts have no translation and are in English.",
                         lesson.untranslated);
  }
}

}  // namespace trainscope::ui
