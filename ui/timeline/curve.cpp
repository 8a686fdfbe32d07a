// The line of a counter: of each pixel the largest value.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/timeline/place.h"

namespace trainscope::ui {
namespace {

using trace::Trace;

// Goes through a counter's samples from one pixel to the next, in blocks as large as fit.
class Walk {
 public:
  // A block that lasts no longer than `slack` counts where it begins.
  Walk(const Trace& trace, const Counter& counter, Nanos slack)
      : trace_(trace), counter_(counter), slack_(slack) {}

  // Past all samples up to this time.
  void skip_to(Nanos time) {
    const auto past = std::partition_point(
        counter_.samples.begin(), counter_.samples.end(),
        [&](std::uint32_t sample) { return trace_.samples()[sample].time <= time; });
    next_ = static_cast<std::size_t>(past - counter_.samples.begin());
  }

  // The largest value up to `end` of the samples not passed yet; where there is none, the value of
  // the last one before.
  double value_until(Nanos end) {
    double most = kNothing;
    while (next_ < counter_.samples.size() && next_time() <= end) {
      while (fits(level_ + 1, end)) ++level_;
      while (level_ > 0 && !fits(level_, end)) --level_;
      most = std::max(most, level_ == 0 ? sample(next_).value : block(level_).value);
      next_ += length(level_);
    }
    if (most != kNothing) return most;
    return next_ == 0 ? counter_.least : sample(next_ - 1).value;
  }

 private:
  static constexpr double kNothing = -std::numeric_limits<double>::infinity();

  const trace::Sample& sample(std::size_t at) const {
    return trace_.samples()[counter_.samples[at]];
  }
  // Of the blocks of a level; level 0 is the samples.
  static std::size_t length(std::size_t level) {
    std::size_t length = level == 0 ? 1 : Counter::kBlock;
    for (; level > 1; --level) length *= Counter::kStep;
    return length;
  }
  const Peak& block(std::size_t level) const {
    return counter_.peaks[level - 1][next_ / length(level)];
  }
  // Of the next sample; that of the block it begins, where it does, lies nearer in memory.
  Nanos next_time() const {
    return level_ > 0 && begins_block(level_) ? block(level_).time : sample(next_).time;
  }
  bool begins_block(std::size_t level) const {
    return level <= counter_.peaks.size() && next_ % length(level) == 0;
  }
  // Whether a whole block begins at the next sample, and belongs to what ends at `end`.
  bool fits(std::size_t level, Nanos end) const {
    if (!begins_block(level) || next_ + length(level) >= counter_.samples.size()) return false;
    const Peak* here = &block(level);
    const Nanos after = here[1].time;
    return after <= end || after - here->time <= slack_;
  }

  const Trace& trace_;
  const Counter& counter_;
  Nanos slack_ = 0;
  std::size_t next_ = 0;   // sample
  std::size_t level_ = 0;  // of the last block
};

}  // namespace

Curve curve_of(const Trace& trace, const Counter& counter, const LaneBox& box,
               const LayoutRequest& request) {
  const float pad = std::round(box.height * 0.1F);
  Curve curve;
  curve.lane = box.lane;
  curve.y = box.y + pad;
  curve.height = box.height - 2 * pad;
  curve.least = counter.least;
  curve.most = counter.most;
  curve.top = request.counter_tops ? request.counter_tops->at(box.lane)
                                   : counter_top(trace.lanes()[box.lane], counter);
  const double nanos_per_pixel =
      static_cast<double>(request.view_end - request.view_start) / request.width;
  const double range = std::max(curve.top.value - counter.least, 1e-300);
  Walk walk(trace, counter, static_cast<Nanos>(nanos_per_pixel));
  walk.skip_to(request.view_start);
  for (float x = 0; x <= request.width; x += 1) {
    const double shown = walk.value_until(
        request.view_start + static_cast<Nanos>(static_cast<double>(x) * nanos_per_pixel));
    const auto share = static_cast<float>((shown - counter.least) / range);
    const float y = curve.y + curve.height * (1 - share);
    if (curve.points.empty() || curve.points.back().second != y || x + 1 > request.width)
      curve.points.emplace_back(x, y);
  }
  return curve;
}

}  // namespace trainscope::ui
