#include "sim/link_rates.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace trainscope::sim {
namespace {

constexpr double kPerTick = 1e-9 / kTicks;  // units a second → units a tick
constexpr double kHair = 1e-9;              // sums of doubles are not exact

}  // namespace

LinkRates::LinkRates(const std::vector<double>& bytes_per_s) {
  for (const double rate : bytes_per_s) {
    assert(rate > 0);
    links_.push_back({.capacity = rate * kPerTick});
  }
}

void LinkRates::widen(LinkId link, double bytes_per_s) {
  links_[link].capacity = std::max(links_[link].capacity, bytes_per_s * kPerTick);
}

bool LinkRates::is_tight(Route route) const {
  return std::any_of(route.begin(), route.end(), [&](LinkId id) {
    return links_[id].wanted > links_[id].capacity * (1 + kHair);
  });
}

void LinkRates::admit(Tick now, std::uint64_t transfer, Route route, double bytes, double limit) {
  assert(bytes >= 0 && limit > 0);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.emplace_back();
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  Flow& flow = flows_[id];
  flow = {transfer, route, bytes, limit * kPerTick, 0, now, flow.version, true, false};
  ++active_;
  for (const LinkId link : route) {
    links_[link].wanted += flow.limit;
    ++links_[link].flows;
  }
  if (is_tight(route)) return share_all(now);
  set_rate(now, id, flow.limit);
}

Tick LinkRates::next_finish() {
  drop_stale();
  return appointments_.top().time;
}

std::uint64_t LinkRates::finish_one(Tick now) {
  drop_stale();
  const std::uint32_t id = appointments_.top().flow;
  appointments_.pop();
  Flow& flow = flows_[id];
  const bool tight = is_tight(flow.route);
  flow.active = false;
  ++flow.version;
  --active_;
  for (const LinkId link : flow.route) {
    Link& one = links_[link];
    one.wanted = --one.flows == 0 ? 0 : one.wanted - flow.limit;
  }
  free_.push_back(id);
  const std::uint64_t transfer = flow.transfer;
  if (tight) share_all(now);
  return transfer;
}

void LinkRates::drop_stale() {
  const auto stale = [&](const Appointment& one) {
    return !flows_[one.flow].active || flows_[one.flow].version != one.version;
  };
  while (stale(appointments_.top())) appointments_.pop();
}

// What is not served at all waits until the rates change.
void LinkRates::set_rate(Tick now, std::uint32_t id, double rate) {
  Flow& flow = flows_[id];
  if (rate == flow.rate) return;
  flow.remaining =
      std::max(0.0, flow.remaining - flow.rate * static_cast<double>(now - flow.since));
  flow.since = now;
  flow.rate = rate;
  constexpr Tick kLongest = std::numeric_limits<Tick>::max() / 4;
  const double ticks = std::ceil(flow.remaining / rate);
  const Tick end =
      ticks < static_cast<double>(kLongest) ? now + static_cast<Tick>(ticks) : kLongest;
  appointments_.push({end, next_order_++, id, ++flow.version});
}

void LinkRates::settle(std::uint32_t id, double rate) {
  Flow& flow = flows_[id];
  flow.settled = true;
  rates_[id] = rate;
  for (const LinkId link : flow.route) {
    links_[link].left = std::max(0.0, links_[link].left - rate);
    --links_[link].unsettled;
  }
}

// Water filling: all rates rise together; a transfer stops at its limit, or where a link is full.
void LinkRates::share_all(Tick now) {
  rates_.assign(flows_.size(), 0);
  for (Link& link : links_) link.left = link.capacity, link.unsettled = link.flows;
  int open = 0;
  for (Flow& flow : flows_) flow.settled = !flow.active, open += flow.active;
  while (open > 0) {
    double level = std::numeric_limits<double>::max();
    for (const Link& link : links_)
      if (link.unsettled > 0) level = std::min(level, link.left / link.unsettled);
    for (const Flow& flow : flows_)
      if (!flow.settled) level = std::min(level, flow.limit);
    const auto full = [&](LinkId id) {
      return links_[id].left <= level * links_[id].unsettled * (1 + kHair);
    };
    // Decided before any is settled, which changes what is left.
    std::vector<std::uint32_t> stops;
    for (std::uint32_t i = 0; i < flows_.size(); ++i)
      if (const Flow& flow = flows_[i];
          !flow.settled &&
          (flow.limit <= level || std::any_of(flow.route.begin(), flow.route.end(), full)))
        stops.push_back(i);
    for (const std::uint32_t i : stops) settle(i, std::min(level, flows_[i].limit));
    open -= static_cast<int>(stops.size());
  }
  for (std::uint32_t i = 0; i < flows_.size(); ++i)
    if (flows_[i].active) set_rate(now, i, rates_[i]);
}

}  // namespace trainscope::sim
