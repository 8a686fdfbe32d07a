#include "program/knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "base/error.h"
#include "base/number_text.h"
#include "base/text.h"
#include "base/units.h"
#include "program/knob_number.h"
#include "program/knob_table.h"
#include "program/usual_names.h"

namespace trainscope::program {
namespace {

[[noreturn]] void refuse(const Knob& knob, const std::string& why) {
  throw InputError(knob.name + ": " + why);
}

std::string in_words(const Value& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return "\"" + *word + "\"";
  return spell(value);
}

bool is_number(const Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

std::string range_of(const Knob& knob) {
  const auto spelled = [&](double bound) {
    if (knob.type == KnobType::kInteger) return fmt::format("{:.0f}", bound);
    return knob.type == KnobType::kBytes ? format_bytes(bound) : fmt::format("{:g}", bound);
  };
  return "from " + spelled(knob.least) + " to " + spelled(knob.most);
}

Value checked_number(const Knob& knob, const Value& given) {
  Value value = given;
  if (const auto* word = std::get_if<std::string>(&given); word && knob.type == KnobType::kBytes) {
    const auto bytes = parse_bytes(*word);
    if (!bytes)
      refuse(knob,
             "\"" + *word + "\" is not a size " + range_of(knob) + "; write bytes, or 64 MiB");
    value = *bytes;
  }
  if (!is_number(value))
    refuse(knob, in_words(given) + " is not a number; give one " + range_of(knob));
  const double number = number_of(value);
  if (!std::isfinite(number) || number < knob.least || number > knob.most)
    refuse(knob, spell(value) + " is out of range; give a value " + range_of(knob));
  if (knob.type == KnobType::kNumber) return number;
  if (number != std::floor(number)) refuse(knob, spell(value) + " is not a whole number");
  return static_cast<std::int64_t>(number);
}

Value checked_choice(const Knob& knob, const Value& value) {
  const auto* word = std::get_if<std::string>(&value);
  const auto in = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), *word) != list.end();
  };
  if (!word || !in(knob.choices))
    refuse(knob, in_words(value) + " is none of " + joined(knob.choices) +
                     (word ? did_you_mean_choice(*word, knob.choices) : ""));
  if (!in(knob.built_choices))
    refuse(knob, *word + " is declared but not built yet; what runs today: " +
                     joined(knob.built_choices));
  return value;
}

}  // namespace

const std::vector<Knob>& knobs() {
  static const std::vector<Knob> table = [] {
    std::vector<Knob> rows;
    add_run_knobs(rows);
    add_microbench_knobs(rows);
    add_replay_knobs(rows);
    add_training_knobs(rows);
    add_input_knobs(rows);
    add_parallel_knobs(rows);
    return rows;
  }();
  return table;
}

std::vector<std::string> knob_names() {
  std::vector<std::string> names;
  for (const Knob& knob : knobs()) names.push_back(knob.name);
  return names;
}

const Knob* find_knob_or_null(std::string_view name) {
  // A program is built by asking for hundreds of values, and a frame is drawn by asking again.
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Knob*> found;
    for (const Knob& knob : knobs()) found.try_emplace(knob.name, &knob);
    return found;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

const Knob& find_knob(std::string_view name) {
  if (const Knob* knob = find_knob_or_null(name)) return *knob;
  throw InputError("there is no knob " + std::string(name) + did_you_mean_knob(name) +
                   "; `trainscope knobs` lists them");
}

Value checked(const Knob& knob, const Value& value) {
  Value result = value;
  switch (knob.type) {
    case KnobType::kBool:
      if (!std::holds_alternative<bool>(value))
        refuse(knob, in_words(value) + " is neither true nor false");
      break;
    case KnobType::kInteger:
    case KnobType::kBytes:
    case KnobType::kNumber:
      result = checked_number(knob, value);
      break;
    case KnobType::kChoice:
      result = checked_choice(knob, value);
      break;
    case KnobType::kList:
    case KnobType::kText:
      if (!std::holds_alternative<std::string>(value)) result = spell(value);
      break;
  }
  return result;
}

Value parse_value(const Knob& knob, std::string_view text) {
  const std::string word(text);
  if (knob.type == KnobType::kBool) {
    for (const char* yes : {"true", "True", "1", "on", "yes"})
      if (word == yes) return checked(knob, true);
    for (const char* no : {"false", "False", "0", "off", "no"})
      if (word == no) return checked(knob, false);
    return checked(knob, word);
  }
  if (knob.type == KnobType::kInteger || knob.type == KnobType::kNumber) {
    double number = 0;
    const auto [rest, error] = read_number(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && rest == word.data() + word.size()) {
      std::int64_t whole = 0;
      const auto exact = std::from_chars(word.data(), word.data() + word.size(), whole);
      if (exact.ec == std::errc() && exact.ptr == word.data() + word.size())
        return checked(knob, whole);
      return checked(knob, number);
    }
  }
  return checked(knob, word);
}

std::string spell(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return std::get<std::string>(value);
}

std::string show(const Knob& knob, const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (knob.type == KnobType::kBytes) return format_bytes(number_of(value));
  if (is_number(value))
    if (const auto smaller = in_smaller_unit(number_of(value), knob.unit)) return *smaller;
  const std::string text = spell(value);
  return knob.unit.empty() || knob.unit == "1" ? text : text + " " + knob.unit;
}

std::string_view name_of(KnobType type) {
  switch (type) {
    case KnobType::kBool:
      return "true or false";
    case KnobType::kInteger:
      return "whole number";
    case KnobType::kBytes:
      return "bytes";
    case KnobType::kNumber:
      return "number";
    case KnobType::kChoice:
      return "choice";
    case KnobType::kList:
      return "list";
    case KnobType::kText:
      return "text";
  }
  return "";
}

}  // namespace trainscope::program
