// Numbers as people write and read them: "64 MiB", "5.3 ms", "55.4 GB/s".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace trainscope {

// Reads "64 MiB", "1e9", "10 GB", "4096": a whole number of bytes. Nothing when it is not one or
// does not fit.
std::optional<std::int64_t> parse_bytes(std::string_view text);

// The factor of a unit as machine files and lessons write it ("GB/s" → 1e9, "us" → 1000 ns,
// "MiB", "TFLOP/s", "GHz", "%", "" → 1). Nothing when there is no such unit.
std::optional<double> unit_factor(std::string_view unit);

std::string format_nanos(double nanos);       // "5.31 ms", three significant digits
std::string format_bytes(double bytes);       // "64 MiB" (binary units)
std::string format_rate(double bytes_per_s);  // "55.4 GB/s" (decimal units)
std::string format_count(double value);       // "1,890", "27.2 k"

// "1 span", "2 spans".
std::string counted(std::size_t count, std::string_view thing);

// A factor such as a loss scale, whose digits matter: "65536", "0.72", and "2^32" for a power of
// two that is longer.
std::string format_factor(double value);

// A time that is less than a hundredth of its unit, in one that it fills: "3.3 us" of 0.0033 ms.
// Nothing for any other value or unit.
std::optional<std::string> in_smaller_unit(double value, std::string_view unit);

// A value in the unit of a metric or knob: ns, B, B/s, FLOP/s, samples/s, 1, %.
std::string format_value(double value, std::string_view unit);

}  // namespace trainscope
