// The simulated GPUs: streams of operations, copy engines, and kernels whose blocks are on the SMs.
//
// An operation starts when everything it depends on is done: the work before it on its stream, the
// events that its stream waits for, and, around the legacy default stream, the work of blocking
// streams. Host threads that wait for an operation are woken through the event queue.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine/machine.h"
#include "program/program.h"
#include "sim/collectives/chunk_traffic.h"
#include "sim/ending.h"
#include "sim/event_queue.h"
#include "sim/l2_residency.h"
#include "sim/link_use.h"
#include "sim/recorder.h"
#include "sim/shared_rate.h"
#include "sim/sm_array.h"

namespace trainscope::sim {

using OpId = std::uint32_t;
inline constexpr OpId kNoOp = UINT32_MAX;
inline constexpr std::uint32_t kNoThread = UINT32_MAX;

// What both the host and the device need to say when they enqueue work.
struct Enqueued {
  program::Index stream = 0;
  trace::NameId name = 0;
  std::uint16_t line = 0;
  std::uint32_t correlation = 0;
  trace::SpanId call = trace::kNone;  // the host call's span
  bool in_launch_queue = false;       // it takes a place there until it is done
  bool returns_at_once = false;       // a kernel whose predicate tells it to
};

class Device {
 public:
  // `expanded`: collectives send each chunk over each link, which copies share.
  Device(const program::Program& program, const machine::Machine& machine, bool expanded,
         EventQueue& events, Recorder& recorder);

  // Up to the last that the program has a stream or a buffer on (gpus_to_the_last).
  int gpus() const { return static_cast<int>(sms_.size()); }

  OpId enqueue_kernel(Nanos now, const Enqueued& tags, const program::Operation& operation,
                      program::Phase phase);
  // A copy that the device carries out alone.
  OpId enqueue_copy(Nanos now, const Enqueued& tags, const program::Copy& copy);
  // A copy whose transfers the host asks for chunk by chunk, once `ready`; it is done after
  // `chunks` transfers.
  OpId enqueue_staged_copy(Nanos now, const Enqueued& tags, const program::Copy& copy,
                           std::int64_t chunks);
  // One of the program's recorded works, at the beginning of its call; the call follows with
  // set_call.
  OpId enqueue_recorded(Nanos now, program::Index work, std::uint32_t correlation,
                        std::uint16_t line);
  // That work's operation; kNoOp: it has not been enqueued.
  OpId recorded(program::Index work) const { return recorded_[work]; }
  // A rank's part of a collective.
  OpId enqueue_collective(Nanos now, const Enqueued& tags, const program::Collective& collective);
  const CollectivePlan& plan_of(const program::Collective& collective);
  void transfer_chunk(Nanos now, OpId op, std::int64_t bytes, std::uint32_t thread,
                      trace::SpanId cause);
  // Chunks of a staged copy that have not been transferred.
  std::int64_t transfers_left(OpId op) const { return ops_[op].parts; }
  // The host call's span, known only once a staged copy's call returns.
  void set_call(OpId op, trace::SpanId call);

  void record_event(Nanos now, program::Index event, program::Index stream);
  void wait_event(program::Index stream, program::Index event);
  // What comes next on the stream waits for the work of `on` so far.
  void wait_stream(Nanos now, program::Index stream, program::Index on);

  // The operation after which all work enqueued on the stream so far is done; kNoOp: there is none.
  OpId tail(Nanos now, program::Index stream);
  OpId op_of_event(program::Index event) const { return event_ops_[event]; }
  // The copy under way, or still to come, that fills the buffer; and that reads it; kNoOp: none.
  OpId filling(program::Index buffer) const { return unless_done(uses_[buffer].filled_by); }
  OpId reading(program::Index buffer) const { return unless_done(uses_[buffer].read_by); }
  // A launch waits while as many kernels as a stream's launch queue holds are launched and not
  // done.
  bool launch_queue_full(program::Index stream) const {
    return streams_[stream].launch_queue >= machine_.host.launch_queue;
  }
  void wake_when_room(program::Index stream, std::uint32_t thread) {
    streams_[stream].wake_room.push_back(thread);
  }
  bool done(OpId op) const { return op == kNoOp || ops_[op].done; }
  // Of all that was enqueued so far.
  double share_done() const {
    return ops_.empty() ? 1.0 : static_cast<double>(completed_) / static_cast<double>(ops_.size());
  }
  // Everything the operation depends on is done.
  bool ready(OpId op) const { return ops_[op].waits_for == 0; }
  // The span of the operation, or of the work that a join stands for.
  trace::SpanId span_of(OpId op) const;
  // The span whose end made the operation ready.
  trace::SpanId cause_of(OpId op) const { return span_of(ops_[op].cause_op); }
  void wake_when_done(OpId op, std::uint32_t thread) { ops_[op].wake_done.push_back(thread); }
  // Calls `then` with the time at which the operation is done; at once when it is.
  void when_done(Nanos now, OpId op, std::function<void(Nanos)> then);
  void wake_when_ready(OpId op, std::uint32_t thread) { ops_[op].wake_ready = thread; }

