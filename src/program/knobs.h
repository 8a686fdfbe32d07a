// The knob registry: every setting of a run, once. It feeds the TOML reader, --set, the sliders,
// the listing and the documentation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainscope::program {

// A list is kept as text, "3, 7".
using Value = std::variant<bool, std::int64_t, double, std::string>;

enum class KnobType { kBool, kInteger, kBytes, kNumber, kChoice, kList, kText };

struct Knob {
  std::string name;  // "loader.pin_memory"
  KnobType type = KnobType::kText;
  Value initial;     // the default
  double least = 0;  // of a number
  double most = 0;
  double usual_most = 0;                   // where a slider ends; 0: by the default
  std::string unit;                        // "B", "ms", "1", "" for words
  std::vector<std::string> choices;        // of a choice
  std::vector<std::string> built_choices;  // those that run already
  bool is_path = false;                    // a text that names a file or a folder
  std::string pytorch;                     // its PyTorch spelling, if it has one
  std::string help;                        // one line
};

// All knobs, in the order in which they are shown.
const std::vector<Knob>& knobs();

// Throws InputError with "did you mean" for an unknown name.
const Knob& find_knob(std::string_view name);
const Knob* find_knob_or_null(std::string_view name);
std::vector<std::string> knob_names();

// Checks type, range and that the value is built; returns it in the knob's own type (a whole
// number for 64.0, bytes for "64 MiB"). Throws InputError with one sentence.
Value checked(const Knob& knob, const Value& value);

// Reads a value as --set and the sliders give it. Throws InputError.
Value parse_value(const Knob& knob, std::string_view text);

// As a person reads it: "64 MiB", "True", "0.25".
std::string show(const Knob& knob, const Value& value);
// As --set takes it back: "67108864", "true".
std::string spell(const Value& value);
std::string_view name_of(KnobType type);

}  // namespace trainscope::program
