#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace trainscope {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kUnits{
    Unit{"", 1},          Unit{"1", 1},        Unit{"%", 0.01},      Unit{"x", 1},
    Unit{"B", 1},         Unit{"KB", 1e3},     Unit{"kB", 1e3},      Unit{"MB", 1e6},
    Unit{"GB", 1e9},      Unit{"TB", 1e12},    Unit{"KiB", 0x1p10},  Unit{"MiB", 0x1p20},
    Unit{"GiB", 0x1p30},  Unit{"TiB", 0x1p40}, Unit{"B/s", 1},       Unit{"KB/s", 1e3},
    Unit{"MB/s", 1e6},    Unit{"GB/s", 1e9},   Unit{"TB/s", 1e12},   Unit{"GiB/s", 0x1p30},
    Unit{"ns", 1},        Unit{"us", 1e3},     Unit{"ms", 1e6},      Unit{"s", 1e9},
    Unit{"Hz", 1},        Unit{"MHz", 1e6},    Unit{"GHz", 1e9},     Unit{"FLOP", 1},
    Unit{"GFLOP", 1e9},   Unit{"FLOP/s", 1},   Unit{"GFLOP/s", 1e9}, Unit{"TFLOP/s", 1e12},
    Unit{"samples/s", 1}, Unit{"tokens/s", 1}, Unit{"k", 1e3},       Unit{"M", 1e6},
    Unit{"W", 1},
};

// What becomes of zeros at the end. "49.0" says how exact it is; 64 is exact, and so is 1.5 where
// it was given; but a time of 1.3 us stands beside one of 1.27 us.
enum class Zeros : std::uint8_t { kNoneIfExact, kNoneIfWhole };

std::string without_zeros(std::string text) {
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string three_digits(double value, Zeros zeros = Zeros::kNoneIfExact) {
  constexpr double kExact = 1e-9;  // of the value: what arithmetic may have rounded
  const double size = std::abs(value);
  if (size > 0 && size < 0.00995) return fmt::format("{:.3g}", value);
  const int digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (text.find('.') == std::string::npos) return text;
  const std::string brief = without_zeros(text);
  const bool is_exact = std::abs(std::strtod(brief.c_str(), nullptr) - value) <= kExact * size;
  const bool is_whole = brief.find('.') == std::string::npos;
  return is_exact && (is_whole || zeros == Zeros::kNoneIfExact) ? brief : text;
}

template <std::size_t N>
std::string scaled(double value, const std::array<Unit, N>& units,
                   Zeros zeros = Zeros::kNoneIfExact) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < N; ++i)
    if (std::abs(value) >= units[i].factor * 0.9995) best = i;
  return fmt::format("{} {}", three_digits(value / units[best].factor, zeros), units[best].name);
}

// Of a hundred; a share is never written with a power of ten.
std::string percent(double value) {
  constexpr double kPowersBelow = 1e-4;  // that is where three digits have them
  const double size = std::abs(value);
  if (!(size > 0 && size < kPowersBelow)) return three_digits(value);
  const int digits = std::min(1 - static_cast<int>(std::floor(std::log10(size))), 9);
  return without_zeros(fmt::format("{:.{}f}", value, digits));
}

// "1,379" of 1379: of a number before its unit.
std::string grouped(std::string text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  std::size_t at = std::min(text.find_first_not_of("0123456789", first), text.size());
  for (; at > first + 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

// "1.5", "27.2 k", and beyond the last prefix "1,379 T".
std::string prefixed(double value) {
  static constexpr std::array kCounts{Unit{"", 1}, Unit{"k", 1e3}, Unit{"M", 1e6}, Unit{"G", 1e9},
                                      Unit{"T", 1e12}};
  std::string text = grouped(scaled(value, kCounts));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

std::optional<double> unit_factor(std::string_view unit) {
  for (const Unit& known : kUnits)
    if (known.name == unit) return known.factor;
  return std::nullopt;
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  const std::string copy(text);
  char* rest = nullptr;
  const double number = std::strtod(copy.c_str(), &rest);
  if (rest == copy.c_str()) return std::nullopt;
  std::string_view unit(rest);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const bool of_bytes = unit.empty() || (unit.ends_with('B') && unit.find('/') == unit.npos);
  const auto factor = unit_factor(unit);
  if (!factor || !of_bytes) return std::nullopt;
  const double bytes = number * *factor;
  if (!(std::abs(bytes) < 0x1p62) || bytes != std::floor(bytes)) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

std::string format_nanos(double nanos) {
  static constexpr std::array kTimes{Unit{"ns", 1}, Unit{"us", 1e3}, Unit{"ms", 1e6},
                                     Unit{"s", 1e9}};
  return scaled(nanos, kTimes, Zeros::kNoneIfWhole);
}

std::string format_bytes(double bytes) {
  static constexpr std::array kBytes{Unit{"B", 1}, Unit{"KiB", 0x1p10}, Unit{"MiB", 0x1p20},
                                     Unit{"GiB", 0x1p30}, Unit{"TiB", 0x1p40}};
  return scaled(bytes, kBytes);
}

std::string format_rate(double bytes_per_s) {
  static constexpr std::array kRates{Unit{"B/s", 1}, Unit{"KB/s", 1e3}, Unit{"MB/s", 1e6},
                                     Unit{"GB/s", 1e9}, Unit{"TB/s", 1e12}};
  return scaled(bytes_per_s, kRates);
}

std::string format_count(double value) {
  const double size = std::abs(value);
  if (size < 999.5 || size >= 9'999.5) return prefixed(value);
  return grouped(fmt::format("{:.0f}", value));
}

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string format_factor(double value) {
  constexpr double kLongest = 0x1p20;
  if (std::abs(value) < 1 || !std::isfinite(value)) return format_count(value);
  if (std::abs(value) < kLongest) return fmt::format("{}", value);
  const double powers = std::log2(value);
  return powers == std::round(powers) ? fmt::format("2^{:.0f}", powers) : format_count(value);
}

std::optional<std::string> in_smaller_unit(double value, std::string_view unit) {
  static constexpr std::array<std::string_view, 4> kTimes{"s", "ms", "us", "ns"};
  auto at = std::find(kTimes.begin(), kTimes.end(), unit);
  const bool small = value != 0 && std::abs(value) < 0.01;
  if (at == kTimes.end() || !small) return std::nullopt;
  for (; std::abs(value) < 1 && at + 1 != kTimes.end(); ++at) value *= 1000;
  return fmt::format("{:.6g} {}", value, *at);
}

std::string format_value(double value, std::string_view unit) {
  if (unit == "ns") return format_nanos(value);
  if (unit == "B") return format_bytes(value);
  if (unit == "B/s") return format_rate(value);
  if (unit == "%") return percent(100 * value) + " %";
  if (unit == "1" || unit.empty()) return format_count(value);
  if (const auto smaller = in_smaller_unit(value, unit)) return *smaller;
  // "10.8 TFLOP/s", but "3.29 M samples/s".
  const bool takes_prefix = unit.front() >= 'A' && unit.front() <= 'Z';
  const std::string text = takes_prefix ? prefixed(value) : format_count(value);
  const bool has_prefix = text.find(' ') != std::string::npos;
  return text + (has_prefix && takes_prefix ? "" : " ") + std::string(unit);
}

}  // namespace trainscope
