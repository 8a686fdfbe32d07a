// How training goes: one row a step, and one an evaluation. They are kept in the trace beside the
// spans, so that a view can show them at any time of the run, and draw them while it goes on.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/time.h"

namespace trainscope::trace {

// Magnitudes by their power of two, as FP16's number line needs them: bin i counts 2^(kLeast+i) up
// to the next power; smaller ones are in the first bin, larger finite ones in the last.
struct Magnitudes {
  static constexpr int kLeast = -60;
  static constexpr int kMost = 30;
  static constexpr int kBins = kMost - kLeast + 1;

  std::array<std::uint32_t, kBins> bins{};
  std::uint32_t zeros = 0;
  std::uint32_t not_finite = 0;

  void add(float value) {
    if (value == 0) {
      ++zeros;
    } else if (!std::isfinite(value)) {
      ++not_finite;
    } else {
      const int power = std::ilogb(value);
      ++bins[static_cast<std::size_t>((power < kLeast  ? kLeast
                                       : power > kMost ? kMost
                                                       : power) -
                                      kLeast)];
    }
  }
  std::uint64_t total() const {
    std::uint64_t sum = std::uint64_t{zeros} + not_finite;
    for (const std::uint32_t bin : bins) sum += bin;
    return sum;
  }
};

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// A number that the run does not compute is kNoNumber.
struct TrainingStep {
  std::int64_t step = 0;
  Nanos time = 0;                 // when the stream had computed them
  bool has_loss = false;          // a loss of NaN is a loss
  double loss = kNoNumber;        // before scaling
  double loss_scale = kNoNumber;  // after the step
  double used_scale = kNoNumber;  // that the step's gradients were scaled by
  double gradient_norm = kNoNumber;
  bool skipped = false;  // the update, for an infinity
  // The gradients as backward gave them, scaled; none where no number is computed or none needed.
  bool has_gradients = false;
  Magnitudes gradients;
  // Of the values that backward rounded to FP16 or BF16: how many had not been zero (or infinite)
  // and became so.
  std::int64_t rounded = 0;
  std::int64_t lost_to_zero = 0;
  std::int64_t lost_to_infinity = 0;
  // Of the weights whose gradient was not zero when they were updated: how many there were, and how
  // many the update left as they were, for it was less than half the way to the next number of
  // their type. None where no gradients are noted.
  std::int64_t updated = 0;
  std::int64_t lost_updates = 0;
};

// The model on the test set.
struct Evaluation {
  std::int64_t step = 0;  // after so many
  Nanos time = 0;
  std::int64_t samples = 0;
  std::int64_t correct = 0;
};

}  // namespace trainscope::trace
