#include "program/config.h"

#include "base/error.h"
#include "program/decided_defaults.h"

namespace trainscope::program {

void Config::set(std::string_view name, const Value& value) {
  const Knob& knob = find_knob(name);
  values_[knob.name] = checked(knob, value);
}

void Config::set_text(std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw InputError("\"" + std::string(assignment) +
                     "\" sets nothing; write knob=value, as in copy.bytes=67108864");
  const Knob& knob = find_knob(assignment.substr(0, equals));
  values_[knob.name] = parse_value(knob, assignment.substr(equals + 1));
}

const Value& Config::value(std::string_view name) const {
  if (const auto found = values_.find(name); found != values_.end()) return found->second;
  return default_in(*this, find_knob(name));
}

bool Config::flag(std::string_view name) const {
  return std::get<bool>(value(name));
}
std::int64_t Config::whole(std::string_view name) const {
  return std::get<std::int64_t>(value(name));
}
double Config::number(std::string_view name) const {
  return std::get<double>(value(name));
}
const std::string& Config::word(std::string_view name) const {
  return std::get<std::string>(value(name));
}

bool Config::is_set(std::string_view name) const {
  return values_.find(name) != values_.end();
}

void Config::override_with(const Config& over) {
  for (const auto& [name, value] : over.values_) values_[name] = value;
}

std::vector<std::string> differing_knobs(const Config& a, const Config& b) {
  std::vector<std::string> names;
  for (const Knob& knob : knobs()) {
    const bool in_a = a.is_set(knob.name), in_b = b.is_set(knob.name);
    if (!in_a && !in_b) continue;
    if (a.value(knob.name) != b.value(knob.name) || (in_a != in_b && counts_when_set(knob.name)))
      names.push_back(knob.name);
  }
  return names;
}

}  // namespace trainscope::program
