#include "trace/trace_bytes.h"

#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/training_bytes.h"

namespace trainscope::trace {
namespace {

// Differences wrap around, so that none can overflow.
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// An id near `expected`, or none.
void put_id(ByteWriter& out, std::uint32_t id, std::int64_t expected) {
  if (id == kNone) return out.whole(0);
  const std::int64_t away = std::int64_t{id} - expected;
  out.whole(1 + (static_cast<std::uint64_t>(away) << 1 ^ (away < 0 ? ~std::uint64_t{0} : 0)));
}

std::uint32_t take_id(ByteReader& in, std::int64_t expected, std::uint32_t limit,
                      const char* what) {
  const std::uint64_t folded = in.whole();
  if (folded == 0) return kNone;
  const std::uint64_t bits = folded - 1;
  const std::int64_t id = sum(static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1)), expected);
  if (id < 0 || id >= std::int64_t{limit}) in.damaged(std::string(what) + " is out of range");
  return static_cast<std::uint32_t>(id);
}

template <typename Enum>
void put_word(ByteWriter& out, Enum word) {
  out.whole(static_cast<std::uint64_t>(word));
}
template <typename Enum>
Enum take_word(ByteReader& in, Enum last, const char* what) {
  return static_cast<Enum>(in.below(static_cast<std::uint64_t>(last) + 1, what));
}

// ---- Names, lanes, what was dropped -------------------------------------------------------------

void put_origin(ByteWriter& out, const Origin& origin) {
  put_word(out, origin.kind);
  out.text(origin.subject);
  out.text(origin.detail);
  out.integer(origin.clock_start);
}

Origin take_origin(ByteReader& in) {
  Origin origin;
  origin.kind = take_word(in, OriginKind::kImported, "its origin");
  origin.subject = in.text();
  origin.detail = in.text();
  origin.clock_start = in.integer();
  return origin;
}

void put_lane(ByteWriter& out, const Lane& lane) {
  out.text(lane.name);
  put_word(out, lane.kind);
  out.integer(lane.rank);
  out.integer(lane.device);
  out.integer(lane.process);
  out.integer(lane.thread);
  out.text(lane.group);
}

Lane take_lane(ByteReader& in) {
  Lane lane;
  lane.name = in.text();
  lane.kind = take_word(in, LaneKind::kOther, "the kind of a lane");
  lane.rank = in.small();
  lane.device = in.small();
  lane.process = in.integer();
  lane.thread = in.integer();
  lane.group = in.text();
  return lane;
}

void take_names(ByteReader& in, Trace& trace) {
  const std::uint32_t count = in.count(1, "names");
  for (std::uint32_t i = 0; i < count; ++i)
    if (trace.intern(in.text()) != i) in.damaged("a name stands in it twice");
}

void take_dropped(ByteReader& in, Trace& trace) {
  const std::uint32_t count = in.count(3, "dropped events");
  for (std::uint32_t i = 0; i < count; ++i) {
    Dropped dropped;
    dropped.reason = in.text();
    dropped.count =
        in.below(std::numeric_limits<std::uint32_t>::max(), "a count of dropped events");
    dropped.complete_event = in.below(2, "a count of dropped events") == 1;
    trace.add_dropped(std::move(dropped));
  }
}

// ---- Details -----------------------------------------------------------------------------------

void put(ByteWriter& out, const KernelDetail& kernel) {
  out.integer(kernel.device);
  out.integer(kernel.stream);
  for (const std::int32_t size : kernel.grid) out.integer(size);
  for (const std::int32_t size : kernel.block) out.integer(size);
  out.integer(kernel.registers_per_thread);
  out.integer(kernel.shared_bytes);
  out.real(kernel.flops);
  out.real(kernel.bytes);
  out.real(kernel.occupancy);
}
void put(ByteWriter& out, const CopyDetail& copy) {
  out.integer(copy.bytes);
  put_word(out, copy.from);
  put_word(out, copy.to);
  out.integer(copy.device);
  out.integer(copy.stream);
}
void put(ByteWriter& out, const CollectiveDetail& collective) {
  out.text(collective.operation);
  out.text(collective.type);
  out.integer(collective.elements_in);
  out.integer(collective.elements_out);
  out.integer(collective.group_size);
  out.integer(collective.sequence);
  put(out, collective.kernel);
}
void put(ByteWriter& out, const SyncDetail& sync) {
  out.text(sync.kind);
  out.integer(sync.device);
  out.integer(sync.stream);
}

