// A config: the knobs of one run that differ from their defaults.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "program/knobs.h"

namespace trainscope::program {

class Config {
 public:
  // Sets a knob after checking the value. Throws InputError.
  void set(std::string_view name, const Value& value);
  // "knob=value", as --set takes it. Throws InputError.
  void set_text(std::string_view assignment);

  // The value of a knob: its own, or the default that it has in this config (decided_defaults.h).
  // The name and type must be right (our own code asks): a wrong one is an assertion.
  bool flag(std::string_view name) const;
  std::int64_t whole(std::string_view name) const;
  double number(std::string_view name) const;
  const std::string& word(std::string_view name) const;
  const Value& value(std::string_view name) const;

  bool is_set(std::string_view name) const;
  const std::map<std::string, Value, std::less<>>& values() const { return values_; }

  // Takes over every knob that `over` sets.
  void override_with(const Config& over);

  bool operator==(const Config&) const = default;

 private:
  std::map<std::string, Value, std::less<>> values_;
};

// Names of the knobs in which two configs differ, of those that either sets, in registry order.
std::vector<std::string> differing_knobs(const Config& a, const Config& b);

}  // namespace trainscope::program
