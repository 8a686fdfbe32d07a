#include "base/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <version>

namespace trainscope {
namespace {

const char* after_digits(const char* at, const char* last) {
  return std::find_if_not(at, last, [](char letter) { return letter >= '0' && letter <= '9'; });
}

// Behind the longest number that begins at `first`; `first` where none does.
const char* end_of_number(const char* first, const char* last) {
  const char* const whole = first != last && *first == '-' ? first + 1 : first;
  const char* end = after_digits(whole, last);
  bool any = end != whole;
  if (end != last && *end == '.') {
    const char* const fraction = after_digits(end + 1, last);
    any = any || fraction != end + 1;
    if (any) end = fraction;
  }
  if (!any) return first;
  if (end == last || (*end != 'e' && *end != 'E')) return end;
  const char* exponent = end + 1;
  if (exponent != last && (*exponent == '+' || *exponent == '-')) ++exponent;
  const char* const behind = after_digits(exponent, last);
  return behind == exponent ? end : behind;
}

}  // namespace

std::from_chars_result scan_number(const char* first, const char* last, double& value) {
  const char* const end = end_of_number(first, last);
  if (end == first) return {first, std::errc::invalid_argument};
  const double read = std::strtod(std::string(first, end).c_str(), nullptr);
  if (std::isinf(read)) return {end, std::errc::result_out_of_range};
  value = read;
  return {end, std::errc()};
}

std::from_chars_result read_number(const char* first, const char* last, double& value) {
#ifdef __cpp_lib_to_chars
  return std::from_chars(first, last, value);
#else
  return scan_number(first, last, value);
#endif
}

}  // namespace trainscope