void take(ByteReader& in, KernelDetail& kernel) {
  kernel.device = in.small();
  kernel.stream = in.small();
  for (std::int32_t& size : kernel.grid) size = in.small();
  for (std::int32_t& size : kernel.block) size = in.small();
  kernel.registers_per_thread = in.small();
  kernel.shared_bytes = in.integer();
  kernel.flops = in.real();
  kernel.bytes = in.real();
  kernel.occupancy = in.real();
}
void take(ByteReader& in, CopyDetail& copy) {
  copy.bytes = in.integer();
  copy.from = take_word(in, Memory::kArray, "the memory of a copy");
  copy.to = take_word(in, Memory::kArray, "the memory of a copy");
  copy.device = in.small();
  copy.stream = in.small();
}
void take(ByteReader& in, CollectiveDetail& collective) {
  collective.operation = in.text();
  collective.type = in.text();
  collective.elements_in = in.integer();
  collective.elements_out = in.integer();
  collective.group_size = in.small();
  collective.sequence = in.integer();
  take(in, collective.kernel);
}
void take(ByteReader& in, SyncDetail& sync) {
  sync.kind = in.text();
  sync.device = in.small();
  sync.stream = in.small();
}

// A detail of the alternative with this number.
template <std::size_t kAlternative = 0>
Detail take_detail(ByteReader& in, std::size_t alternative) {
  if constexpr (kAlternative + 1 < std::variant_size_v<Detail>)
    if (alternative != kAlternative) return take_detail<kAlternative + 1>(in, alternative);
  std::variant_alternative_t<kAlternative, Detail> detail;
  take(in, detail);
  return detail;
}

void put_details(ByteWriter& out, const Trace& trace) {
  out.whole(trace.details().size());
  for (std::uint32_t i = 0; i < trace.details().size(); ++i) {
    out.whole(trace.details()[i].index());
    std::visit([&](const auto& detail) { put(out, detail); }, trace.details()[i]);
  }
}

void take_details(ByteReader& in, Trace& trace) {
  const std::uint32_t count = in.count(4, "details");
  for (std::uint32_t i = 0; i < count; ++i)
    trace.add_detail(
        take_detail(in, in.below(std::variant_size_v<Detail>, "the kind of a detail")));
}

// ---- Spans, flows, samples, allocations --------------------------------------------------------

// Each member of all spans, one after the other. Times are differences within a lane, ids stand
// near the ids before them.
void put_spans(ByteWriter& out, const Trace& trace) {
  const auto& spans = trace.spans();
  const std::uint32_t count = spans.size();
  const auto column = [&](const auto& put_one) {
    for (std::uint32_t i = 0; i < count; ++i) put_one(spans[i], i);
  };
  out.whole(count);
  column([&](const Span& span, std::uint32_t) { out.whole(span.lane); });
  std::vector<Nanos> before(trace.lanes().size(), 0);
  column([&](const Span& span, std::uint32_t) {
    out.integer(difference(span.start, before[span.lane]));
    before[span.lane] = span.start;
  });
  column([&](const Span& span, std::uint32_t) { out.integer(span.duration); });
  column([&](const Span& span, std::uint32_t) { out.whole(span.name); });
  column([&](const Span& span, std::uint32_t i) { put_id(out, span.cause_span, i); });
  std::int64_t expected = 0;
  column([&](const Span& span, std::uint32_t) {
    put_id(out, span.detail, expected);
    if (span.detail != kNone) expected = std::int64_t{span.detail} + 1;
  });
  std::int64_t correlation = 0;
  column([&](const Span& span, std::uint32_t) {
    out.integer(span.correlation - correlation);
    correlation = span.correlation;
  });
  column([&](const Span& span, std::uint32_t) { put_word(out, span.category); });
  column([&](const Span& span, std::uint32_t) { put_word(out, span.cause); });
  column([&](const Span& span, std::uint32_t) { out.whole(span.line); });
}

