#include "analysis/caveats/loader_caveat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <variant>

#include "base/units.h"
#include "program/idle_knobs.h"
#include "train/model/published_models.h"

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
  const std::vector<Interval>& marks = measured.own_marks();
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
    if (!marks.empty() && span.start >= marks.back().end) return;
    ++loaded.batches;
    loaded.nanos += static_cast<double>(span.duration);
  });
  if (measured.program && measured.program->steps > 0)
    loaded.batches_a_step = std::max(1.0, std::round(loaded.batches / measured.program->steps));
  return loaded;
}

// The workers of all processes on the node of the measured one, and what they ask, for a step's
// batches of every process, of what they share.
struct Shared {
  std::size_t workers = 0;
  std::size_t processes = 0;  // that have workers
  double work = 0;            // ns of a core
  double bytes = 0;           // from the disk
};

Shared shared_by(const Measured& measured) {
  Shared shared;
  std::set<int> processes;
  const int node = std::max(measured.rank, 0) / measured.machine->gpu_count;
  for (const program::Thread& thread : measured.program->threads) {
    if (thread.role != program::ThreadRole::kLoaderWorker) continue;
    if (thread.rank / measured.machine->gpu_count != node) continue;
    ++shared.workers;
    processes.insert(thread.rank);
    for (const program::Command& command : thread.commands) {
      if (const auto* read = std::get_if<program::DiskRead>(&command.action))
        shared.bytes += static_cast<double>(read->bytes);
      if (const auto* work = std::get_if<program::HostWork>(&command.action);
          work && work->needs_core)
        shared.work += static_cast<double>(work->duration);
    }
  }
  shared.processes = processes.size();
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, measured.program->steps));
  shared.work /= steps;
  shared.bytes /= steps;
  return shared;
}

// In ns, however many workers there are.
double on_cores(const Shared& shared, const machine::Host& host) {
  return shared.work * host.sharers / host.cores;
}

double from_disk(const Shared& shared, const machine::Host& host) {
  if (shared.bytes == 0 || host.disk_bytes_per_s <= 0) return 0;
  return shared.bytes / host.disk_bytes_per_s * static_cast<double>(kSecond);
}

// Processes of the measured one's node that train, whether they have workers or not.
std::size_t processes_of(const Measured& measured) {
  std::set<int> processes;
  const int gpus = measured.machine->gpu_count;
  trace::for_each(measured.trace->lanes(), [&](const trace::Lane& lane, trace::LaneId) {
    if (lane.kind == trace::LaneKind::kHostThread &&
        std::max(lane.rank, 0) / gpus == std::max(measured.rank, 0) / gpus)
      processes.insert(lane.rank);
  });
  return processes.size();
}

// What the training thread loads by itself in the window, ns.
double loaded_by_host(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  std::vector<Interval> loads;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (lane.kind == trace::LaneKind::kHostThread && measured.counts(lane) &&
        span.category == trace::Category::kLoader)
      loads.push_back({span.start, span.end()});
  });
  return static_cast<double>(
      IntervalSet(std::move(loads)).intersected(IntervalSet({measured.window})).length());
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
  if (!measured.machine) return loaded.nanos_a_step();
  const Shared shared = shared_by(measured);
  const machine::Host& host = measured.machine->host;
  return std::max({loaded.nanos_a_step(), on_cores(shared, host), from_disk(shared, host)});
}

std::optional<FullCores> cores_full_of_workers(const Measured& measured) {
  if (!measured.program || !measured.machine || measured.steps == 0) return std::nullopt;
  const Shared shared = shared_by(measured);
  const machine::Host& host = measured.machine->host;
  FullCores full;
  full.workers = static_cast<int>(shared.workers) * host.sharers;
  full.processes = static_cast<int>(shared.processes) * host.sharers;
  full.cores = host.cores;
  constexpr double kNearly = 0.9;  // the training threads take the rest
  const std::optional<double> loading = loading_in_the_long_run(measured);
  if (full.workers < full.cores || !loading) return std::nullopt;
  const double step = std::max(*loading, step_of(measured));
  return on_cores(shared, host) >= kNearly * step ? std::optional(full) : std::nullopt;
}

std::optional<double> longer_in_the_long_run(const Measured& measured) {
  constexpr double kNoticed = 1.05;
  const std::optional<double> batch = loading_in_the_long_run(measured);
  if (!batch || *batch < kNoticed * step_of(measured)) return std::nullopt;
  return batch;
}

std::optional<WorkersNeeded> workers_needed(const Measured& measured, Nanos waited) {
  if (!measured.program || !measured.machine || measured.steps == 0) return std::nullopt;
  const Loaded loaded = loaded_in(measured);
  WorkersNeeded needed;
  needed.loading = loaded.workers > 0 && loaded.batches > 0
                       ? loaded.nanos_a_step() * static_cast<double>(loaded.workers)
                       : loaded_by_host(measured) / measured.steps;
  needed.rest = step_of(measured) - static_cast<double>(waited) / measured.steps;
  if (needed.loading <= 0 || needed.rest <= 0) return std::nullopt;
  const machine::Host& host = measured.machine->host;
  const auto processes = static_cast<int>(std::max<std::size_t>(1, processes_of(measured)));
  const int most = std::max(1, host.cores / host.sharers / processes);
  needed.workers =
      static_cast<int>(std::min<double>(most, std::ceil(needed.loading / needed.rest)));
  return needed;
}

namespace {

// ", on 16 cores"; ", of 256 on 112 cores".
std::string words_of(const FullCores& full) {
  const std::string cores = counted(static_cast<std::size_t>(full.cores), "core");
  return full.processes > 1 ? fmt::format(", of {} on {},", full.workers, cores)
                            : fmt::format(", on {},", cores);
}

}  // namespace

std::string loader_caveat(const Measured& measured) {
  // As many rounds of all workers: the first one is waited for before the measured steps.
  constexpr std::size_t kRounds = 24;
  const std::optional<double> batch = longer_in_the_long_run(measured);
  if (!batch) return "";
  const Loaded loaded = loaded_in(measured);
  const std::size_t workers = loaded.workers;
  const auto ran = static_cast<std::size_t>(measured.program->steps);
  const std::size_t rounds = kRounds * workers;
  const std::optional<FullCores> full = cores_full_of_workers(measured);
  return fmt::format(
      "These steps ran on batches that were loaded ahead: in the long run {}{} {} {} for {}, "
      "more than the {} of a step here, and training waits for them; time.epoch says what that "
      "takes, throughput and the times of a step do not; set steps to {} or more to see it",
      counted(workers, "worker"), full ? words_of(*full) : "", workers == 1 ? "takes" : "take",
      format_nanos(*batch), loaded.batches_a_step > 1 ? "the batches of a step" : "a batch",
      format_nanos(step_of(measured)), ran < rounds ? rounds : 2 * ran);
}

}  // namespace trainscope::analysis
