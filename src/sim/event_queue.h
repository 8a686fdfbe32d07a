// Appointments in virtual time. Those of one instant are kept in the order in which they were made.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "base/time.h"

namespace trainscope::sim {

enum class EventKind : std::uint8_t {
  kThread,       // a host thread goes on
  kStart,        // a device operation may start
  kKernelFloor,  // a kernel's shortest time is over
  kEngineReady,  // a copy engine has set up its transfer
  kRate,         // a shared rate of a GPU finishes a task; `version` tells whether it still holds
  kHostRate,     // the same of the host
};

struct Event {
  Nanos time = 0;
  std::uint64_t order = 0;
  EventKind kind = EventKind::kThread;
  std::uint32_t index = 0;
  std::uint64_t version = 0;
};

class EventQueue {
 public:
  void add(Nanos time, EventKind kind, std::uint32_t index, std::uint64_t version = 0) {
    events_.push({time, next_order_++, kind, index, version});
  }
  bool empty() const { return events_.empty(); }
  const Event& top() const { return events_.top(); }
  Event pop() {
    const Event event = events_.top();
    events_.pop();
    return event;
  }

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::uint64_t next_order_ = 0;
};

}  // namespace trainscope::sim
