// Turns the events of a Chrome trace into spans, samples and loose ends, still in the file's own
// order and on the file's own clock.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/chrome_parse.h"
#include "trace/chrome_tables.h"

namespace trainscope::trace::chrome {

// What a reader cannot keep, and why.
enum class Loss : std::uint8_t {
  kNoStart,
  kStartNoNumber,
  kStartTooLarge,
  kNoDuration,
  kDurationNoNumber,
  kDurationTooLarge,
  kDurationNegative,
  kStray,
  kBroken,
  kNoPhase,
  kInstant,
  kMemoryWithoutTotals,
  kCounterTime,
  kCounterValue,
  kStrayCounter,
  kFlowStart,     // an arrow's start without an end
  kFlowEnd,       // an arrow's end without a start
  kFlowUnplaced,  // an arrow that touches no span
  kFlowUnknown,
  kCorrelation,
  kCount,
};

// The rows that the events of one track go to.
enum class Role : std::uint8_t { kThread, kSteps, kDevice, kGpuAnnotation, kCounter, kOwn };

struct LaneDraft {
  LaneDraft(Role its_role, TrackId its_track) : role(its_role), track(its_track) {}

  Role role;
  TrackId track;
  bool holds_host_work = false;
  bool holds_gpu_work = false;
  std::int64_t device = -1;
  std::int64_t stream = 0;
  std::string counter;       // of a counter: its name
  bool has_changes = false;  // its samples are by how much the count changed
};

struct FlowEnd {
  std::uint64_t id = 0;  // one number for kind and id
  SpanId span = kNone;
  FlowKind kind = FlowKind::kLaunch;
  std::uint32_t number = kNone;  // its place among the flows, in our own files
};

// A place on a track that a flow touches, to be looked up once all spans are known.
struct LooseEnd {
  TrackId track;
  Nanos time;
  std::uint32_t index;  // in the starts or the ends
};

struct FlowEnds {
  std::vector<FlowEnd> ends;
  std::vector<LooseEnd> loose;
};

// A host span whose name tells the phase of what it encloses.
struct PhaseMark {
  std::uint32_t lane;
  Nanos start, end;
  Phase phase;
};

struct Launch {
  std::uint32_t correlation;
  SpanId span;
};

// An operator that names a node of autograd's graph by its number: the next to be made, or the one
// whose backward it is.
struct NumberedCall {
  SpanId span;
  std::uint32_t number;
  bool is_backward;
};

struct Collected {
  std::unique_ptr<Trace> trace;       // has names and details, no span yet
  std::vector<Span> spans;            // Span::lane is the index of a LaneDraft
  std::vector<std::int64_t> numbers;  // of our own files: each span's number in the trace written
  std::vector<LaneDraft> lanes;
  std::vector<Sample> samples;
  FlowEnds flow_starts, flow_ends;
  std::vector<PhaseMark> marks;
  std::vector<Launch> launches;
  std::vector<NumberedCall> numbered_calls;
  TrackTable tracks;
  std::unordered_map<TrackId, std::string> thread_names;
  std::unordered_map<std::int64_t, std::string> process_names;  // by pid
  std::array<std::int64_t, static_cast<std::size_t>(Loss::kCount)> losses{};
  std::array<std::int64_t, 256> other_phases{};  // events of phases that are not read

  void lose(Loss loss, std::int64_t count = 1) { losses[static_cast<std::size_t>(loss)] += count; }
};

class Collector : public EventSink {
 public:
  void begin(const FileHeader& header) override;
  void take(const Event& event) override;
  void take_broken() override { collected_.lose(Loss::kBroken); }

  Collected finish() { return std::move(collected_); }

 private:
  void take_complete(const Event& event);
  bool read_times(const Event& event, Span& span);
  void read_correlation(const Event& event, Span& span);
  void read_own(const Event& event, Span& span);
  void note_host_span(const Event& event, const NameFacts& facts, const Span& span, SpanId id);
  std::uint32_t lane_of(const Event& event, const NameFacts& facts, TrackId track);
  std::uint32_t lane_with(Role role, TrackId track);
  void take_flow(const Event& event);
  void take_metadata(const Event& event);
  void take_instant(const Event& event);
  void take_counter(const Event& event);
  std::uint32_t counter_lane(const std::string& name, TrackId track);

  static constexpr std::size_t kRoles = static_cast<std::size_t>(Role::kOwn) + 1;
  using TrackLanes = std::array<std::uint32_t, kRoles>;

  Collected collected_;
  NameTable names_;
  bool is_own_ = false;
  std::int64_t correlation_offset_ = 0;
  std::vector<TrackLanes> track_lanes_;  // by track and role
  std::unordered_map<std::string, std::uint32_t> counter_lanes_;
  TrackId last_track_ = kNone;  // of the last complete event
  SpanId last_span_ = kNone;
};

}  // namespace trainscope::trace::chrome
