#include "analysis/views/loss_scaling.h"

#include <algorithm>
#include <cmath>

namespace trainscope::analysis {
namespace {

using trace::Magnitudes;
using trace::TrainingStep;

Spectrum as_counted(const Magnitudes& magnitudes) {
  Spectrum spectrum;
  const auto all = static_cast<double>(magnitudes.total() - magnitudes.zeros);
  if (all == 0) return spectrum;
  for (std::size_t i = 0; i < spectrum.bins.size(); ++i)
    spectrum.bins[i] = magnitudes.bins[i] / all;
  spectrum.infinite = magnitudes.not_finite / all;
  return spectrum;
}

// The finite ones divided by `scale`. Where that is no power of two a bin's numbers fall into two,
// taken to lie evenly over the powers.
Spectrum divided(const Spectrum& spectrum, double scale) {
  Spectrum out;
  const double finite = 1 - spectrum.infinite, powers = std::log2(scale);
  if (!(finite > 0) || !std::isfinite(powers)) return out;
  const double whole = std::floor(powers), rest = powers - whole;
  const auto add = [&out](double power, double share) {
    const double last = Magnitudes::kBins - 1;
    const double bin = std::clamp(power - Magnitudes::kLeast, 0.0, last);
    out.bins[static_cast<std::size_t>(bin)] += share;
  };
  for (std::size_t i = 0; i < spectrum.bins.size(); ++i) {
    const double power = Magnitudes::kLeast + static_cast<double>(i) - whole;
    const double share = spectrum.bins[i] / finite;
    if (share == 0) continue;
    add(power, share * (1 - rest));
    if (rest > 0) add(power - 1, share * rest);
  }
  return out;
}

Region region_of(int power, const NumberLine& line) {
  if (power < line.zero_below) return Region::kZero;
  if (power < line.smallest_normal) return Region::kSubnormal;
  return power < line.infinite_from ? Region::kNormal : Region::kInfinity;
}

// How many steps were done by then.
std::uint32_t done_by(const trace::Trace& trace, Nanos time) {
  std::uint32_t first = 0, last = trace.steps().size();
  while (first < last) {
    const std::uint32_t middle = first + (last - first) / 2;
    if (trace.steps()[middle].time <= time)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

double scale_of(const TrainingStep& step) {
  return std::isfinite(step.used_scale) ? step.used_scale : 1;
}

// Of what backward gave and of what it rounded on the way to it.
double lost_by(const TrainingStep& step) {
  const Spectrum before = divided(as_counted(step.gradients), scale_of(step));
  const double on_the_way =
      step.rounded > 0 ? static_cast<double>(step.lost_to_zero) / static_cast<double>(step.rounded)
                       : 0;
  return before.lost(number_line(program::ElementType::kFp16)) + on_the_way;
}

std::int64_t clean_steps(const trace::Trace& trace, std::uint32_t step) {
  std::int64_t clean = 0;
  for (std::uint32_t i = step + 1; i > 0; --i) {
    const TrainingStep& one = trace.steps()[i - 1];
    // A step after which the scale grew was the last clean one of its row.
    if (one.skipped || one.loss_scale > one.used_scale) break;
    ++clean;
  }
  return clean;
}

}  // namespace

NumberLine number_line(program::ElementType type) {
  if (type == program::ElementType::kBf16) return {"BF16", -134, -126, 128};
  return {"FP16", -25, -14, 16};
}

bool is_bf16(const program::Config& config) {
  const std::string& weights = config.word("model.dtype");
  return (weights != "fp32" ? weights : config.word("autocast.dtype")) == "bf16";
}

std::string_view name_of(Region region) {
  static constexpr std::string_view kNames[kRegions] = {"becomes 0", "subnormal", "normal",
                                                        "infinity"};
  return kNames[static_cast<std::size_t>(region)];
}

double Spectrum::share_in(Region region, const NumberLine& line) const {
  double sum = region == Region::kInfinity ? infinite : 0;
  for (std::size_t i = 0; i < bins.size(); ++i)
    if (region_of(Magnitudes::kLeast + static_cast<int>(i), line) == region) sum += bins[i];
  return sum;
}

double Spectrum::lost(const NumberLine& line) const {
  return share_in(Region::kZero, line) + share_in(Region::kInfinity, line);
}

std::optional<int> Spectrum::mode() const {
  const auto most = std::max_element(bins.begin(), bins.end());
  if (*most == 0) return std::nullopt;
  return Magnitudes::kLeast + static_cast<int>(most - bins.begin());
}

std::optional<ScalingState> scaling_at(const trace::Trace& trace, Nanos time) {
  const std::uint32_t done = done_by(trace, time);
  if (done == 0) return std::nullopt;
  const TrainingStep& step = trace.steps()[done - 1];
  ScalingState state;
  state.step = done - 1;
  state.skipped = step.skipped;
  state.scaled = std::isfinite(step.used_scale);
  state.scale = scale_of(step);
  state.has_gradients = step.has_gradients;
  if (const auto all = static_cast<double>(step.gradients.total()); all > 0)
    state.zeros = step.gradients.zeros / all;
  state.after = as_counted(step.gradients);
  state.before = divided(state.after, state.scale);
  state.rounded = step.rounded;
  state.to_zero = step.lost_to_zero;
  state.to_infinity = step.lost_to_infinity;
  if (state.scaled) state.clean = clean_steps(trace, done - 1);
  return state;
}

std::optional<std::uint32_t> step_that_loses_most(const trace::Trace& trace) {
  std::optional<std::uint32_t> most;
  double lost = 0;
  for (std::uint32_t i = 0, n = trace.steps().size(); i < n; ++i) {
    const TrainingStep& step = trace.steps()[i];
    if (!step.has_gradients) continue;
    const bool over_skipped = most && trace.steps()[*most].skipped && !step.skipped;
    const bool skipped_late = most && step.skipped && !trace.steps()[*most].skipped;
    const double here = lost_by(step);
    if (most && !over_skipped && (skipped_late || here < lost)) continue;
    most = i;
    lost = here;
  }
  return most;
}

ScaleHistory scale_history(const trace::Trace& trace) {
  ScaleHistory history;
  for (std::uint32_t i = 0, n = trace.steps().size(); i < n; ++i) {
    const TrainingStep& step = trace.steps()[i];
    history.scale.push_back(step.used_scale);
    if (step.skipped) history.skipped.push_back(i);
    if (!std::isfinite(step.used_scale)) continue;
    history.least = history.empty() ? step.used_scale : std::min(history.least, step.used_scale);
    history.most = std::max(history.most, step.used_scale);
  }
  return history;
}

}  // namespace trainscope::analysis
