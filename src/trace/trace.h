// A trace: what happened in a run. Lanes hold spans; flows join spans; counters hold values over
// time; details say more about single spans.
//
// Times are whole nanoseconds (Nanos) since the trace's own start. A trace is append-only and is
// written by one thread while any number of threads read it. Spans of a lane may arrive in any
// order and may overlap; index.h sorts and packs them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "base/time.h"
#include "trace/chunked.h"
#include "trace/training.h"

namespace trainscope::trace {

using NameId = std::uint32_t;
using LaneId = std::uint32_t;
using SpanId = std::uint32_t;
using DetailId = std::uint32_t;
inline constexpr std::uint32_t kNone = UINT32_MAX;  // no span, no detail, no lane

enum class OriginKind : std::uint8_t { kSimulated, kMeasured, kImported };

// Where a trace comes from. Every view shows it.
struct Origin {
  OriginKind kind = OriginKind::kSimulated;
  std::string subject;    // the machine (simulated), the device (measured), the file (imported)
  std::string detail;     // the model and host profile; driver and date; the schema
  Nanos clock_start = 0;  // on the recorder's own clock, the trace's time 0; 0: unknown
  int warmup_steps = 0;   // of an imported trace whose file says so: metrics leave them out
  // Of an imported trace whose file says that its run ended early: why, one sentence.
  std::string ended_early{};
};

// "SIMULATED", "MEASURED", "IMPORTED".
std::string_view badge(OriginKind kind);

enum class LaneKind : std::uint8_t {
  kSteps,       // marks: steps and phases
  kHostThread,  // a thread of the training process
  kLoader,      // a loader worker process
  kPinThread,   // the loader's pin-memory thread
  kStaging,     // the driver's copies into its pinned staging buffer
  kCopyEngine,  // one direction of one device
  kStream,
  kSm,
  kLink,
  kCollective,
  kMemory,      // bytes that a device's allocator has handed out, or holds
  kMemoryRole,  // the part of the former that one role has: for a panel, not for a timeline
  kCounter,
  kOther,
};

// One row of the timeline.
struct Lane {
  std::string name;  // "host main", "stream 7", "H2D copy engine"
  LaneKind kind = LaneKind::kOther;
  std::int32_t rank = 0;
  std::int32_t device = -1;  // -1: no device
  std::int64_t process = 0;  // the pid of a trace file
  std::int64_t thread = 0;   // the tid of a trace file, the number of a stream
  std::string group;         // the heading it stands under: "rank 0", "GPU 0"
};

// What a span is, and so its colour.
enum class Category : std::uint8_t {
  kHostWork,  // Python and framework work; an operator
  kHostApi,   // a call of the CUDA runtime or driver
  kHeld,      // a host thread held by a call: staging, synchronising
  kLoader,    // loading a batch
  kPin,       // copying a batch into pinned memory
  kStaging,   // copying into the driver's staging buffer
  kKernel,    // a kernel of no known phase
  kForward,
  kBackward,
  kOptimizer,
  kCopyH2D,
  kCopyD2H,
  kCopyD2D,  // also copies between devices and within the host
  kMemset,
  kCollective,
  kSync,        // a synchronisation record on a device
  kAnnotation,  // a user's mark: a step, a phase
  kOther,
};
inline constexpr std::size_t kCategoryCount = static_cast<std::size_t>(Category::kOther) + 1;

// The category's word in files and legends: "forward", "copy H2D".
std::string_view name_of(Category category);

// Work that occupies a GPU: kernels of every phase, copies, memsets, collectives.
bool is_gpu_work(Category category);
bool is_kernel(Category category);  // kernel, forward, backward, optimizer
bool is_copy(Category category);

// Which dependency was satisfied last, and so decided when a span began.
enum class Cause : std::uint8_t {
  kNothing,  // nothing was waited for
  kProgram,  // the thread's own earlier command
  kLaunch,   // the host's call that enqueued it
  kStream,   // the work before it on its stream
  kEvent,    // an event recorded on another stream
  kEngine,   // the copy engine was busy
  kStaging,  // the staging copy of its bytes
  kDevice,   // device work that a host thread waited for
  kData,     // an item of a queue: a batch, a free slot
  kCore,     // a host core
  kLock,     // the interpreter lock
  kRoom,     // room on the SMs
  kPeer,     // another rank of a collective
};
std::string_view name_of(Cause cause);

// One thing that took time on one lane. 40 bytes.
struct Span {
  Nanos start = 0;
  Nanos duration = 0;
  NameId name = 0;
  LaneId lane = 0;
  SpanId cause_span = kNone;  // the span that ended last before this one could begin
  DetailId detail = kNone;
  std::uint32_t correlation = 0;  // joins a host call and its device work; 0: none
  Category category = Category::kOther;
  Cause cause = Cause::kNothing;
  std::uint16_t line = 0;  // of the program's listing, from 1; 0: none

