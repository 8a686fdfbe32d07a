#include "analysis/views/collective_walk.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "analysis/views/collectives.h"

namespace trainscope::analysis {
namespace {

using program::CollectiveKind;
using trace::LaneKind;
using trace::Span;

WalkedCollective collective_of(const trace::Trace& trace, trace::SpanId id,
                               const trace::CollectiveDetail& detail) {
  const Span& span = trace.spans()[id];
  const std::optional<trace::CollectiveKind> kind = trace::kind_of(detail.operation);
  WalkedCollective one;
  one.start = span.start;
  one.end = span.end();
  one.span = id;
  one.ranks = detail.group_size;
  one.bytes = bytes_of(detail);
  one.kind = kind ? traffic_of(*kind) : CollectiveKind::kReduce;
  CollectiveWay way = way_of(trace, span);
  one.algorithm = way.algorithm.empty() ? "ring" : std::move(way.algorithm);
  one.protocol = std::move(way.protocol);
  return one;
}

bool alike(const WalkedCollective& a, const WalkedCollective& b) {
  return a.ranks == b.ranks && a.kind == b.kind && a.algorithm == b.algorithm;
}

// Those of the GPU that has the first.
std::vector<WalkedCollective> collectives_of(const trace::Trace& trace) {
  std::vector<WalkedCollective> all;
  std::optional<std::int32_t> gpu;
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    const trace::Lane& lane = trace.lanes()[span.lane];
    const auto* detail = trace.detail(span);
    const auto* collective = detail ? std::get_if<trace::CollectiveDetail>(detail) : nullptr;
    if (!collective || lane.kind != LaneKind::kStream) continue;
    if (span.category != trace::Category::kCollective) continue;
    if (lane.device != gpu.value_or(lane.device)) continue;
    gpu = lane.device;
    WalkedCollective one = collective_of(trace, i, *collective);
    if (all.empty() || alike(all.front(), one)) all.push_back(std::move(one));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
  return all;
}

// Where every rank sends one chunk a step, the last of a step is the step's end.
void find_steps(const trace::Trace& trace, const sim::ChunkSchedule& schedule,
                WalkedCollective& collective) {
  std::map<trace::LaneId, std::vector<Nanos>> ends;
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    if (trace.lanes()[span.lane].kind != LaneKind::kLink) continue;
    if (span.start >= collective.start && span.end() <= collective.end)
      ends[span.lane].push_back(span.end());
  }
  std::vector<Nanos> steps(static_cast<std::size_t>(schedule.steps), 0);
  for (auto& [lane, times] : ends) {
    if (times.size() != steps.size()) return;
    std::sort(times.begin(), times.end());
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = std::max(steps[i], times[i]);
  }
  if (!ends.empty()) collective.steps = std::move(steps);
}

}  // namespace

int first_number(int rank, int chunk) {
  return 1 + (3 * rank + 5 * chunk + rank / 3) % 9;
}

ChunkTable chunk_table(const sim::ChunkSchedule& schedule, int steps_over) {
  ChunkTable table;
  table.steps_over = steps_over;
  table.steps = schedule.steps;
  const auto ranks = static_cast<std::size_t>(schedule.ranks);
  table.cells.assign(ranks, std::vector<ChunkCell>(static_cast<std::size_t>(schedule.chunks)));
  for (int rank = 0; rank < schedule.ranks; ++rank)
    for (int chunk = 0; chunk < schedule.chunks; ++chunk)
      table.cells[static_cast<std::size_t>(rank)][static_cast<std::size_t>(chunk)] = {
          first_number(rank, chunk), {rank}};
  const auto cell = [&](int rank, int chunk) -> ChunkCell& {
    return table.cells[static_cast<std::size_t>(rank)][static_cast<std::size_t>(chunk)];
  };
  // The last that comes into a cell makes it what it is in the end.
  std::map<std::pair<int, int>, int> last_step;
  for (const sim::ChunkSend& send : schedule.sends)
    last_step[{send.to, send.chunk}] = std::max(last_step[{send.to, send.chunk}], send.step);
  for (const sim::ChunkSend& send : schedule.sends) {
    if (send.step > steps_over) break;
    ChunkCell &from = cell(send.from, send.chunk), &to = cell(send.to, send.chunk);
    if (send.step == steps_over) {
      from.sent = to.coming = true;
      table.adds |= send.reduces;
      table.moves.push_back(send);
    } else if (send.reduces) {
      to.number += from.number;
      to.of.insert(to.of.end(), from.of.begin(), from.of.end());
    } else {
      to.number = from.number;
      to.of = from.of;
    }
  }
  for (auto& [key, step] : last_step) cell(key.first, key.second).whole = step < steps_over;
  for (auto& row : table.cells)
    for (ChunkCell& one : row) one.whole |= one.of.size() == ranks;
  return table;
}

const WalkedCollective& CollectiveWalk::at(Nanos time) const {
  const auto after =
      std::upper_bound(collectives.begin(), collectives.end(), time,
                       [](Nanos when, const WalkedCollective& one) { return when < one.start; });
  return after == collectives.begin() ? *after : *std::prev(after);
}

CollectiveWalk collective_walk(const trace::Trace& trace, const machine::Machine& machine) {
  CollectiveWalk walk;
  walk.collectives = collectives_of(trace);
  if (walk.empty()) return walk;
  const WalkedCollective& first = walk.collectives.front();
  if (first.ranks < 2 || first.ranks > machine::all_gpus(machine)) return {};
  if (first.algorithm == "NVLS") return walk;
  const auto algorithm = first.algorithm == "tree" ? sim::Algorithm::kTree : sim::Algorithm::kRing;
  walk.schedule = sim::chunk_schedule(machine::topology_of(machine), algorithm, first.kind,
                                      first.ranks, kShownSlices);
  for (WalkedCollective& one : walk.collectives) find_steps(trace, *walk.schedule, one);
  return walk;
}

WalkMoment moment_of(const WalkedCollective& collective, const sim::ChunkSchedule& schedule,
                     Nanos time) {
  WalkMoment moment;
  if (time >= collective.end) return {schedule.steps, 0, false};
  if (time < collective.start) return moment;
  moment.running = true;
  if (collective.steps.empty()) {
    const double at = static_cast<double>(time - collective.start) * schedule.steps /
                      static_cast<double>(collective.end - collective.start);
    moment.steps_over = std::min(static_cast<int>(at), schedule.steps);
    moment.within = at - moment.steps_over;
    return moment;
  }
  const auto next = std::upper_bound(collective.steps.begin(), collective.steps.end(), time);
  moment.steps_over = static_cast<int>(next - collective.steps.begin());
  if (next == collective.steps.end()) return moment;
  const Nanos begun = next == collective.steps.begin() ? collective.start : *std::prev(next);
  moment.within =
      static_cast<double>(time - begun) / static_cast<double>(std::max<Nanos>(*next - begun, 1));
  return moment;
}

LinkBytes link_bytes(const sim::ChunkSchedule& schedule, std::int64_t bytes, int steps_over) {
  std::map<std::pair<int, int>, std::pair<int, int>> sends;  // by link: over, and in all
  for (const sim::ChunkSend& send : schedule.sends) {
    auto& [over, all] = sends[{send.from, send.to}];
    ++all;
    over += send.step < steps_over ? 1 : 0;
  }
  LinkBytes most;
  const double each = static_cast<double>(bytes) / schedule.chunks;
  for (const auto& [link, counts] : sends)
    if (counts.second * each >= most.all) most = {counts.first * each, counts.second * each};
  return most;
}

}  // namespace trainscope::analysis
