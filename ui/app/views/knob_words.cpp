#include "ui/app/views/knob_words.h"

#include <variant>

namespace trainscope::ui {

// In a help that ends so: "a rank whose GPU is slow; -1: none".
std::string word_of(const program::Knob& knob, const program::Value& value) {
  constexpr std::size_t kLongest = 24;  // what is longer is a sentence
  if (std::holds_alternative<bool>(value) || std::holds_alternative<std::string>(value)) return "";
  const std::string code = "; " + program::spell(value) + ": ";
  const std::size_t at = knob.help.find(code);
  if (at == std::string::npos) return "";
  const std::size_t from = at + code.size();
  const std::string word = knob.help.substr(from, knob.help.find(';', from) - from);
  return word.size() <= kLongest ? word : "";
}

std::string shown_value(const program::Knob& knob, const program::Value& value) {
  const std::string word = word_of(knob, value);
  return word.empty() ? program::show(knob, value) : word;
}

}  // namespace trainscope::ui
