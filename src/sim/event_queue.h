// Appointments in virtual time. Those of one instant are kept in the order in which they were made.
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
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
  kSms,          // something changes on the SMs of a GPU; `version` as above
  kLinks,        // something happens on the links between GPUs; `version` as above
};

struct Event {
  Nanos time = 0;
  std::uint64_t order = 0;
  EventKind kind = EventKind::kThread;
  std::uint32_t index = 0;
  std::uint64_t version = 0;
};

// Most appointments are the very next: a thread goes on before anything else happens. Such a one is
// kept beside the heap.
class EventQueue {
 public:
  void add(Nanos time, EventKind kind, std::uint32_t index, std::uint64_t version = 0) {
    const Event event{time, next_order_++, kind, index, version};
    if (empty() || Later()(top(), event)) {
      if (has_next_) later_.push(next_);
      next_ = event;
      has_next_ = true;
    } else {
      later_.push(event);
    }
  }
  bool empty() const { return !has_next_ && later_.empty(); }
  const Event& top() const { return has_next_ ? next_ : later_.top(); }
  Event pop() {
    if (std::exchange(has_next_, false)) return next_;
    const Event event = later_.top();
    later_.pop();
    return event;
  }

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };
  bool has_next_ = false;
  Event next_;  // if there is one: before all of the later
  std::priority_queue<Event, std::vector<Event>, Later> later_;
  std::uint64_t next_order_ = 0;
};

}  // namespace trainscope::sim
