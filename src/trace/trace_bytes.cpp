#include "trace/trace_bytes.h"

#include <limits>
#include <type_traits>
#include <utility>

#include "trace/byte_words.h"
#include "trace/span_bytes.h"
#include "trace/training_bytes.h"

namespace trainscope::trace {
namespace {

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

// The kinds of collectives that say their group, and how they are carried out as well; others are
// kept without.
constexpr std::size_t kGrouped = std::variant_size_v<Detail>, kPlanned = kGrouped + 1;

std::size_t kind_of(const Detail& detail) {
  const auto* collective = std::get_if<CollectiveDetail>(&detail);
  if (!collective) return detail.index();
  if (!collective->algorithm.empty() || !collective->protocol.empty()) return kPlanned;
  const bool says = !collective->group.empty() || !collective->members.empty();
  return says ? kGrouped : detail.index();
}

void put_details(ByteWriter& out, const Trace& trace) {
  out.whole(trace.details().size());
  for (std::uint32_t i = 0; i < trace.details().size(); ++i) {
    const std::size_t kind = kind_of(trace.details()[i]);
    out.whole(kind);
    std::visit([&](const auto& detail) { put(out, detail); }, trace.details()[i]);
    if (kind < kGrouped) continue;
    const auto& collective = std::get<CollectiveDetail>(trace.details()[i]);
    out.text(collective.group);
    out.text(collective.members);
    if (kind < kPlanned) continue;
    out.text(collective.algorithm);
    out.text(collective.protocol);
  }
}

CollectiveDetail take_collective(ByteReader& in, std::size_t kind) {
  CollectiveDetail collective;
  take(in, collective);
  collective.group = in.text();
  collective.members = in.text();
  if (kind < kPlanned) return collective;
  collective.algorithm = in.text();
  collective.protocol = in.text();
  return collective;
}

void take_details(ByteReader& in, Trace& trace) {
  const std::uint32_t count = in.count(4, "details");
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto kind = in.below(kPlanned + 1, "the kind of a detail");
    trace.add_detail(kind >= kGrouped ? take_collective(in, kind) : take_detail(in, kind));
  }
}

// ---- Flows, samples, allocations --------------------------------------------------------------

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
