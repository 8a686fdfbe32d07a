// A number with a fraction, from its letters.
#pragma once

#include <charconv>

namespace trainscope {

// As std::from_chars, which not every standard library has for double.
std::from_chars_result read_number(const char* first, const char* last, double& value);

// What does it where the library has none. It knows neither "inf" nor "nan", and what is too small
// to be told from 0 is 0.
std::from_chars_result scan_number(const char* first, const char* last, double& value);

}  // namespace trainscope