  Nanos end() const { return start + duration; }
};
static_assert(sizeof(Span) == 40);

enum class FlowKind : std::uint8_t {
  kLaunch,           // a host call → its device work
  kEvent,            // an event's record → the work that waited for it
  kForwardBackward,  // a forward operator → its backward one
  kData,             // a batch from loader to pin thread to training thread
  kGradient,         // gradient → bucket → all-reduce
};
struct Flow {
  SpanId from = kNone;
  SpanId to = kNone;
  FlowKind kind = FlowKind::kLaunch;
};

// A counter is a lane of kind kCounter, kMemory or kMemoryRole with samples; a value holds until
// the next sample.
struct Sample {
  Nanos time = 0;
  double value = 0;
  LaneId lane = 0;
};

enum class Memory : std::uint8_t { kUnknown, kPageable, kPinned, kDevice, kManaged, kArray };
std::string_view name_of(Memory memory);  // PyTorch's spelling: "Pageable", "Pinned"

struct KernelDetail {
  std::int32_t device = 0;
  std::int32_t stream = 0;
  std::int32_t grid[3] = {1, 1, 1};
  std::int32_t block[3] = {1, 1, 1};
  std::int32_t registers_per_thread = 0;
  std::int64_t shared_bytes = 0;  // static and dynamic, per block
  double flops = 0;               // 0: unknown
  double bytes = 0;               // of DRAM traffic; 0: unknown
  double occupancy = -1;          // 0..1; negative: unknown
};
struct CopyDetail {
  std::int64_t bytes = 0;
  Memory from = Memory::kUnknown;
  Memory to = Memory::kUnknown;
  std::int32_t device = 0;
  std::int32_t stream = 0;
};
struct CollectiveDetail {
  std::string operation;  // "allreduce"
  std::string type;       // "Float"
  std::int64_t elements_in = 0;
  std::int64_t elements_out = 0;
  std::int32_t group_size = 0;
  std::int64_t sequence = -1;
  KernelDetail kernel;
  std::string group;    // the name of its process group; empty: not known
  std::string members;  // the ranks of that: "[0, 2]"; of many only the first and the last
  // How it is carried out: "ring", "tree", "NVLS", and "LL", "LL128", "Simple". Empty: not told; a
  // kernel's name is no proof (sim/collectives/collective_model.h).
  std::string algorithm = {};
  std::string protocol = {};
};
struct SyncDetail {
  std::string kind;  // "Stream Sync"
  std::int32_t device = 0;
  std::int32_t stream = -1;  // -1: the whole device
};
using Detail = std::variant<KernelDetail, CopyDetail, CollectiveDetail, SyncDetail>;

// What the caching allocator of a device did, in the words of torch.cuda.memory._snapshot().
enum class AllocatorAction : std::uint8_t {
  kSegmentAlloc,   // a segment came from cudaMalloc
  kSegmentFree,    // a segment went back with cudaFree
  kAlloc,          // a block was handed out
  kFreeRequested,  // the program gave a block back
  kFreeCompleted,  // and no stream uses it any more: it may be handed out again
  kRetry,          // there was no room: what is cached was given back, to try once more
  kOutOfMemory,    // there was no room then either
};
std::string_view name_of(AllocatorAction action);  // "segment_alloc"

// One of its actions. The blocks at any time follow from the events up to it: what a segment holds
// beside the blocks that are handed out, or wait for a stream, is free.
struct AllocatorEvent {
  Nanos time = 0;
  std::int64_t offset = 0;     // of the block in its segment
  std::int64_t bytes = 0;      // of the block or segment; without one, what cudaMalloc had to give
  std::int64_t requested = 0;  // what the program asked for; a block is as large or larger
  std::uint32_t segment = kNone;  // from 0; no number is given twice
  NameId owner = kNone;           // the tensor that the block is of
  NameId role = kNone;            // "activations"
  std::int32_t device = 0;
  std::int32_t stream = 0;  // whose blocks these are, as PyTorch's profiler numbers it
  AllocatorAction action = AllocatorAction::kAlloc;
};

// A count of things that a reader or tracer could not keep, and why.
struct Dropped {
  std::string reason;  // "complete event without a duration"
  std::int64_t count = 0;
  bool complete_event = true;  // counts against the file's complete ("X") events
};

class Trace {
 public:
  explicit Trace(Origin origin) : origin_(std::move(origin)) {}

