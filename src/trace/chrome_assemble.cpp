#include "trace/chrome_assemble.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace trainscope::trace::chrome {
namespace {

std::size_t working_devices(const Collected& collected) {
  std::set<std::int64_t> devices;
  for (const LaneDraft& lane : collected.lanes)
    if (lane.holds_gpu_work) devices.insert(lane.device);
  return devices.size();
}

// "PyTorch profiler, schema 1, 8 x NVIDIA A100". A file lists every GPU of its machine, though most
// are of one rank, which has but one.
std::string describe_file(const Collected& collected, const FileHeader& header) {
  std::string text =
      header.schema ? "PyTorch profiler, schema " + std::to_string(*header.schema) : "Chrome trace";
  const char* before = working_devices(collected) < header.devices.size() ? ", node of " : ", ";
  std::vector<std::pair<std::string, int>> models;
  for (const std::string& name : header.devices) {
    const auto known = std::ranges::find(models, name, &std::pair<std::string, int>::first);
    if (known == models.end())
      models.emplace_back(name, 1);
    else
      ++known->second;
  }
  for (const auto& [name, count] : models) {
    text += before + (count > 1 ? std::to_string(count) + " x " : "") + name;
    before = ", ";
  }
  return text;
}

Nanos first_time(const Collected& collected) {
  Nanos first = std::numeric_limits<Nanos>::max();
  for (const Span& span : collected.spans) first = std::min(first, span.start);
  for (const Sample& sample : collected.samples) first = std::min(first, sample.time);
  return first == std::numeric_limits<Nanos>::max() ? 0 : first;
}

// Sums and differences of clocks that a file may set to anything.
Nanos saturating_add(Nanos a, Nanos b) {
  Nanos sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<Nanos>::min() : std::numeric_limits<Nanos>::max();
}

// Whether no time leaves (-far, far) when `zero` is subtracted. Both lie in it before.
bool stays_near(const Collected& collected, Nanos zero, Nanos far) {
  const auto near = [&](Nanos time) { return time - zero < far && time - zero > -far; };
  return std::ranges::all_of(collected.spans, near, &Span::start) &&
         std::ranges::all_of(collected.samples, near, &Sample::time);
}

// What to subtract from the file's times, and the origin that goes with it.
struct Clock {
  Origin origin;
  Nanos zero = 0;
};

Clock choose_clock(const Collected& collected, const FileHeader& header,
                   const std::string& subject) {
  constexpr Nanos kFar = Nanos{1} << 61;
  Clock clock;
  if (header.own) {
    clock.origin = header.own->origin;
    Nanos zero = 0;
    if (!__builtin_sub_overflow(clock.origin.clock_start, header.base, &zero) && zero < kFar &&
        zero > -kFar && stays_near(collected, zero, kFar))
      clock.zero = zero;
    return clock;
  }
  clock.zero = first_time(collected);
  clock.origin = {OriginKind::kImported, subject, describe_file(collected, header),
                  saturating_add(header.base, clock.zero)};
  return clock;
}

void add_losses(const Collected& collected, const FileHeader& header, Trace& trace) {
  for (std::size_t i = 0; i < collected.losses.size(); ++i)
    if (collected.losses[i] > 0)
      trace.add_dropped(describe_loss(static_cast<Loss>(i), collected.losses[i]));
  for (std::size_t phase = 0; phase < collected.other_phases.size(); ++phase) {
    if (collected.other_phases[phase] == 0) continue;
    const bool printable = phase > 0x20 && phase < 0x7F;
    const std::string name = printable ? std::string(1, static_cast<char>(phase)) : "?";
    trace.add_dropped({"event of a phase (\"ph\": \"" + name + "\") that is not read",
                       collected.other_phases[phase], false});
  }
  if (header.own)
    for (const Dropped& dropped : header.own->dropped) trace.add_dropped(dropped);
}

// The value of a counter holds until the next sample, so samples stand in order of time.
void sort_samples(std::vector<Sample>& samples) {
  std::ranges::stable_sort(samples, {}, &Sample::time);
}

// Of a count that is told by its changes: how much it is above its least, which nothing tells.
void add_up(Collected& collected) {
  struct Count {
    double now = 0, least = 0;
  };
  std::vector<Count> counts(collected.lanes.size());
  for (Sample& sample : collected.samples) {
    if (!collected.lanes[sample.lane].has_changes) continue;
    Count& count = counts[sample.lane];
    sample.value = count.now += sample.value;
    count.least = std::min(count.least, count.now);
  }
  for (Sample& sample : collected.samples)
    if (collected.lanes[sample.lane].has_changes) sample.value -= counts[sample.lane].least;
}

}  // namespace

