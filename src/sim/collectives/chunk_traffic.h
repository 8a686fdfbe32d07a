// Transfers on the links of a machine: the chunks of collectives, and copies beside them.
//
// A chunk is sent once it is where it is sent from, in the order of the schedule, one after the
// other from a GPU to another; it is there a hop's latency after its last byte was sent. Each has
// the algorithm's rate at most, and less where other traffic is on the same links. A collective
// begins with the time that NCCL's tuner counts before anything is sent, and is done when every
// chunk is where it belongs.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

#include "machine/machine.h"
#include "sim/collectives/chunk_schedule.h"
#include "sim/link_rates.h"
#include "sim/links.h"

namespace trainscope::sim {

class ChunkTraffic {
 public:
  explicit ChunkTraffic(const machine::Machine& machine);

  // A copy of so many bytes at `limit` bytes a second at most; done() names `id`.
  void copy_to_gpu(Nanos now, std::uint32_t id, int gpu, double bytes, double limit);
  void copy_from_gpu(Nanos now, std::uint32_t id, int gpu, double bytes, double limit);
  void copy_between(Nanos now, std::uint32_t id, int from, int to, Way way, double bytes,
                    double limit);
  // A collective of so many ranks, by its plan. Throws InputError where it has too many chunks.
  void start(Nanos now, std::uint32_t id, const CollectivePlan& plan, program::CollectiveKind kind,
             int ranks, std::int64_t bytes);

  bool idle() const { return rates_.idle() && events_.empty(); }
  // When something happens if nothing comes; call only when not idle.
  Nanos next_event();
  // Changes with every event and start: tells a stale appointment from a good one.
  std::uint64_t version() const { return version_; }

  enum class Kind : std::uint8_t { kCopy, kCollective };
  struct Done {
    Kind kind = Kind::kCopy;
    std::uint32_t id = 0;
  };
  // A chunk that was sent over a link.
  struct Sent {
    std::uint32_t collective = 0;
    ChunkSend send;
    Nanos start = 0;  // rounded up, as is
    Nanos end = 0;
    double bytes = 0;
  };
  // Carries out what happens up to `now`; what was sent and is done by then, in order, until the
  // next call.
  void advance(Nanos now);
  const std::vector<Done>& done() const { return done_; }
  const std::vector<Sent>& sent() const { return sent_; }

 private:
  // A schedule, and what each send waits for: the chunk, and the send before it on its way.
  struct Plan {
    ChunkSchedule schedule;
    std::vector<std::uint32_t> waits;      // by send: for how many others
    std::vector<std::uint32_t> next;       // the next send on the same way; kNoSend: none
    std::vector<std::uint32_t> first;      // into `followers`, by send and one more
    std::vector<std::uint32_t> followers;  // sends that wait for the chunk
    std::vector<Route> routes;             // by send
    std::vector<Route> ways;               // from one to another, each once for each tree
  };
  struct Run {
    std::uint32_t id = 0;
    const Plan* plan = nullptr;
    double bytes = 0;  // of a chunk
    double limit = 0;  // bytes a second
    Tick hop = 0;
    std::vector<std::uint32_t> waits;
    std::vector<Tick> begun;  // by send
    std::uint32_t left = 0;   // sends that have not arrived
    bool active = false;
  };
  struct Event {
    Tick time = 0;
    std::uint64_t order = 0;
    std::uint32_t run = 0;
    std::uint32_t send = 0;  // that arrives; kNoSend: the run begins
    bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  static constexpr std::uint32_t kNoSend = UINT32_MAX;

  const Plan& plan_of(const CollectivePlan& plan, program::CollectiveKind kind, int ranks,
                      std::int64_t bytes);
  void link_sends(Plan& plan, Way way);
  void make_room(const Plan& plan, double limit);
  std::uint32_t free_run();
  void begin_send(Tick now, std::uint32_t run, std::uint32_t send);
  void one_less(Tick now, std::uint32_t run, std::uint32_t send);
  void sent_all(Tick now, std::uint64_t transfer);
  void arrived(Tick now, std::uint32_t run, std::uint32_t send);
  void add_copy(Nanos now, std::uint32_t id, Route route, double bytes, double limit);

  machine::Topology topology_;
  Links links_;
  LinkRates rates_;
  using PlanKey = std::tuple<Algorithm, program::CollectiveKind, Way, int, int>;  // ranks, slices
  std::map<PlanKey, Plan> plans_;
  std::vector<Run> runs_;
  std::priority_queue<Event> events_;
  std::uint64_t next_order_ = 0;
  std::uint64_t version_ = 0;
  std::vector<Done> done_;
  std::vector<Sent> sent_;
};

}  // namespace trainscope::sim
