// The lessons that are shipped, in the language that is chosen for their texts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/lesson.h"

namespace trainscope::ui {

class LessonShelf {
 public:
  // Read once for each language, when they are first asked for.
  const std::vector<scenario::Lesson>& lessons();
  // Why some or all of them cannot be read, as a sentence; empty: they can.
  const std::string& error() const { return error_; }

  // "de"; empty: English.
  const std::string& language() const { return language_; }
  // False where that is the language already.
  bool choose_language(const std::string& language);

 private:
  std::string language_;
  std::optional<std::vector<scenario::Lesson>> lessons_;
  std::string error_;
};

}  // namespace trainscope::ui