std::unique_ptr<Trace> assemble(Collected collected, const FileHeader& header,
                                const std::string& subject) {
  if (!header.own) drop_strays(collected);
  place_loose_ends(collected);
  std::vector<Flow> flows = join_flows(collected);
  if (header.own) {
    const std::vector<SpanId> place = restore_order(collected);
    for (Flow& flow : flows) flow = {place[flow.from], place[flow.to], flow.kind};
  } else {
    find_causes(collected);
    find_staged_calls(collected);
    find_phases(collected);
    sort_samples(collected.samples);
    add_up(collected);
  }
  const Clock clock = choose_clock(collected, header, subject);
  Lanes lanes = order_lanes(collected, header);
  Trace& trace = *collected.trace;
  trace.set_origin(clock.origin);
  for (Lane& lane : lanes.lanes) trace.add_lane(std::move(lane));
  for (Span& span : collected.spans) {
    span.start -= clock.zero;
    span.lane = lanes.place[span.lane];
    trace.add_span(span);
  }
  for (const Flow& flow : flows) trace.add_flow(flow);
  for (const Sample& sample : collected.samples)
    trace.add_sample({sample.time - clock.zero, sample.value, lanes.place[sample.lane]});
  add_losses(collected, header, trace);
  return std::move(collected.trace);
}

std::vector<SpanId> restore_order(Collected& collected) {
  const auto count = collected.spans.size();
  std::vector<SpanId> order(count), place(count);
  std::iota(order.begin(), order.end(), SpanId{0});
  // Unsigned: spans without a number (-1), which some other tool has added, go to the end.
  std::ranges::stable_sort(
      order, {}, [&](SpanId id) { return static_cast<std::uint64_t>(collected.numbers[id]); });
  IdMap by_number(count);
  std::vector<Span> sorted;
  sorted.reserve(count);
  for (const SpanId id : order) {
    place[id] = static_cast<SpanId>(sorted.size());
    by_number.insert(static_cast<std::uint64_t>(collected.numbers[id]), place[id]);
    sorted.push_back(collected.spans[id]);
  }
  for (Span& span : sorted)
    if (span.cause_span != kNone) span.cause_span = by_number.find(span.cause_span);
  collected.spans = std::move(sorted);
  return place;
}

Dropped describe_loss(Loss loss, std::int64_t count) {
  switch (loss) {
    case Loss::kNoStart:
      return {"complete event without a start (\"ts\")", count, true};
    case Loss::kStartNoNumber:
      return {"complete event whose start (\"ts\") is no number", count, true};
    case Loss::kStartTooLarge:
      return {"complete event whose start (\"ts\") is too large", count, true};
    case Loss::kNoDuration:
      return {"complete event without a duration (\"dur\")", count, true};
    case Loss::kDurationNoNumber:
      return {"complete event whose duration (\"dur\") is no number", count, true};
    case Loss::kDurationTooLarge:
      return {"complete event whose duration (\"dur\") is too large", count, true};
    case Loss::kDurationNegative:
      return {"complete event of negative duration", count, true};
    case Loss::kStray:
      return {"complete event hours away from all others, as of another clock", count, true};
    case Loss::kBroken:
      return {"element of traceEvents that is no event", count, false};
    case Loss::kNoPhase:
      return {"event without a phase (\"ph\")", count, false};
    case Loss::kInstant:
      return {"instant event", count, false};
    case Loss::kMemoryWithoutTotals:
      return {"memory event without totals and bytes", count, false};
    case Loss::kCounterTime:
      return {"counter or memory event without a time", count, false};
    case Loss::kCounterValue:
      return {"counter value that is no number", count, false};
    case Loss::kStrayCounter:
      return {"counter value hours away from all else, as of another clock", count, false};
    case Loss::kFlowStart:
      return {"arrow that starts but does not end", count, false};
    case Loss::kFlowEnd:
      return {"arrow that ends but does not start", count, false};
    case Loss::kFlowUnplaced:
      return {"end of an arrow that touches no span", count, false};
    case Loss::kFlowUnknown:
      return {"end of an arrow of an unknown category", count, false};
    case Loss::kCorrelation:
      return {"correlation number out of range", count, false};
    case Loss::kCount:
      break;
  }
  return {"", count, false};
}

}  // namespace trainscope::trace::chrome
