// A resource that serves several tasks at once at a rate that they share.
//
// Work and rates are in any one unit (bytes and bytes per ns; ns at full speed and 1). Free
// capacity is divided equally among the tasks, none above its own limit (max-min fairness). Rates
// change whenever a task comes or goes, so nothing has a duration at its start.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/time.h"

namespace trainscope::sim {

inline constexpr double kPerNs = 1e-9;  // units a second → units a nanosecond

class SharedRate {
 public:
  // `capacity` in units per ns, above 0.
  explicit SharedRate(double capacity) : capacity_(capacity) {}

  // A task of `work` units that is served at `limit` units per ns at most.
  void admit(Nanos now, std::uint32_t task, double work, double limit);

  // Removes the tasks that are done at `now` and returns them in the order of their admission;
  // valid until the next call.
  const std::vector<std::uint32_t>& finish(Nanos now);

  bool idle() const { return tasks_.empty(); }
  // What all tasks are served at together, units per ns.
  double in_use() const;
  // When the next task will be done if none comes; call only when not idle. From kNever on, some
  // are not served at all, or without end.
  static constexpr Nanos kNever = std::numeric_limits<Nanos>::max() / 4;
  Nanos next_finish() const;
  // Changes with every admission and finish: tells a stale appointment from a good one.
  std::uint64_t version() const { return version_; }

 private:
  struct Task {
    std::uint32_t id;
    double remaining;
    double limit;
    double rate;
    Nanos done_at;
  };
  void serve(Nanos now);
  void share(Nanos now);
  static void serve_at(Task& task, double rate, Nanos now);

  double capacity_;
  std::vector<Task> tasks_;
  std::vector<std::size_t> order_;   // of share(); kept for its memory
  std::vector<std::uint32_t> done_;  // of finish()
  Nanos served_until_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace trainscope::sim
