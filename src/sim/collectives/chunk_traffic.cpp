#include "sim/collectives/chunk_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace trainscope::sim {
namespace {

constexpr std::uint64_t kIsCopy = std::uint64_t{1} << 63;

// More than these take gigabytes, and nobody looks at them.
constexpr std::int64_t kMostSends = 1'500'000;

std::int64_t sends_of(Algorithm algorithm, program::CollectiveKind kind, int ranks, int slices) {
  const std::int64_t hops = ranks - 1;
  if (algorithm == Algorithm::kTree) return 2 * hops * slices;
  switch (kind) {
    case program::CollectiveKind::kAllReduce:
      return 2 * hops * ranks;
    case program::CollectiveKind::kAllGather:
    case program::CollectiveKind::kReduceScatter:
      return hops * ranks;
    case program::CollectiveKind::kBroadcast:
    case program::CollectiveKind::kReduce:
    case program::CollectiveKind::kSendReceive:
      break;
  }
  return hops * slices;
}

// A ring's steps are alike. What is pipelined has hops of equal length (assumed: the tuner tells
// their sum).
Tick hop_of(const CollectivePlan& plan, int hops) {
  return static_cast<Tick>(plan.hops_ns() / hops * kTicks);
}

// Of one chunk from a GPU to the next: what the algorithm's bandwidth means on a link.
double limit_of(const CollectivePlan& plan, program::CollectiveKind kind, int ranks, int trees) {
  using program::CollectiveKind;
  if (plan.algorithm == Algorithm::kTree) return plan.bytes_per_s / trees;
  return plan.bytes_per_s * bus_factor(kind, ranks);
}

}  // namespace

ChunkTraffic::ChunkTraffic(const machine::Machine& machine)
    : topology_(machine::topology_of(machine)), links_(machine), rates_(links_.bytes_per_s()) {}

// ---- What is to be sent ------------------------------------------------------------------------

const ChunkTraffic::Plan& ChunkTraffic::plan_of(const CollectivePlan& plan,
                                                program::CollectiveKind kind, int ranks,
                                                std::int64_t bytes) {
  const ChunkSchedule shape = chunk_schedule(topology_, plan.algorithm, kind, ranks, 1);
  const int slices = slices_of(plan, kind, bytes, shape.hops, shape.trees);
  const std::int64_t sends = sends_of(plan.algorithm, kind, ranks, slices);
  if (sends > kMostSends)
    throw InputError(fmt::format(
        "collective.expanded would send {} chunks for one {} of {} ranks, and at most {} can be "
        "followed; write fewer ranks, or collective.expanded = false",
        sends, program::name_of(kind), ranks, kMostSends));
  const auto [entry, added] = plans_.try_emplace({plan.algorithm, kind, plan.way, ranks, slices});
  if (!added) return entry->second;
  entry->second.schedule = chunk_schedule(topology_, plan.algorithm, kind, ranks, slices);
  link_sends(entry->second, plan.way);
  return entry->second;
}

// A send waits for all that came before it into the rank that it is from, of its chunk.
void ChunkTraffic::link_sends(Plan& plan, Way way) {
  const ChunkSchedule& schedule = plan.schedule;
  const auto count = static_cast<std::uint32_t>(schedule.sends.size());
  plan.waits.assign(count, 0);
  plan.next.assign(count, kNoSend);
  std::vector<std::vector<std::uint32_t>> into(static_cast<std::size_t>(schedule.ranks) *
                                               static_cast<std::size_t>(schedule.chunks));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> waits;  // for whom, who
  std::map<std::tuple<int, int, int>, std::uint32_t> before;
  const auto held = [&](int rank, int chunk) -> auto& {
    return into[static_cast<std::size_t>(rank) * static_cast<std::size_t>(schedule.chunks) +
                static_cast<std::size_t>(chunk)];
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    const ChunkSend& send = schedule.sends[i];
    for (const std::uint32_t one : held(send.from, send.chunk)) waits.emplace_back(one, i);
    plan.waits[i] += static_cast<std::uint32_t>(held(send.from, send.chunk).size());
    held(send.to, send.chunk).push_back(i);
    const auto [last, first] =
        before.try_emplace({send.chunk % schedule.trees, send.from, send.to}, i);
    if (!first) {
      plan.next[last->second] = i;
      last->second = i;
      ++plan.waits[i];
    }
    plan.routes.push_back(links_.between(send.from, send.to, way));
    if (first) plan.ways.push_back(plan.routes.back());
  }
  std::sort(waits.begin(), waits.end());
  plan.first.assign(count + 1, 0);
  for (const auto& [one, follower] : waits) {
    ++plan.first[one + 1];
    plan.followers.push_back(follower);
  }
  for (std::uint32_t i = 0; i < count; ++i) plan.first[i + 1] += plan.first[i];
}

// The closed form is measured: what it says a collective alone reaches, its links carry.
void ChunkTraffic::make_room(const Plan& plan, double limit) {
  std::map<LinkId, double> wanted;
  for (const Route way : plan.ways)
    for (const LinkId link : way) wanted[link] += limit;
  for (const auto& [link, rate] : wanted) rates_.widen(link, rate);
}