  void on_start(Nanos now, OpId op);
  void on_kernel_floor(Nanos now, OpId op);
  void on_engine_ready(Nanos now, std::uint32_t engine);
  // The shared rates: kRates of each GPU, GPU after GPU.
  void on_rate(Nanos now, std::uint32_t rate, std::uint64_t version);

  // Chunks and copies on links, where collectives are expanded.
  void on_links(Nanos now, std::uint64_t version);

  // A change on the SMs of a GPU.
  void on_sms(Nanos now, std::uint32_t gpu, std::uint64_t version);

  // The first collective that some ranks have begun and others have not, once nothing goes on any
  // more; the missing ranks' lines are not told. Their wait is written into the trace, as long as a
  // tenth of the run: it never ends.
  std::optional<Deadlock> standstill(Nanos now);
  // Ranks of a recorded collective have begun it, and others have not.
  bool recorded_ranks_wait() const;

 private:
  enum class Kind : std::uint8_t { kKernel, kCopy, kStagedCopy, kJoin, kCollective, kRecorded };

  struct Op {
    Kind kind = Kind::kJoin;
    bool started = false;
    bool done = false;
    Direction direction = Direction::kH2D;
    trace::Category category = trace::Category::kOther;
    trace::Cause cause = trace::Cause::kLaunch;
    std::uint32_t waits_for = 0;  // dependencies that are not done
    std::uint32_t parts = 0;      // of a running operation that are not done
    const program::Operation* operation = nullptr;
    const program::Copy* copy = nullptr;
    const program::Collective* collective = nullptr;
    const program::RecordedWork* recorded = nullptr;
    bool call_returned = true;  // else its span follows, with the call's
    Enqueued tags;
    Nanos earliest = 0;  // when the device can see it
    Nanos start = 0;
    Nanos end = 0;
    OpId cause_op = kNoOp;                    // the dependency that was done last
    trace::SpanId cause_span = trace::kNone;  // when no operation is the cause
    trace::SpanId span = trace::kNone;
    OpId follower = kNoOp;  // the first that depends on this one, most often the only one
    std::vector<OpId> more_followers;
    std::vector<std::uint32_t> wake_done;
    std::uint32_t wake_ready = kNoThread;
    bool has_followup = false;  // in followups_
  };
  // The ranks' parts of one collective.
  struct Meeting {
    std::vector<OpId> arrived;  // in the order of their arrival
    std::uint32_t at_work = 0;  // parts that are not done
  };
  // A collective whose chunks are on their way.
  struct Expanded {
    std::vector<OpId> ranks;
    bool active = false;
  };
  // The last copies that touch a buffer.
  struct BufferUse {
    OpId filled_by = kNoOp;
    OpId read_by = kNoOp;
  };
  struct StreamState {
    OpId last = kNoOp;
    std::vector<OpId> extra;                   // events that the next operation waits for
    std::vector<program::Index> ordered_with;  // other streams whose work so far it waits for
    int launch_queue = 0;                      // single launches that are not done
    std::vector<std::uint32_t> wake_room;      // threads that wait for room there
  };
  struct Transfer {
    OpId op = kNoOp;
    std::int64_t bytes = 0;
    Direction direction = Direction::kH2D;
    std::uint32_t thread = kNoThread;
    trace::SpanId cause_span = trace::kNone;
    trace::Cause cause = trace::Cause::kLaunch;
    Nanos start = 0;
  };
  struct Engine {
    std::deque<Transfer> queue;  // the first is under way when busy
    bool busy = false;
    trace::SpanId last_span = trace::kNone;
  };

