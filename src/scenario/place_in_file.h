// Where something that a lesson says stands in its file: its line, not that of the step it is of.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace trainscope::scenario {

class FileText {
 public:
  // A file that cannot be read has no text: places in it stay as they are asked for.
  explicit FileText(const std::filesystem::path& file);

  // Where the words first stand from a place on, before the next [[table]] begins. That place where
  // they do not, as where the file writes a letter otherwise.
  SourcePlace place_of(std::string_view words, const SourcePlace& from) const;

 private:
  std::string text_;
};

}  // namespace trainscope::scenario
