#include "report/run_view.h"

#include <algorithm>
#include <cmath>

#include "program/config.h"
#include "program/idle_knobs.h"

namespace trainscope::report {
namespace {

void take_gaps(RunView& view, std::size_t most) {
  for (const analysis::IdleGap& gap : view.run->gaps) {
    if (gap.lane == trace::kNone || gap.lane >= view.index.lanes.size()) continue;
    if (view.gaps.size() < most)
      view.gaps.push_back(gap);
    else
      ++view.gaps_left_out;
  }
}

// The largest of each of equally many neighbours, so that peaks stay.
std::vector<trace::Sample> thinned(const std::vector<trace::Sample>& samples, std::size_t most) {
  std::vector<trace::Sample> left;
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t from = i * samples.size() / most, to = (i + 1) * samples.size() / most;
    left.push_back(*std::max_element(
        samples.begin() + static_cast<std::ptrdiff_t>(from),
        samples.begin() + static_cast<std::ptrdiff_t>(to),
        [](const trace::Sample& a, const trace::Sample& b) { return a.value < b.value; }));
  }
  return left;
}

void take_samples(RunView& view, std::size_t most) {
  const trace::Trace& trace = *view.run->trace;
  view.counters.resize(trace.lanes().size());
  for (std::uint32_t i = 0, n = trace.samples().size(); i < n; ++i) {
    const trace::Sample& sample = trace.samples()[i];
    if (sample.lane < view.counters.size() && std::isfinite(sample.value))
      view.counters[sample.lane].push_back(sample);
    else
      ++view.samples_left_out;
  }
  for (auto& samples : view.counters) {
    std::stable_sort(samples.begin(), samples.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    if (samples.size() <= most) continue;
    view.samples_left_out += samples.size() - most;
    samples = thinned(samples, most);
  }
}

std::vector<std::string> differences(const std::vector<const analysis::Run*>& runs) {
  std::vector<std::string> names;
  const analysis::Run* first = nullptr;
  for (const analysis::Run* run : runs) {
    if (!has_config(*run)) continue;
    if (!first) first = run;
    for (const std::string& name : program::differing_knobs(first->config, run->config))
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// Without those that change nothing in this run: a copy has no model.
std::vector<std::string> in_effect(const analysis::Run& run, std::vector<std::string> names) {
  std::erase_if(names, [&](const std::string& name) {
    return !program::idle_because(run.config, name).empty();
  });
  return names;
}

}  // namespace

bool has_config(const analysis::Run& run) {
  return run.program != nullptr || !run.config.values().empty();
}

std::vector<RunView> view_runs(const std::vector<const analysis::Run*>& runs,
                               const PageLimits& limits) {
  const std::vector<std::string> differing = differences(runs);
  std::vector<RunView> views;
  for (const analysis::Run* run : runs) {
    RunView view;
    view.run = run;
    view.index = trace::build_index(*run->trace);
    view.bars = fold_to(*run->trace, view.index, limits.bars / runs.size(), limits.rows_a_lane);
    take_gaps(view, limits.gaps / runs.size());
    take_samples(view, limits.samples_a_lane);
    if (has_config(*run)) view.differing = in_effect(*run, differing);
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace trainscope::report