  // Writer's side: one thread.
  void set_origin(Origin origin) { origin_ = std::move(origin); }  // before anyone reads it
  NameId intern(std::string_view name);
  LaneId add_lane(Lane lane) { return lanes_.push_back(std::move(lane)); }
  SpanId add_span(const Span& span);
  DetailId add_detail(Detail detail) { return details_.push_back(std::move(detail)); }
  void add_flow(const Flow& flow) { flows_.push_back(flow); }
  void add_sample(const Sample& sample) { samples_.push_back(sample); }
  void add_step(const TrainingStep& step) { steps_.push_back(step); }
  void add_evaluation(const Evaluation& evaluation) { evaluations_.push_back(evaluation); }
  void add_allocator_event(const AllocatorEvent& event) { allocator_events_.push_back(event); }
  void add_dropped(Dropped dropped) { dropped_.push_back(std::move(dropped)); }

  // Readers' side: any thread, at any time.
  const Origin& origin() const { return origin_; }
  const Chunked<Lane>& lanes() const { return lanes_; }
  const Chunked<Span>& spans() const { return spans_; }
  const Chunked<Flow>& flows() const { return flows_; }
  const Chunked<Sample>& samples() const { return samples_; }
  // In the order in which they happened. Chrome traces do not carry them, only the counters.
  const Chunked<AllocatorEvent>& allocator_events() const { return allocator_events_; }
  const Chunked<Detail>& details() const { return details_; }
  const Chunked<TrainingStep>& steps() const { return steps_; }
  const Chunked<Evaluation>& evaluations() const { return evaluations_; }
  const Chunked<Dropped>& dropped() const { return dropped_; }
  std::uint32_t name_count() const { return names_.size(); }
  const std::string& name(NameId id) const { return names_[id]; }
  const std::string& name(const Span& span) const { return names_[span.name]; }
  const Detail* detail(const Span& span) const {
    return span.detail == kNone ? nullptr : &details_[span.detail];
  }
  // The end of the last span written so far; 0 for an empty trace.
  Nanos end() const { return end_.load(std::memory_order_acquire); }
  // Complete events that are missing from the trace.
  std::int64_t dropped_events() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  Origin origin_;
  Chunked<Lane> lanes_;
  Chunked<Span> spans_;
  Chunked<Flow> flows_;
  Chunked<Sample> samples_;
  Chunked<AllocatorEvent> allocator_events_;
  Chunked<Detail> details_;
  Chunked<TrainingStep> steps_;
  Chunked<Evaluation> evaluations_;
  Chunked<Dropped> dropped_;
  Chunked<std::string> names_;
  std::unordered_map<std::string, NameId, Hash, std::equal_to<>> name_ids_;  // writer only
  std::atomic<Nanos> end_{0};
};

inline bool is_measured(const Trace& trace) {
  return trace.origin().kind == OriginKind::kMeasured;
}

}  // namespace trainscope::trace