  void order_streams();
  OpId enqueue(Nanos now, Op op);
  OpId enqueue_join(Nanos now, program::Index stream);
  void depend(OpId op, OpId on, trace::Cause cause);
  void dependency_done(Nanos now, OpId op, OpId on);
  void become_ready(Nanos now, OpId op);
  void start_kernel(Nanos now, OpId op);
  const BlockCost& cost_of(const program::Operation& operation, std::uint32_t gpu);
  void appoint_floor(Nanos now, OpId op, Nanos floor);
  void sms_changed(Nanos now, std::uint32_t gpu);
  void begin_placed(Nanos now, std::uint32_t gpu);
  void appoint_sms(Nanos now, std::uint32_t gpu);
  void start_copy(Nanos now, OpId op);
  void start_peer_copy(Nanos now, OpId op);
  void start_collective(Nanos now, OpId op);
  void place_collectives(Nanos now, std::uint32_t gpu);
  bool has_room(std::uint32_t gpu, const CollectivePlan& plan) const;
  void arrive(Nanos now, OpId op);
  void start_recorded(Nanos now, OpId op);
  void run_recorded(Nanos now, OpId op);
  void progress(Nanos now, OpId op, const CollectivePlan& plan);
  bool sends_chunks(const program::Collective& collective, const CollectivePlan& plan) const;
  void start_expanded(Nanos now, const std::vector<OpId>& arrived, const CollectivePlan& plan);
  int sms_of(OpId collective) const;
  std::int64_t memory_of(const CollectivePlan& plan) const;
  void set_aside(Nanos now, OpId op, SetAside needs);
  void finish_expanded(Nanos now, std::uint32_t expanded);
  void record_sent(const ChunkTraffic::Sent& sent);
  void appoint_links();
  void part_of_collective_done(Nanos now, OpId op);
  trace::SpanId add_wait(OpId op, Nanos until, trace::NameId name, trace::SpanId last);
  void record_wait(OpId op, OpId last);
  void part_done(Nanos now, OpId op);
  void complete(Nanos now, OpId op);
  void follow_up(Nanos now, OpId op);
  void leave_launch_queue(Nanos now, program::Index stream);
  void record(OpId op);
  void request(Nanos now, Transfer transfer);
  void begin_transfer(Nanos now, std::uint32_t engine);
  void note_first_transfer(Nanos now, const Transfer& transfer);
  void end_transfer(Nanos now, std::uint32_t engine);
  std::uint32_t engine_of(Direction direction) const;
  void appoint(Nanos now, std::uint32_t rate);
  int gpu_of(OpId op) const { return program_.streams[ops_[op].tags.stream].device; }
  // Of the GPU that the operation runs on.
  std::uint32_t rate_of(OpId op, std::uint32_t rate) const {
    return static_cast<std::uint32_t>(gpu_of(op)) * kRates + rate;
  }

  OpId unless_done(OpId op) const { return done(op) ? kNoOp : op; }

  // An engine's transfer on the links, beside operations.
  static constexpr std::uint32_t kOfEngine = std::uint32_t{1} << 31;

  // Both directions share the link to the host; the port takes what other GPUs send.
  enum Rate : std::uint32_t { kMemory, kLink, kPort, kRates };

  const program::Program& program_;
  const machine::Machine& machine_;
  EventQueue& events_;
  Recorder& recorder_;
  std::vector<Op> ops_;
  std::size_t completed_ = 0;  // of them
  std::vector<StreamState> streams_;
  std::vector<BufferUse> uses_;
  std::vector<OpId> event_ops_;
  std::vector<OpId> recorded_;               // by the program's recorded works
  std::vector<std::vector<OpId>> gathered_;  // ranks' parts that have begun, by recorded meeting
  std::unordered_multimap<OpId, std::function<void(Nanos)>> followups_;
  std::vector<SharedRate> rates_;
  std::vector<SmArray> sms_;                      // by GPU
  std::vector<SetAside> aside_;                   // by GPU: what its collectives have together
  std::unordered_map<OpId, SetAside> has_aside_;  // collectives, until they are done
  std::vector<std::deque<OpId>> for_room_;        // by GPU: collectives that wait for SMs
  std::vector<L2Residency> l2_;                   // by GPU
  struct Cost {
    BlockCost cost;
    double l2_hits = 0;  // of the last launch
  };
  std::unordered_map<const program::Operation*, Cost> block_costs_;
  std::vector<Engine> engines_;                                // two of each GPU
  using MeetingKey = std::pair<program::Index, std::int64_t>;  // communicator, sequence
  using Meetings = std::map<MeetingKey, Meeting>;
  Meetings::const_iterator root_of_standstill() const;
  Meetings meetings_;
  std::map<std::tuple<program::Index, program::CollectiveKind, std::int64_t>, CollectivePlan>
      plans_;  // by communicator, kind and bytes
  LinkUse link_use_;
  std::unique_ptr<ChunkTraffic> traffic_;  // where collectives are expanded
  std::vector<Expanded> expanded_;
};

}  // namespace trainscope::sim
