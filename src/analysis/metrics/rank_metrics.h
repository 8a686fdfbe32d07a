// The metrics of single ranks: what "memory.peak_allocated@1" asks for.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/metrics/metrics.h"
#include "trace/trace.h"

namespace trainscope::analysis {

struct Run;

// The processes of a run, also those that one simulated rank stands for.
int process_count(const Run& run);

// Its ranks: its processes, or the GPUs of one that drives several, as DataParallel's does.
int rank_count(const Run& run);

// A metric by its name, and of which rank: "memory.peak_allocated@1". No rank: the run's own.
struct AskedMetric {
  const Metric* metric = nullptr;
  std::optional<int> rank;
};

// Throws InputError, with "did you mean" for the name; also for a loss of another rank than 0,
// which no run tells.
AskedMetric asked_metric(std::string_view text);

// Nothing where the metric does not apply to the run or rank. Throws InputError for a rank that the
// run does not have.
std::optional<double> value_of(const Run& run, const AskedMetric& asked);

// The trace that a rank's metrics are of. Throws InputError likewise.
std::shared_ptr<const trace::Trace> trace_of_rank(const Run& run, int rank);

// What has been computed, by rank: a lesson asks each time that it is drawn.
class RankMetrics {
 public:
  // `whole`: as a run without steps is measured.
  explicit RankMetrics(bool whole) : whole_(whole) {}

  const std::vector<MetricValue>& of(const Run& run, int rank);

 private:
  bool whole_;
  std::mutex mutex_;
  std::map<int, std::vector<MetricValue>> known_;
};

}  // namespace trainscope::analysis
