// Links that many transfers share: each transfer crosses several, and has on each a share that is
// fair.
//
// Rates are max-min fair over all links at once: a transfer gets as much as the narrowest share on
// its way, at most its own limit, and what it leaves goes to the others. Rates change whenever a
// transfer comes or goes.
//
// Time is counted in ticks of 1/1024 ns, so that a pipeline of many short transfers does not lose a
// nanosecond to rounding at each. Bytes and bytes a tick.
#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "base/time.h"

namespace trainscope::sim {

using Tick = std::int64_t;
inline constexpr Tick kTicks = 1024;  // in a nanosecond
constexpr Nanos in_nanos(Tick tick) {
  return (tick + kTicks - 1) / kTicks;
}  // rounded up

using LinkId = std::uint16_t;
using Route = std::span<const LinkId>;

class LinkRates {
 public:
  // By link: bytes a second, each above 0.
  explicit LinkRates(const std::vector<double>& bytes_per_s);

  // Makes a link wider where it carries less than that.
  void widen(LinkId link, double bytes_per_s);

  // A transfer along a route of links, none twice, at `limit` bytes a second at most. The route is
  // not copied and must stay.
  void admit(Tick now, std::uint64_t transfer, Route route, double bytes, double limit);

  bool idle() const { return active_ == 0; }
  // When the next transfer ends if none comes; call only when not idle.
  Tick next_finish();
  // Removes one of those that end at `now` and returns it; call at next_finish().
  std::uint64_t finish_one(Tick now);

 private:
  struct Flow {
    std::uint64_t transfer = 0;
    Route route;
    double remaining = 0;  // at `since`
    double limit = 0;      // bytes a tick, as is
    double rate = 0;
    Tick since = 0;
    std::uint32_t version = 0;  // changes with the rate: tells a stale appointment
    bool active = false;
    bool settled = false;  // of share_all()
  };
  struct Link {
    double capacity = 0;
    double wanted = 0;  // the sum of the limits
    int flows = 0;
    double left = 0;  // of share_all()
    int unsettled = 0;
  };
  struct Appointment {
    Tick time = 0;
    std::uint64_t order = 0;
    std::uint32_t flow = 0;
    std::uint32_t version = 0;
    bool operator<(const Appointment& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  bool is_tight(Route route) const;
  void set_rate(Tick now, std::uint32_t flow, double rate);
  void share_all(Tick now);
  void settle(std::uint32_t flow, double rate);
  void drop_stale();

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_;
  std::vector<double> rates_;  // of share_all()
  std::priority_queue<Appointment> appointments_;
  std::uint64_t next_order_ = 0;
  int active_ = 0;
};

}  // namespace trainscope::sim