void check_start(const ByteReader& in, Nanos start, const char* what) {
  if (start <= kEarliest || start >= kLatest) in.damaged(std::string(what) + " is out of range");
}

void take_spans(ByteReader& in, Trace& trace) {
  constexpr std::size_t kColumns = 10;
  std::vector<Span> spans(in.count(kColumns, "spans"));
  const auto count = static_cast<std::uint32_t>(spans.size());
  const std::uint32_t lanes = trace.lanes().size();
  for (Span& span : spans) span.lane = in.below(lanes, "the lane of a span");
  std::vector<Nanos> before(lanes, 0);
  for (Span& span : spans) span.start = before[span.lane] = sum(in.integer(), before[span.lane]);
  for (Span& span : spans) {
    span.duration = in.integer();
    check_start(in, span.start, "the start of a span");
    if (span.duration < 0 || span.duration >= kLongest)
      in.damaged("the duration of a span is out of range");
  }
  for (Span& span : spans) span.name = in.below(trace.name_count(), "the name of a span");
  for (std::uint32_t i = 0; i < count; ++i)
    spans[i].cause_span = take_id(in, i, count, "the cause of a span");
  std::int64_t expected = 0;
  for (Span& span : spans) {
    span.detail = take_id(in, expected, trace.details().size(), "the detail of a span");
    if (span.detail != kNone) expected = std::int64_t{span.detail} + 1;
  }
  std::int64_t correlation = 0;
  for (Span& span : spans) {
    correlation = sum(correlation, in.integer());
    if (correlation < 0 || correlation > std::int64_t{UINT32_MAX})
      in.damaged("the correlation of a span is out of range");
    span.correlation = static_cast<std::uint32_t>(correlation);
  }
  for (Span& span : spans)
    span.category = take_word(in, Category::kOther, "the category of a span");
  for (Span& span : spans) span.cause = take_word(in, Cause::kPeer, "the cause of a span");
  for (Span& span : spans)
    span.line = static_cast<std::uint16_t>(in.below(UINT16_MAX + 1, "the line of a span"));
  for (const Span& span : spans) trace.add_span(span);
}

void put_flows(ByteWriter& out, const Trace& trace) {
  out.whole(trace.flows().size());
  std::int64_t from = 0;
  for (std::uint32_t i = 0; i < trace.flows().size(); ++i) {
    const Flow& flow = trace.flows()[i];
    out.integer(flow.from - from);
    out.integer(std::int64_t{flow.to} - flow.from);
    put_word(out, flow.kind);
    from = flow.from;
  }
}

void take_flows(ByteReader& in, Trace& trace) {
  const std::uint32_t count = in.count(3, "flows");
  const std::int64_t spans = trace.spans().size();
  std::int64_t from = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    from = sum(from, in.integer());
    const std::int64_t to = sum(from, in.integer());
    if (from < 0 || from >= spans || to < 0 || to >= spans)
      in.damaged("the span of a flow is out of range");
    trace.add_flow({static_cast<SpanId>(from), static_cast<SpanId>(to),
                    take_word(in, FlowKind::kGradient, "the kind of a flow")});
  }
}

void put_samples(ByteWriter& out, const Trace& trace) {
  out.whole(trace.samples().size());
  Nanos before = 0;
  for (std::uint32_t i = 0; i < trace.samples().size(); ++i) {
    const Sample& sample = trace.samples()[i];
    out.whole(sample.lane);
    out.integer(difference(sample.time, before));
    out.real(sample.value);
    before = sample.time;
  }
}

