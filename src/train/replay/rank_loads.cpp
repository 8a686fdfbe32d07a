#include "train/replay/rank_loads.h"

#include <map>
#include <utility>

#include "base/median.h"
#include "train/replay/replay_program.h"

namespace trainscope::train {
namespace {

Nanos host_time(const program::Thread& thread) {
  Nanos time = 0;
  for (const program::Command& command : thread.commands) {
    if (const auto* passes = std::get_if<program::Elapse>(&command.action))
      time += passes->duration;
    if (const auto* call = std::get_if<program::RecordedCall>(&command.action))
      time += call->before + call->after;
  }
  return time;
}

}  // namespace

std::vector<RankLoad> rank_loads(const program::Config& config,
                                 std::shared_ptr<const trace::Trace> trace) {
  program::Config changed = config;
  changed.set("replay.batches_ready", true);
  const program::Program program = replay_program(changed, trace);
  std::map<int, RankLoad> loads;
  for (const program::Thread& thread : program.threads)
    loads[thread.rank].host += host_time(thread);
  for (const program::RecordedWork& work : program.recording.works) {
    RankLoad& load = loads[program.streams[work.stream].rank];
    const trace::Category category = trace->spans()[work.span].category;
    if (trace::is_kernel(category)) load.kernels += work.duration;
    if (category == trace::Category::kCopyH2D || category == trace::Category::kCopyD2H)
      load.copies += work.duration;
  }
  std::vector<RankLoad> all;
  for (auto& [rank, load] : loads) {
    load.rank = rank;
    all.push_back(load);
  }
  return all;
}

double times_as_much(const std::vector<RankLoad>& loads, int rank, Nanos RankLoad::* part) {
  std::vector<Nanos> others;
  Nanos own = 0;
  for (const RankLoad& load : loads) {
    if (load.rank == rank)
      own = load.*part;
    else
      others.push_back(load.*part);
  }
  const Nanos usual = median(std::move(others));
  return usual > 0 ? static_cast<double>(own) / static_cast<double>(usual) : 0;
}

}  // namespace trainscope::train
