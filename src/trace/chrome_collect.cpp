#include "trace/chrome_collect.h"

#include <limits>

#include "trace/cause_words.h"
#include "trace/chrome_details.h"
#include "trace/chrome_text.h"

namespace trainscope::trace::chrome {
namespace {

template <typename Enum>
void read_word(std::string_view token, Enum last, Enum& value) {
  if (token.empty()) return;
  const std::string_view word = inner(token);
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (word == name_of(static_cast<Enum>(i))) value = static_cast<Enum>(i);
}

// The id of a flow together with its kind; ids are numbers or, in other tools' files, text.
std::uint64_t flow_id(std::string_view token, FlowKind kind) {
  const std::string_view text = inner(token);
  const auto number = integer_of(text);
  const std::uint64_t id =
      number ? static_cast<std::uint64_t>(*number) : std::hash<std::string_view>{}(text);
  return id * 8 + static_cast<std::uint64_t>(kind);
}

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// PyTorch says of a kernel which collective it carries out, whoever's it is: one over symmetric
// memory has no name of NCCL's.
bool is_said_to_be_collective(const Event& event) {
  return event.kind == EventKind::kKernel && !inner(event.args.collective).empty();
}

}  // namespace

void Collector::begin(const FileHeader& header) {
  collected_ = {};
  collected_.trace = std::make_unique<Trace>(Origin{});
  names_ = NameTable(!header.own);
  track_lanes_.clear();
  counter_lanes_.clear();
  last_track_ = last_span_ = kNone;
  is_own_ = header.own.has_value();
  correlation_offset_ = is_own_ ? header.own->correlation_offset : 0;
  if (!is_own_) return;
  for (const auto& own : header.own->lanes) {
    const auto lane = static_cast<std::uint32_t>(collected_.lanes.size());
    collected_.lanes.emplace_back(Role::kOwn, kNone);
    for (const std::int64_t tid : own.tids) {
      const TrackId track = collected_.tracks.find(Label{own.pid, false}, Label{tid, false});
      collected_.lanes[lane].track = track;
      lane_with(Role::kOwn, track);
      track_lanes_[track][static_cast<std::size_t>(Role::kOwn)] = lane;
    }
  }
}

void Collector::take(const Event& event) {
  switch (event.phase) {
    case 'X':
      return take_complete(event);
    case 's':
    case 'f':
      return take_flow(event);
    case 'M':
      return take_metadata(event);
    case 'C':
      return take_counter(event);
    case 'i':
    case 'I':
      return take_instant(event);
    case '\0':
      return collected_.lose(Loss::kNoPhase);
    default:
      ++collected_.other_phases[static_cast<unsigned char>(event.phase)];
  }
}

bool Collector::read_times(const Event& event, Span& span) {
  switch (read_microseconds(event.ts, span.start)) {
    case TimeText::kGood:
      break;
    case TimeText::kMissing:
      return collected_.lose(Loss::kNoStart), false;
    case TimeText::kNotANumber:
      return collected_.lose(Loss::kStartNoNumber), false;
    case TimeText::kTooLarge:
      return collected_.lose(Loss::kStartTooLarge), false;
  }
  switch (read_microseconds(event.dur, span.duration)) {
    case TimeText::kGood:
      break;
    case TimeText::kMissing:
      return collected_.lose(Loss::kNoDuration), false;
    case TimeText::kNotANumber:
      return collected_.lose(Loss::kDurationNoNumber), false;
    case TimeText::kTooLarge:
      return collected_.lose(Loss::kDurationTooLarge), false;
  }
  if (span.duration < 0) return collected_.lose(Loss::kDurationNegative), false;
  return true;
}

void Collector::take_complete(const Event& event) {
  last_track_ = kNone;
  Span span;
  if (!read_times(event, span)) return;
  const TrackId track = collected_.tracks.find(event.pid, event.tid);
  const auto id = static_cast<SpanId>(collected_.spans.size());
  span.name = names_.find(event.name, *collected_.trace);
  NameFacts facts = names_.facts(span.name);
  if (!is_own_ && is_said_to_be_collective(event)) facts.collective = true;
  span.category = plain_category(event.kind, facts);
  span.lane = lane_of(event, facts, track);
  if (event.has_args) {
    read_correlation(event, span);
    const LaneDraft& lane = collected_.lanes[span.lane];
    if (auto detail = read_detail(event, facts, static_cast<std::int32_t>(lane.device),
                                  static_cast<std::int32_t>(lane.stream)))
      span.detail = collected_.trace->add_detail(std::move(*detail));
  }
  if (is_own_) {
    read_own(event, span);
  } else if (!is_on_device(event.kind)) {
    span.cause = plain_cause(event.kind, facts);
    note_host_span(event, facts, span, id);
  }
  collected_.spans.push_back(span);
  last_track_ = track;
  last_span_ = id;
}

void Collector::read_correlation(const Event& event, Span& span) {
  std::int64_t number = integer_or(event.own.correlation, 0);
  if (event.own.correlation.empty() && event.args.correlation &&
      __builtin_sub_overflow(*event.args.correlation, correlation_offset_, &number))
    number = -2;  // none that there can be
  span.correlation = static_cast<std::uint32_t>(number);
  if (number == span.correlation) return;
  // Those that count on beyond 32 bits are told apart by their lower half, as many as a trace has.
  if (!is_own_ && number > 0 && span.correlation != 0) return;
  span.correlation = 0;
  if (number != -1) collected_.lose(Loss::kCorrelation);  // -1 is a common word for "none"
}

// What only our own files say. The cause's number becomes a SpanId when all spans are known.
void Collector::read_own(const Event& event, Span& span) {
  const OwnArgs& own = event.own;
  collected_.numbers.push_back(integer_or(own.span, -1));
  read_word(own.category, Category::kOther, span.category);
  read_word(own.cause, Cause::kPeer, span.cause);
  if (inner(own.cause) == kQueueRoom) span.cause = Cause::kRoom;
  if (inner(own.cause) == kSharedCore) span.cause = Cause::kCore;
  const std::int64_t cause = integer_or(own.cause_span, kNone);
  span.cause_span = cause >= 0 && cause < kNone ? static_cast<SpanId>(cause) : kNone;
  const std::int64_t line = integer_or(own.line, 0);
  if (line > 0 && line <= std::numeric_limits<std::uint16_t>::max())
    span.line = static_cast<std::uint16_t>(line);
  if (!own.name.empty()) span.name = names_.find(own.name, *collected_.trace);
  if (!own.name_bytes.empty())
    span.name = collected_.trace->intern(bytes_from_text(text_of(own.name_bytes)));
}

void Collector::note_host_span(const Event& event, const NameFacts& facts, const Span& span,
                               SpanId id) {
  if (facts.phase != Phase::kNone)
    collected_.marks.push_back({span.lane, span.start, span.end(), facts.phase});
  if (event.kind == EventKind::kRuntime && span.correlation != 0)
    collected_.launches.push_back({span.correlation, id});
  if (event.kind != EventKind::kOperator || event.args.node.empty()) return;
  const std::int64_t node = integer_or(event.args.node, -1);
  if (node >= 0 && node < kNone)  // else none
    collected_.numbered_calls.push_back(
        {id, static_cast<std::uint32_t>(node), integer_or(event.args.forward_thread, 0) > 0});
}

std::uint32_t Collector::lane_with(Role role, TrackId track) {
  TrackLanes empty;
  empty.fill(kNone);
  if (track >= track_lanes_.size()) track_lanes_.resize(collected_.tracks.size(), empty);
  std::uint32_t& lane = track_lanes_[track][static_cast<std::size_t>(role)];
  if (lane == kNone && role != Role::kOwn) {
    lane = static_cast<std::uint32_t>(collected_.lanes.size());
    collected_.lanes.emplace_back(role, track);
  }
  return lane;
}

std::uint32_t Collector::lane_of(const Event& event, const NameFacts& facts, TrackId track) {
  if (is_own_)
    if (const std::uint32_t own = lane_with(Role::kOwn, track); own != kNone) return own;
  Role role = Role::kThread;
  if (event.kind == EventKind::kGpuAnnotation)
    role = Role::kGpuAnnotation;
  else if (is_on_device(event.kind))
    role = Role::kDevice;
  else if (facts.step && event.kind != EventKind::kUnknown)
    role = Role::kSteps;
  const std::uint32_t index = lane_with(role, track);
  LaneDraft& lane = collected_.lanes[index];
  if (is_on_device(event.kind)) {
    const auto& [pid, tid] = collected_.tracks[track];
    lane.holds_gpu_work = lane.holds_gpu_work || event.kind != EventKind::kSync;
    if (lane.device < 0) lane.device = event.args.device.value_or(pid.is_text ? 0 : pid.number);
    if (lane.stream == 0) lane.stream = event.args.stream.value_or(tid.is_text ? 0 : tid.number);
  } else if (event.kind != EventKind::kUnknown && event.kind != EventKind::kRecord) {
    lane.holds_host_work = true;
  }
  return index;
}

void Collector::take_flow(const Event& event) {
  if (!is_flow(event.kind)) return collected_.lose(Loss::kFlowUnknown);
  Nanos time = 0;
  if (read_microseconds(event.ts, time) != TimeText::kGood)
    return collected_.lose(Loss::kFlowUnplaced);
  FlowEnds& side = event.phase == 's' ? collected_.flow_starts : collected_.flow_ends;
  const FlowKind kind = flow_kind(event.kind);
  FlowEnd end{flow_id(event.id, kind), kNone, kind};
  const std::int64_t number = integer_or(event.own.flow, kNone);
  if (number >= 0 && number < kNone) end.number = static_cast<std::uint32_t>(number);
  const TrackId track = collected_.tracks.find(event.pid, event.tid);
  // PyTorch writes an arrow's end right behind the event that it touches.
  if (track == last_track_ && collected_.spans[last_span_].start == time)
    end.span = last_span_;
  else
    side.loose.push_back({track, time, static_cast<std::uint32_t>(side.ends.size())});
  side.ends.push_back(end);
}

void Collector::take_metadata(const Event& event) {
  const std::string_view what = inner(event.name);
  if (what == "thread_name")
    collected_.thread_names[collected_.tracks.find(event.pid, event.tid)] =
        trimmed(text_of(event.args.name));
  if (what != "process_name") return;
  const Label pid = collected_.tracks.label(event.pid);
  if (!pid.is_text) collected_.process_names[pid.number] = trimmed(text_of(event.args.name));
}

// "[memory]": the allocator's totals after an allocation, on the host or a device. Older
// files have none, only what was allocated or, negative, freed.
void Collector::take_instant(const Event& event) {
  if (inner(event.name) != "[memory]") return collected_.lose(Loss::kInstant);
  const bool has_totals = !event.args.total_allocated.empty() || !event.args.total_reserved.empty();
  if (!has_totals && event.args.allocated.empty())
    return collected_.lose(Loss::kMemoryWithoutTotals);
  Nanos time = 0;
  if (read_microseconds(event.ts, time) != TimeText::kGood)
    return collected_.lose(Loss::kCounterTime);
  const std::int64_t device = integer_or(event.args.device_id, -1);
  const bool on_device = integer_or(event.args.device_type, 0) != 0;
  const std::string place = on_device ? "GPU " + std::to_string(device) : "host";
  const TrackId track = collected_.tracks.find(event.pid, event.tid);
  const auto add = [&](std::string_view token, const std::string& what) {
    if (token.empty()) return;
    const double value = double_or(token, std::numeric_limits<double>::quiet_NaN());
    if (value != value) return collected_.lose(Loss::kCounterValue);
    const std::uint32_t lane = counter_lane(place + " memory " + what, track);
    if (on_device) collected_.lanes[lane].device = device;
    collected_.lanes[lane].has_changes = !has_totals;
    collected_.samples.push_back({time, value, lane});
  };
  if (!has_totals) return add(event.args.allocated, "above its least");
  add(event.args.total_allocated, "allocated");
  add(event.args.total_reserved, "reserved");
}

void Collector::take_counter(const Event& event) {
  Nanos time = 0;
  if (read_microseconds(event.ts, time) != TimeText::kGood)
    return collected_.lose(Loss::kCounterTime);
  const TrackId track = collected_.tracks.find(event.pid, event.tid);
  const std::uint32_t own = is_own_ ? lane_with(Role::kOwn, track) : kNone;
  if (own != kNone) {
    const std::string_view token = event.own.value.empty() && !event.series.empty()
                                       ? event.series.front().second
                                       : event.own.value;
    if (token.empty()) return collected_.lose(Loss::kCounterValue);
    collected_.samples.push_back(
        {time, double_or(token, std::numeric_limits<double>::quiet_NaN()), own});
    return;
  }
  const std::string name = text_of(event.name);
  for (const auto& [key_token, token] : event.series) {
    const double value = double_or(token, std::numeric_limits<double>::quiet_NaN());
    if (value != value) {
      collected_.lose(Loss::kCounterValue);
      continue;
    }
    const std::string key = text_of(key_token);
    const bool alone = key.empty() || key == name || key == "value";
    collected_.samples.push_back(
        {time, value, counter_lane(alone ? name : name + " " + key, track)});
  }
}

// Counters belong to a process; several tracks of one may carry the same.
std::uint32_t Collector::counter_lane(const std::string& name, TrackId track) {
  const Label pid = collected_.tracks[track].pid;
  std::string key = std::to_string(pid.number);
  key += pid.is_text ? 't' : 'n';
  key += name;
  const auto [found, added] =
      counter_lanes_.try_emplace(key, static_cast<std::uint32_t>(collected_.lanes.size()));
  if (added) collected_.lanes.emplace_back(Role::kCounter, track).counter = name;
  return found->second;
}

}  // namespace trainscope::trace::chrome
