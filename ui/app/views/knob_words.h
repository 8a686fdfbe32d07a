// The values of knobs as a person reads them: with the word that the knob's help has for one that
// is a code, as "-1: none" or "0: as delivered". Pure.
#pragma once

#include <string>

#include "program/knobs.h"

namespace trainscope::ui {

// "none" of straggler.rank=-1; empty: the value says itself what it is.
std::string word_of(const program::Knob& knob, const program::Value& value);

// "as delivered", "300 W".
std::string shown_value(const program::Knob& knob, const program::Value& value);

}  // namespace trainscope::ui
