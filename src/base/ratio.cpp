#include "base/ratio.h"

#include <fmt/format.h>

#include <cmath>

namespace trainscope {
namespace {

constexpr double kLongest = 1e12;  // that is written digit by digit

// "18,200": a whole number of three significant digits.
std::string rounded(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  std::string digits = fmt::format("{:.0f}", unit > 1 ? std::round(value / unit) * unit : value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string of_positive(double ratio) {
  if (ratio >= kLongest || ratio <= 1 / kLongest) return fmt::format("{:.2g}", ratio);
  if (ratio >= 99.95) return rounded(ratio);
  if (ratio < 0.00995) return "1/" + rounded(1 / ratio);
  const int digits = ratio >= 9.995 ? 1 : ratio >= 0.0995 ? 2 : 3;
  return fmt::format("{:.{}f}", ratio, digits);
}

}  // namespace

std::string format_ratio(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  if (ratio == 0) return "0";
  return (ratio < 0 ? "-" : "") + of_positive(std::abs(ratio));
}

}  // namespace trainscope
