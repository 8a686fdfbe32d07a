#include "analysis/loader_caveat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "program/idle_knobs.h"
#include "train/published_models.h"

namespace trainscope::analysis {
namespace {

// Of one process: its workers, and what they loaded.
struct Loaded {
  std::size_t workers = 0;
  double batches = 0;
  double nanos = 0;
  double batches_a_step = 1;

  // In the long run, with all of them at work.
  double nanos_a_step() const {
    return batches_a_step * nanos / batches / static_cast<double>(workers);
  }
};

Loaded loaded_in(const Measured& measured) {
  Loaded loaded;
  const trace::Trace& trace = *measured.trace;
  trace::for_each(trace.lanes(), [&](const trace::Lane& lane, trace::LaneId) {
    if (lane.kind == trace::LaneKind::kLoader && measured.is_own(lane)) ++loaded.workers;
  });
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (lane.kind != trace::LaneKind::kLoader || span.category != trace::Category::kLoader ||
        !measured.is_own(lane))
      return;
    // What the model is tested on is loaded after the steps.
    if (!measured.marks.empty() && span.start >= measured.marks.back().end) return;
    ++loaded.batches;
    loaded.nanos += static_cast<double>(span.duration);
  });
  if (measured.program && measured.program->steps > 0)
    loaded.batches_a_step = std::max(1.0, std::round(loaded.batches / measured.program->steps));
  return loaded;
}

double step_of(const Measured& measured) {
  return static_cast<double>(measured.window.end - measured.window.start) / measured.steps;
}

bool trains_on_photos(const program::Config& config) {
  if (config.word("workload") != "train") return false;
  const std::string& data = config.word("data.name");
  return data == "imagenet" || (data == "auto" && train::is_resnet(config.word("model.name")));
}

}  // namespace

std::string free_loading(const program::Config& config) {
  const bool costs = config.is_set("loader.sample_ms") || config.whole("loader.sample_bytes") > 0;
  if (costs || !trains_on_photos(config)) return "";
  if (!program::idle_because(config, "loader.sample_ms").empty()) return "";
  return fmt::format(
      "loader.sample_ms = {}: batches cost nothing to speak of here, where real workers decode "
      "JPEGs; set it, and loader.num_workers, to see what loading takes",
      config.number("loader.sample_ms"));
}

std::optional<double> loading_in_the_long_run(const Measured& measured) {
  if (!measured.program || measured.steps == 0) return std::nullopt;
  const Loaded loaded = loaded_in(measured);
  if (loaded.batches == 0) return std::nullopt;
  return loaded.nanos_a_step();
}

std::optional<double> longer_in_the_long_run(const Measured& measured) {
  constexpr double kNoticed = 1.05;
  const std::optional<double> batch = loading_in_the_long_run(measured);
  if (!batch || *batch < kNoticed * step_of(measured)) return std::nullopt;
  return batch;
}

std::string loader_caveat(const Measured& measured) {
  // As many rounds of all workers: the first one is waited for before the measured steps.
  constexpr std::size_t kRounds = 24;
  const std::optional<double> batch = longer_in_the_long_run(measured);
  if (!batch) return "";
  const Loaded loaded = loaded_in(measured);
  const std::size_t workers = loaded.workers;
  const auto ran = static_cast<std::size_t>(measured.program->steps);
  const std::size_t rounds = kRounds * workers;
  return fmt::format(
      "These steps ran on batches that were loaded ahead: in the long run {} {} {} for {}, "
      "more than the {} of a step here, and training waits for them; time.epoch says what that "
      "takes, throughput and the times of a step do not; set steps to {} or more to see it",
      counted(workers, "worker"), workers == 1 ? "takes" : "take", format_nanos(*batch),
      loaded.batches_a_step > 1 ? "the batches of a step" : "a batch",
      format_nanos(step_of(measured)), ran < rounds ? rounds : 2 * ran);
}

}  // namespace trainscope::analysis
