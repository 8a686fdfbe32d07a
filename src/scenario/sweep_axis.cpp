// Reads which values a knob takes in a sweep.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/number_text.h"
#include "base/text.h"
#include "program/knob_number.h"
#include "scenario/sweep.h"

namespace trainscope::scenario {
namespace {

using program::Knob;
using program::KnobType;
using program::Value;

// A range's ends and how it goes on.
struct Range {
  std::string from, to;
  bool multiplies = true;
  double by = 2;
};

// "1 MiB" of a knob of bytes.
std::optional<double> bytes_in(const Knob& knob, std::string_view text) {
  if (knob.type != KnobType::kBytes) return std::nullopt;
  try {
    return program::number_of(program::parse_value(knob, text));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::optional<Range> range_in(const std::string& name, std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == text.npos) return std::nullopt;
  Range range;
  range.from = text.substr(0, dots);
  const std::string_view rest = text.substr(dots + 2);
  const std::size_t colon = rest.find(':');
  range.to = rest.substr(0, colon);
  if (colon == rest.npos) return range;
  const std::string_view step = rest.substr(colon + 1);
  const char* const end = step.data() + step.size();
  const bool known = step.starts_with('x') || step.starts_with('+');
  const auto read = known ? read_number(step.data() + 1, end, range.by)
                          : std::from_chars_result{end, std::errc::invalid_argument};
  range.multiplies = step.starts_with('x');
  if (read.ec == std::errc() && read.ptr == end) return range;
  const auto bytes = step.starts_with('+') ? bytes_in(program::find_knob(name), step.substr(1))
                                           : std::optional<double>();
  if (!bytes)
    throw InputError(
        fmt::format("{}: \"{}\" is no step of a range; write :x4 to multiply by 4, :+8 "
                    "to add 8, or nothing to double",
                    name, step));
  range.by = *bytes;
  return range;
}

// A value between two others, in the knob's own type: whole numbers stay whole.
Value value_at(const Knob& knob, double number) {
  if (knob.type == KnobType::kNumber) return program::checked(knob, number);
  return program::checked(knob, static_cast<std::int64_t>(std::llround(number)));
}

constexpr std::int64_t kMostRounds = 1'000'000;

void check_growth(const Knob& knob, const Range& range, double from, double to) {
  const bool grows = range.multiplies ? range.by > 1 && from > 0 : range.by > 0;
  if (from <= to && grows && std::isfinite(range.by)) {
    const double rounds =
        range.multiplies ? std::log(to / from) / std::log(range.by) : (to - from) / range.by;
    if (rounds <= kMostRounds) return;
    throw InputError(fmt::format(
        "{}: {}{:g} goes from {} to {} in more than {} steps; write a larger one", knob.name,
        range.multiplies ? "x" : "+", range.by, range.from, range.to, kMostRounds));
  }
  throw InputError(fmt::format(
      "{}: the range {}..{} never reaches its end by {}{:g}; write the smaller value first, and {}",
      knob.name, range.from, range.to, range.multiplies ? "x" : "+", range.by,
      range.multiplies ? "multiply what is above 0 by more than 1, or add, as :+1"
                       : "add more than 0"));
}

std::vector<Value> values_of(const Knob& knob, const Range& range) {
  if (!program::is_numeric(knob))
    throw InputError(knob.name + " is no number, and has no range; list its values: " + knob.name +
                     "=" +
                     (knob.type == KnobType::kBool ? "true,false"
                      : knob.choices.size() > 1    ? knob.choices[0] + "," + knob.choices[1]
                                                   : "a,b"));
  const double from = program::number_of(program::parse_value(knob, range.from));
  const double to = program::number_of(program::parse_value(knob, range.to));
  check_growth(knob, range, from, to);
  std::vector<Value> values;
  const double hair = std::abs(to) * 1e-12;  // so that 0.1..0.3:+0.1 has three values
  for (double i = 0; values.size() <= kMostCombinations; ++i) {
    const double number = range.multiplies ? from * std::pow(range.by, i) : from + range.by * i;
    if (number > to + hair) break;
    Value value = value_at(knob, std::min(number, to));
    if (values.empty() || values.back() != value) values.push_back(std::move(value));
  }
  return values;
}

// "1, 2" is as good as "1,2".
std::vector<Value> listed_values(const Knob& knob, std::string_view text) {
  std::vector<Value> values;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    values.push_back(program::parse_value(knob, trimmed(text.substr(start, comma - start))));
    start = comma + 1;
  }
  return values;
}

void check_once(const Knob& knob, const std::vector<Value>& values) {
  const std::set<Value> all(values.begin(), values.end());
  for (const Value& value : all)
    if (std::count(values.begin(), values.end(), value) > 1)
      throw InputError(knob.name + " takes the value " + program::spell(value) +
                       " twice; give it once");
}

}  // namespace

void refuse_too_many(std::size_t count) {
  if (count > kMostCombinations)
    throw InputError(
        fmt::format("a sweep has at most {} combinations; give fewer values, or a "
                    "larger step (lo..hi:x4)",
                    kMostCombinations));
}

SweepAxis parse_axis(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size())
    throw InputError(
        "\"" + std::string(text) +
        "\" varies nothing; write knob=a,b,c or knob=lo..hi, as in batch_size=1..1024");
  SweepAxis axis;
  axis.knob = &program::find_knob(text.substr(0, equals));
  const std::string_view values = text.substr(equals + 1);
  const std::optional<Range> range = range_in(axis.knob->name, values);
  axis.values = range ? values_of(*axis.knob, *range) : listed_values(*axis.knob, values);
  check_once(*axis.knob, axis.values);
  refuse_too_many(axis.values.size());
  return axis;
}

std::string spell_value(const Knob& knob, const Value& value) {
  if (knob.type != KnobType::kBytes) return program::spell(value);
  std::string words = program::show(knob, value);
  try {
    if (program::parse_value(knob, words) == value) return words;
  } catch (const InputError&) {
    // "1.33 MiB" is no whole number of bytes.
  }
  return program::spell(value);
}

std::string spell_values(const SweepAxis& axis) {
  std::string words;
  for (const Value& value : axis.values) add_to_list(words, spell_value(*axis.knob, value));
  return words;
}

std::optional<double> place_on(const SweepAxis& axis, const Value& value) {
  const auto& values = axis.values;
  const auto found = std::find(values.begin(), values.end(), value);
  if (found != values.end()) return static_cast<double>(found - values.begin());
  if (!program::is_numeric(*axis.knob)) return std::nullopt;
  const double wanted = program::number_of(value);
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const double from = program::number_of(values[i]), to = program::number_of(values[i + 1]);
    if (wanted < std::min(from, to) || wanted > std::max(from, to)) continue;
    return static_cast<double>(i) + (wanted - from) / (to - from);
  }
  return std::nullopt;
}

bool is_ordered(const SweepAxis& axis) {
  return program::is_numeric(*axis.knob);
}

}  // namespace trainscope::scenario
