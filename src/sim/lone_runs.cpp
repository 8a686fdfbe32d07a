#include "sim/lone_runs.h"

#include <algorithm>

namespace trainscope::sim {
namespace {

LoneRun carry_out(const SmLimits& limits, const SetAside& aside, const BlockCost& cost,
                  std::int64_t blocks) {
  SmArray array(limits);
  array.set_aside(0, aside);
  array.admit(0, 0, cost, blocks);
  LoneRun run;
  const auto note = [&](Nanos now) {
    const LoneRun::Change change{now, array.busy_sms(), array.resident_warps()};
    const bool same = !run.changes.empty() && run.changes.back().busy == change.busy &&
                      run.changes.back().warps == change.warps;
    if (!same) run.changes.push_back(change);
  };
  note(0);
  while (!array.idle()) {
    run.duration = array.next_event();
    array.finish(run.duration);
    if (!array.idle()) note(run.duration);
  }
  run.use = array.use();
  return run;
}

}  // namespace

const LoneRun::Change& LoneRun::at(Nanos time) const {
  const auto later = std::upper_bound(changes.begin(), changes.end(), time,
                                      [](Nanos a, const Change& b) { return a < b.time; });
  return *std::prev(later);
}

Nanos LoneRun::after(Nanos time) const {
  const auto later = std::upper_bound(changes.begin(), changes.end(), time,
                                      [](Nanos a, const Change& b) { return a < b.time; });
  return later == changes.end() ? duration : later->time;
}

const LoneRun& LoneRuns::run(const SmLimits& limits, const SetAside& aside, const BlockCost& cost,
                             std::int64_t blocks) {
  const auto [entry, is_new] = runs_.try_emplace({cost, blocks, aside});
  if (is_new) entry->second = carry_out(limits, aside, cost, blocks);
  return entry->second;
}

}  // namespace trainscope::sim
