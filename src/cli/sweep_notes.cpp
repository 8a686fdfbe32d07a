#include "cli/sweep_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.h"
#include "machine/machine.h"
#include "train/parallel/parallel.h"

namespace trainscope::cli {
namespace {

using scenario::LabelledConfig;
using scenario::Sweep;
using scenario::SweepPoint;

constexpr std::string_view kOutOfMemory = "out of memory";

bool is_complete(const SweepPoint::Side& side) {
  return side.ending.empty() && side.refused.empty();
}

std::string of_side(const SweepPoint& point, const SweepPoint::Side& side) {
  return point.sides.size() > 1 ? side.label + ": " : "";
}

bool varies(const Sweep& sweep, std::string_view knob) {
  return std::ranges::any_of(
      sweep.axes, [&](const scenario::SweepAxis& axis) { return axis.knob->name == knob; });
}

// "Best throughput: batch_size = 6, 60.2 samples/s", as batches may differ; of tokens, where
// sequences do. Empty where fewer than two rows can be held against one another, as those of
// several models cannot.
std::string best_words(const Sweep& sweep, std::size_t side) {
  if (varies(sweep, "model.name")) return "";
  const analysis::Metric& metric = analysis::find_metric(
      varies(sweep, "model.seq_len") ? "throughput.tokens" : "throughput.samples");
  const SweepPoint* best = nullptr;
  double of_best = 0;
  std::set<double> values;
  for (const SweepPoint& point : sweep.points) {
    const auto value = analysis::value_of(point.sides[side].metrics, metric.name);
    if (!value || !std::isfinite(*value) || !is_complete(point.sides[side])) continue;
    values.insert(*value);
    if (best && *value <= of_best) continue;
    best = &point;
    of_best = *value;
  }
  if (values.size() < 2) return "";
  return fmt::format("{}Best {}: {}, {}\n", of_side(*best, best->sides[side]), metric.label,
                     values_of(sweep, *best), analysis::show(metric, of_best));
}

bool is_out_of_memory(const SweepPoint::Side& side) {
  return side.ending.find(kOutOfMemory) != std::string::npos;
}

// "Largest of these that fits: batch_size = 6", of one knob that is a number; empty where no larger
// one is out of memory.
std::string largest_words(const Sweep& sweep, std::size_t side) {
  if (sweep.axes.size() != 1 || !scenario::is_ordered(sweep.axes.front())) return "";
  const SweepPoint* largest = nullptr;
  for (const SweepPoint& point : sweep.points)
    if (is_complete(point.sides[side]) &&
        (!largest || largest->values.front() < point.values.front()))
      largest = &point;
  const auto is_larger_and_full = [&](const SweepPoint& point) {
    return is_out_of_memory(point.sides[side]) && largest->values.front() < point.values.front();
  };
  if (!largest || std::ranges::none_of(sweep.points, is_larger_and_full)) return "";
  return fmt::format("{}Largest of these that fits: {}\n", of_side(*largest, largest->sides[side]),
                     values_of(sweep, *largest));
}

// "Of machine = h200-8x2 8 of 16 GPUs work": where machines are varied, rows may be alike for it.
std::string idle_words(const Sweep& sweep, const std::vector<LabelledConfig>& sides,
                       std::size_t side) {
  std::string words;
  std::set<std::string> said;
  for (const SweepPoint& point : sweep.points) {
    const std::string& id = point.sides[side].machine;
    if (id.empty()) continue;
    const program::Config config =
        scenario::config_at(sides[side].second, sweep.axes, point.values);
    if (!train::trains_in_parallel(config)) continue;
    const std::int64_t ranks = config.whole("parallel.world_size");
    const std::int64_t gpus = machine::all_gpus(machine::load_machine(id));
    if (ranks >= gpus) continue;
    const std::string one =
        fmt::format("{}On {} {} of {} GPUs work: vary parallel.world_size, too\n",
                    of_side(point, point.sides[side]), id, ranks, gpus);
    if (said.insert(one).second) words += one;
  }
  return words;
}

}  // namespace

std::string values_of(const Sweep& sweep, const SweepPoint& point) {
  std::string words;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i)
    words += (i == 0 ? "" : " and ") + sweep.axes[i].knob->name + " = " +
             program::show(*sweep.axes[i].knob, point.values[i]);
  return words;
}

std::string sweep_notes(const Sweep& sweep, const std::vector<LabelledConfig>& sides) {
  std::string words;
  for (std::size_t side = 0; side < sweep.points.front().sides.size(); ++side) {
    words += best_words(sweep, side) + largest_words(sweep, side);
    if (varies(sweep, "machine") && side < sides.size()) words += idle_words(sweep, sides, side);
  }
  return words.empty() ? "" : "\n" + words;
}

std::string ending_in_short(const std::string& ending) {
  constexpr std::size_t kMost = 200;
  constexpr std::string_view kHeld = ", and of the ";
  if (ending.find(kOutOfMemory) == std::string::npos) return without_middle(ending, kMost, 0);
  return without_middle(ending.substr(0, ending.find(kHeld)), kMost, 0);
}

}  // namespace trainscope::cli
