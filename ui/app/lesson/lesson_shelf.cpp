#include "ui/app/lesson/lesson_shelf.h"

#include <utility>

#include "scenario/translation.h"

namespace trainscope::ui {

const std::vector<scenario::Lesson>& LessonShelf::lessons() {
  if (!lessons_) {
    lessons_.emplace();
    try {
      scenario::Shelf read = scenario::readable_lessons(language_);
      *lessons_ = std::move(read.lessons);
      if (!read.unreadable.empty()) error_ = read.unreadable.front();
    } catch (const std::exception& error) {
      error_ = error.what();
    }
  }
  return *lessons_;
}

bool LessonShelf::choose_language(const std::string& language) {
  const std::string next = language == scenario::kEnglish ? "" : language;
  if (next == language_) return false;
  language_ = next;
  lessons_.reset();
  error_.clear();
  return true;
}

}  // namespace trainscope::ui