std::uint32_t ChunkTraffic::free_run() {
  const auto free =
      std::find_if(runs_.begin(), runs_.end(), [](const Run& one) { return !one.active; });
  const auto at = static_cast<std::uint32_t>(free - runs_.begin());
  if (free == runs_.end()) runs_.emplace_back();
  return at;
}

void ChunkTraffic::start(Nanos now, std::uint32_t id, const CollectivePlan& plan,
                         program::CollectiveKind kind, int ranks, std::int64_t bytes) {
  ++version_;
  const Plan& sends = plan_of(plan, kind, ranks, bytes);
  const std::uint32_t at = free_run();
  Run& run = runs_[at];
  run.id = id;
  run.plan = &sends;
  run.bytes = static_cast<double>(bytes) / sends.schedule.chunks;
  run.limit = limit_of(plan, kind, ranks, sends.schedule.trees);
  run.hop = hop_of(plan, sends.schedule.hops);
  run.waits = sends.waits;
  run.begun.assign(sends.waits.size(), 0);
  run.left = static_cast<std::uint32_t>(sends.waits.size());
  run.active = true;
  make_room(sends, run.limit);
  const Tick begin = now * kTicks + static_cast<Tick>(plan.base_ns * kTicks);
  events_.push({begin, next_order_++, at, kNoSend});
}

void ChunkTraffic::add_copy(Nanos now, std::uint32_t id, Route route, double bytes, double limit) {
  ++version_;
  rates_.admit(now * kTicks, kIsCopy | id, route, bytes, limit);
}

void ChunkTraffic::copy_to_gpu(Nanos now, std::uint32_t id, int gpu, double bytes, double limit) {
  add_copy(now, id, links_.to_gpu(gpu), bytes, limit);
}

void ChunkTraffic::copy_from_gpu(Nanos now, std::uint32_t id, int gpu, double bytes, double limit) {
  add_copy(now, id, links_.from_gpu(gpu), bytes, limit);
}

void ChunkTraffic::copy_between(Nanos now, std::uint32_t id, int from, int to, Way way,
                                double bytes, double limit) {
  add_copy(now, id, links_.between(from, to, way), bytes, limit);
}

// ---- What happens ------------------------------------------------------------------------------

Nanos ChunkTraffic::next_event() {
  if (rates_.idle()) return in_nanos(events_.top().time);
  if (events_.empty()) return in_nanos(rates_.next_finish());
  return in_nanos(std::min(rates_.next_finish(), events_.top().time));
}

void ChunkTraffic::advance(Nanos now) {
  ++version_;
  done_.clear();
  sent_.clear();
  const Tick until = now * kTicks;
  while (!idle()) {
    const bool event_first =
        rates_.idle() || (!events_.empty() && events_.top().time <= rates_.next_finish());
    const Tick time = event_first ? events_.top().time : rates_.next_finish();
    if (time > until) return;
    if (!event_first) {
      sent_all(time, rates_.finish_one(time));
      continue;
    }
    const Event event = events_.top();
    events_.pop();
    if (event.send != kNoSend) {
      arrived(time, event.run, event.send);
      continue;
    }
    const std::vector<std::uint32_t>& waits = runs_[event.run].plan->waits;
    for (std::uint32_t i = 0; i < waits.size(); ++i)
      if (waits[i] == 0) begin_send(time, event.run, i);
  }
}

void ChunkTraffic::begin_send(Tick now, std::uint32_t at, std::uint32_t send) {
  Run& run = runs_[at];
  run.begun[send] = now;
  rates_.admit(now, (std::uint64_t{at} << 32) | send, run.plan->routes[send], run.bytes, run.limit);
}

void ChunkTraffic::one_less(Tick now, std::uint32_t run, std::uint32_t send) {
  if (--runs_[run].waits[send] == 0) begin_send(now, run, send);
}

void ChunkTraffic::sent_all(Tick now, std::uint64_t transfer) {
  if ((transfer & kIsCopy) != 0) {
    done_.push_back({Kind::kCopy, static_cast<std::uint32_t>(transfer)});
    return;
  }
  const auto at = static_cast<std::uint32_t>(transfer >> 32);
  const auto send = static_cast<std::uint32_t>(transfer);
  const Run& run = runs_[at];
  sent_.push_back({run.id, run.plan->schedule.sends[send], in_nanos(run.begun[send]), in_nanos(now),
                   run.bytes});
  events_.push({now + run.hop, next_order_++, at, send});
  if (const std::uint32_t next = run.plan->next[send]; next != kNoSend) one_less(now, at, next);
}

void ChunkTraffic::arrived(Tick now, std::uint32_t at, std::uint32_t send) {
  const Plan& plan = *runs_[at].plan;
  for (std::uint32_t i = plan.first[send]; i < plan.first[send + 1]; ++i)
    one_less(now, at, plan.followers[i]);
  if (--runs_[at].left > 0) return;
  runs_[at].active = false;
  done_.push_back({Kind::kCollective, runs_[at].id});
}

}  // namespace trainscope::sim
