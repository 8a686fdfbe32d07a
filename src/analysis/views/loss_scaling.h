// Loss scaling on FP16's number line: where the gradients of a step lie before they are scaled and
// after, what FP16 would lose of them and what it does lose, and how the scale went.
//
// Magnitudes are known by their power of two (trace/training.h), so shares are exact up to what
// lies within one power: 2^-25 itself, which rounds to zero, and 65520 .. 65536, which overflow.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "trace/trace.h"

namespace trainscope::analysis {

// A narrow type's number line by powers of two. IEEE 754-2019, table 3.5: binary16 has 10 bits of
// fraction and exponents -14 .. 15; bfloat16 has 7 and -126 .. 127.
struct NumberLine {
  std::string_view name;  // "FP16"
  int zero_below;         // smaller than 2^this rounds to zero
  int smallest_normal;    // 2^this
  int infinite_from;      // 2^this and more overflows
};
NumberLine number_line(program::ElementType type);  // kFp16 or kBf16

// Whether the narrow type that a training calculates in is BF16: its weights', or else autocast's.
bool is_bf16(const program::Config& config);

enum class Region : std::uint8_t { kZero, kSubnormal, kNormal, kInfinity };
inline constexpr std::size_t kRegions = 4;
std::string_view name_of(Region region);  // "becomes 0", "subnormal"

// Shares of all gradients that are not zero, by power of two: the bins of trace::Magnitudes.
struct Spectrum {
  std::array<double, trace::Magnitudes::kBins> bins{};
  double infinite = 0;  // was infinite or NaN when it was counted

  // 2^power and what is less than twice that.
  double share_at(int power) const {
    return bins[static_cast<std::size_t>(power - trace::Magnitudes::kLeast)];
  }
  double share_in(Region region, const NumberLine& line) const;
  // Rounded to zero or overflown.
  double lost(const NumberLine& line) const;
  // The power in which most lie; none where there is nothing.
  std::optional<int> mode() const;
};

struct ScalingState {
  std::int64_t step = 0;  // from 0
  bool skipped = false;
  double scale = 1;     // that the gradients were multiplied by
  bool scaled = false;  // there is a loss scale
  bool has_gradients = false;
  double zeros = 0;        // of all gradients, the share that is zero
  Spectrum before, after;  // divided by the scale, and as backward gave them
  // Of the numbers that backward rounded: how many had not been zero (or infinite) and became so.
  std::int64_t rounded = 0, to_zero = 0, to_infinity = 0;
  // Steps without an infinity since the scale last changed, this one among them.
  std::int64_t clean = 0;
};

// Of the last step done by then; none before the first.
std::optional<ScalingState> scaling_at(const trace::Trace& trace, Nanos time);

// The step, from 0, of whose gradients FP16 loses, or would lose without scaling, the largest
// share: on the way to them and of themselves. Of equal ones the last; skipped steps only where all
// are. None where no gradients are known.
std::optional<std::uint32_t> step_that_loses_most(const trace::Trace& trace);

// The scale over the steps.
struct ScaleHistory {
  std::vector<double> scale;  // that a step used; NaN: it had none
  std::vector<std::int64_t> skipped;
  double least = 0, most = 0;  // 0: there is no scale

  bool empty() const { return most == 0; }
};
ScaleHistory scale_history(const trace::Trace& trace);

}  // namespace trainscope::analysis
