// Knobs that are set to numbers, whole or not, and the numbers.
#pragma once

#include "program/knobs.h"

namespace trainscope::program {

inline bool is_numeric(const Knob& knob) {
  return knob.type == KnobType::kInteger || knob.type == KnobType::kBytes ||
         knob.type == KnobType::kNumber;
}

// Of such a knob's value.
inline double number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

}  // namespace trainscope::program