void take_samples(ByteReader& in, Trace& trace) {
  const std::uint32_t count = in.count(10, "samples");
  Nanos time = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const LaneId lane = in.below(trace.lanes().size(), "the lane of a sample");
    time = sum(time, in.integer());
    check_start(in, time, "the time of a sample");
    trace.add_sample({time, in.real(), lane});
  }
}

// A file may claim any number of bytes; sums of them stay far from overflowing.
std::int64_t take_size(ByteReader& in, const char* what) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 50;
  const std::int64_t size = in.integer();
  if (size < 0 || size > kLargest) in.damaged(std::string(what) + " is out of range");
  return size;
}

void put_allocator_events(ByteWriter& out, const Trace& trace) {
  out.whole(trace.allocator_events().size());
  Nanos before = 0;
  for (std::uint32_t i = 0; i < trace.allocator_events().size(); ++i) {
    const AllocatorEvent& event = trace.allocator_events()[i];
    out.integer(difference(event.time, before));
    out.integer(event.offset);
    out.integer(event.bytes);
    out.integer(event.requested);
    put_id(out, event.segment, 0);
    put_id(out, event.owner, 0);
    put_id(out, event.role, 0);
    out.integer(event.device);
    out.integer(event.stream);
    put_word(out, event.action);
    before = event.time;
  }
}

void take_allocator_events(ByteReader& in, Trace& trace) {
  const std::uint32_t count = in.count(10, "allocator events");
  Nanos time = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    AllocatorEvent event;
    event.time = time = sum(time, in.integer());
    check_start(in, time, "the time of an allocation");
    event.offset = take_size(in, "the place of an allocation");
    event.bytes = take_size(in, "the size of an allocation");
    event.requested = take_size(in, "the size of an allocation");
    event.segment = take_id(in, 0, count, "the segment of an allocation");
    event.owner = take_id(in, 0, trace.name_count(), "the owner of an allocation");
    event.role = take_id(in, 0, trace.name_count(), "the role of an allocation");
    event.device = in.small();
    event.stream = in.small();
    event.action = take_word(in, AllocatorAction::kOutOfMemory, "the kind of an allocation");
    trace.add_allocator_event(event);
  }
}

}  // namespace

void save_trace(const Trace& trace, ByteWriter& out) {
  put_origin(out, trace.origin());
  out.whole(trace.name_count());
  for (NameId id = 0; id < trace.name_count(); ++id) out.text(trace.name(id));
  out.whole(trace.lanes().size());
  for (LaneId id = 0; id < trace.lanes().size(); ++id) put_lane(out, trace.lanes()[id]);
  put_details(out, trace);
  put_spans(out, trace);
  put_flows(out, trace);
  put_samples(out, trace);
  put_allocator_events(out, trace);
  put_training(out, trace);
  out.whole(trace.dropped().size());
  for (std::uint32_t i = 0; i < trace.dropped().size(); ++i) {
    out.text(trace.dropped()[i].reason);
    out.whole(static_cast<std::uint64_t>(trace.dropped()[i].count));
    out.whole(trace.dropped()[i].complete_event ? 1 : 0);
  }
}

std::unique_ptr<Trace> load_trace(ByteReader& in) {
  auto trace = std::make_unique<Trace>(take_origin(in));
  take_names(in, *trace);
  const std::uint32_t lanes = in.count(7, "lanes");
  for (std::uint32_t i = 0; i < lanes; ++i) trace->add_lane(take_lane(in));
  take_details(in, *trace);
  take_spans(in, *trace);
  take_flows(in, *trace);
  take_samples(in, *trace);
  take_allocator_events(in, *trace);
  take_training(in, *trace);
  take_dropped(in, *trace);
  return trace;
}

}  // namespace trainscope::trace
