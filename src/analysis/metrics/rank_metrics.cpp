#include "analysis/metrics/rank_metrics.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "analysis/runs/run.h"
#include "base/error.h"
#include "base/rank_words.h"
#include "trace/ranks.h"
#include "train/parallel/parallel.h"

namespace trainscope::analysis {
namespace {

std::string words_of(int ranks) {
  if (ranks == 1) return "one rank: write @0";
  return std::to_string(ranks) + " ranks: write @0 to @" + std::to_string(ranks - 1);
}

void require_rank(const Run& run, int rank) {
  const int count = rank_count(run);
  const std::vector<int> there = trace::ranks_of(*run.trace);
  // Of a job whose ranks were not all imported, those that were.
  const bool some = there.size() > 1 && there.back() >= count;
  if (some ? std::ranges::count(there, rank) > 0 : rank < count) return;
  throw InputError(
      "run " + run.label + " has no rank " + std::to_string(rank) + ", but " +
      (some ? rank_words(there) + ": write @" + std::to_string(there.front()) : words_of(count)));
}

// Each rank has its own batches, and one of them tells its losses.
void require_told(const AskedMetric& asked) {
  const std::string& name = asked.metric->name;
  const bool of_batches = name == "loss" || name.starts_with("loss.") || name == "accuracy.final" ||
                          name.ends_with(".to_loss");
  if (!of_batches || *asked.rank == 0) return;
  throw InputError(name + " is told of rank 0 alone; write " + name + " or " + name + "@0");
}

}  // namespace

int process_count(const Run& run) {
  const int count = static_cast<int>(trace::ranks_of(*run.trace).size());
  const bool stands_for_all = run.program && count == 1 && train::trains_by_processes(run.config);
  return stands_for_all ? static_cast<int>(run.config.whole("parallel.world_size")) : count;
}

int rank_count(const Run& run) {
  const int processes = process_count(run);
  return processes > 1 ? processes
                       : std::max(1, static_cast<int>(trace::devices_of(*run.trace).size()));
}

AskedMetric asked_metric(std::string_view text) {
  const std::size_t at = text.find('@');
  AskedMetric asked{&find_metric(text.substr(0, at)), std::nullopt};
  if (at == std::string_view::npos) return asked;
  const std::string_view number = text.substr(at + 1);
  int rank = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
  if (error != std::errc() || end != number.data() + number.size() || rank < 0)
    throw InputError(std::string(text) + ": behind @ stands a rank, as in " + asked.metric->name +
                     "@0");
  asked.rank = rank;
  require_told(asked);
  return asked;
}

std::optional<double> value_of(const Run& run, const AskedMetric& asked) {
  if (!asked.rank) return value_of(run.metrics, asked.metric->name);
  if (!run.trace) return std::nullopt;  // a side that has not run
  require_rank(run, *asked.rank);
  return value_of(run.of_ranks->of(run, *asked.rank), asked.metric->name);
}

std::shared_ptr<const trace::Trace> trace_of_rank(const Run& run, int rank) {
  require_rank(run, rank);
  return trace::part_of_rank(*run.trace, rank);
}

const std::vector<MetricValue>& RankMetrics::of(const Run& run, int rank) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(rank);
  if (known != known_.end()) return known->second;
  const auto part = trace::part_of_rank(*run.trace, rank);
  const auto gather = whole_ ? gather_whole_facts : gather_facts;
  const Facts facts = gather(*part, run.program.get(), run.machine.get());
  return known_[rank] = compute_metrics(facts);
}

}  // namespace trainscope::analysis
