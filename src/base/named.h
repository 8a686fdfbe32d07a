// Whose sentence it is.
#pragma once

#include <string>

namespace trainscope {

// "lesson.toml: the batch is empty": the sentence with what it is about in front, a file say, where
// it does not begin with that ("lesson.toml:3:8: ...").
inline std::string named(const std::string& name, const std::string& sentence) {
  return name.empty() || sentence.starts_with(name + ":") ? sentence : name + ": " + sentence;
}

}  // namespace trainscope
