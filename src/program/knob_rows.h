// Rows of the knobs' table by the type of their values.
#pragma once

#include <string>
#include <utility>

#include "program/knob_table.h"

namespace trainscope::program {

inline Row flag(std::string name, bool initial) {
  return Row(std::move(name), KnobType::kBool, initial);
}
inline Row whole(std::string name, std::int64_t initial, double least, double most) {
  return Row(std::move(name), KnobType::kInteger, initial).range(least, most).unit("1");
}
inline Row size(std::string name, std::int64_t initial, double least, double most) {
  return Row(std::move(name), KnobType::kBytes, initial).range(least, most).unit("B");
}
inline Row number(std::string name, double initial, double least, double most) {
  return Row(std::move(name), KnobType::kNumber, initial).range(least, most).unit("1");
}
inline Row choice(std::string name, std::string initial) {
  return Row(std::move(name), KnobType::kChoice, std::move(initial));
}
inline Row text(std::string name, std::string initial, KnobType type = KnobType::kText) {
  return Row(std::move(name), type, std::move(initial));
}

}  // namespace trainscope::program
