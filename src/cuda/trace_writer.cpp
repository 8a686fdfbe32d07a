#include "cuda/trace_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/units.h"
#include "cuda/clock_shift.h"

namespace trainscope::cuda {
namespace {

using program::MemoryKind;

bool is_pageable(const program::Program& program, const program::Copy& copy) {
  return program.buffers[copy.from].kind == MemoryKind::kPageable ||
         program.buffers[copy.to].kind == MemoryKind::kPageable;
}

}  // namespace

TraceWriter::TraceWriter(const program::Program& program, const machine::Machine& machine,
                         trace::Trace& trace, Nanos begin)
    : program_(program),
      trace_(trace),
      recorder_(program, machine, trace, sim::Recorder::Sms::kUnknown),
      begin_(begin),
      ends_(program.streams.size()),
      last_(program.streams.size()) {}

Nanos TraceWriter::done(CallId call) const {
  const auto found = done_.find(call);
  return found == done_.end() ? trace_.end() : found->second;
}

void TraceWriter::write(const std::vector<ThreadLog>& logs, const Activities& activities,
                        const std::vector<MemoryChange>& changes,
                        const std::vector<BlockTrace>& blocks, bool failed) {
  for (const ThreadLog& log : logs)
    for (const Call& call : log.calls) calls_[call.id].call = &call;
  std::vector<Activity> sorted = activities.records;
  set_clock(logs, sorted);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Activity& a, const Activity& b) { return a.start < b.start; });
  note_ends(sorted);
  note_collectives(sorted);
  if (failed) find_undone(logs);
  write_host(logs);
  for (const Activity& activity : sorted) write_activity(activity);
  write_collectives();
  write_blocks(sorted, blocks);
  write_memory(changes);
  write_dropped(activities);
}

// Within the tracer's resolution the two clocks agree.
void TraceWriter::set_clock(const std::vector<ThreadLog>& logs, std::vector<Activity>& activities) {
  constexpr Nanos kResolution = 1000;
  const Nanos shift = clock_shift(logs, activities);
  if (std::abs(shift) < kResolution) return;
  for (Activity& one : activities) {
    one.start += shift;
    one.end += shift;
  }
  trace::Origin origin = trace_.origin();
  origin.detail += fmt::format(", the device's times set {} {}",
                               format_nanos(static_cast<double>(std::abs(shift))),
                               shift > 0 ? "later" : "earlier");
  trace_.set_origin(std::move(origin));
}

void TraceWriter::note_ends(const std::vector<Activity>& sorted) {
  for (const Activity& activity : sorted) {
    const auto known = calls_.find(activity.call);
    if (known == calls_.end()) continue;
    ends_[known->second.call->stream].push_back(activity.end);
    Nanos& done = done_[activity.call];
    done = std::max(done, at(activity.end));
  }
  for (std::vector<Nanos>& ends : ends_) std::sort(ends.begin(), ends.end());
}

// A graph's launch is one call, of whose kernels only some may have been carried out: a stream's
// last one of which any were counts as undone. A collective is done when its parts are.
void TraceWriter::find_undone(const std::vector<ThreadLog>& logs) {
  std::unordered_map<CallId, Nanos> begun;
  std::unordered_set<CallId> in_parts;
  std::vector<const Call*> last_graphs(program_.streams.size());
  for (const ThreadLog& log : logs) {
    for (const HostSpan& span : log.spans)
      if (span.call) begun[span.call] = span.start;
    for (const Call& call : log.calls) {
      if (call.part_of) in_parts.insert(call.part_of);
      const bool is_graph = !call.is_hidden && !call.operation && !call.copy && !call.collective;
      const Call*& last = last_graphs[call.stream];
      if (is_graph && done_.contains(call.id) && (!last || call.id > last->id)) last = &call;
    }
  }
  const auto note = [&](const Call& call) {
    const auto known = begun.find(call.part_of ? call.part_of : call.id);
    if (known != begun.end()) undone_ = std::min(undone_, known->second);
  };
  for (const ThreadLog& log : logs)
    for (const Call& call : log.calls)
      if (!call.is_hidden && !done_.contains(call.id) && !in_parts.contains(call.id)) note(call);
  for (const Call* graph : last_graphs)
    if (graph) note(*graph);
}

// ---- the host -----------------------------------------------------------------------------------

void TraceWriter::write_host(const std::vector<ThreadLog>& logs) {
  for (program::Index thread = 0; thread < logs.size(); ++thread)
    write_thread(thread, logs[thread]);
}

// Whether work that it is for ended while it lasted.
bool TraceWriter::waited(const HostSpan& span) const {
  if (!span.waits) return false;
  const auto ended = [&](const std::vector<Nanos>& ends) {
    const auto first = std::upper_bound(ends.begin(), ends.end(), span.start);
    return first != ends.end() && *first <= span.end;
  };
  if (span.stream != program::kNoIndex) return ended(ends_[span.stream]);
  return std::any_of(ends_.begin(), ends_.end(), ended);
}

void TraceWriter::write_thread(program::Index thread, const ThreadLog& log) {
  const auto text = [&](const HostSpan& span) {
    return span.name == program::kNoIndex ? std::string_view(span.word)
                                          : std::string_view(program_.names[span.name]);
  };
  trace::SpanId before = trace::kNone;
  for (const HostSpan& one : log.spans) {
    const bool held = waited(one);
    trace::Span span;
    span.start = at(one.start);
    span.duration = one.end - one.start;
    span.name = trace_.intern(text(one));
    span.lane = recorder_.thread_lane(thread);
    span.category = held ? trace::Category::kHeld : one.category;
    span.cause = held ? trace::Cause::kDevice : one.cause;
    span.cause_span = held ? trace::kNone : before;
    span.line = one.line;
    span.correlation = one.call;
    before = recorder_.add(span);
    const auto known = calls_.find(one.call);
    if (one.call == 0 || known == calls_.end()) continue;
    known->second.span = before;
    known->second.begun = at(one.start);
    known->second.called = at(one.end);
    const Call& call = *known->second.call;
    if (call.copy && is_pageable(program_, *call.copy)) {
      write_staging(call, span);
      span.name = recorder_.name("held: staging (inferred)");
      span.category = trace::Category::kHeld;
      span.correlation = 0;
      recorder_.add(span);
    }
  }
  for (const HostSpan& mark : log.marks) {
    if (mark.end > undone_) {
      ++unmarked_;
      continue;
    }
    trace::Span span;
    span.start = at(mark.start);
    span.duration = mark.end - mark.start;
    span.name = trace_.intern(text(mark));
    span.lane = recorder_.marks_lane(thread);
    span.category = trace::Category::kAnnotation;
    span.line = mark.line;
    recorder_.add(span);
  }
}

void TraceWriter::write_staging(const Call& call, const trace::Span& host) {
  trace::Span span = host;
  span.name = recorder_.name("staging (inferred)");
  span.lane = recorder_.staging_lane(program_.streams[call.stream].rank);
  span.category = trace::Category::kStaging;
  span.correlation = call.id;
  recorder_.add(span);
}

// ---- the device ---------------------------------------------------------------------------------

trace::NameId TraceWriter::name_of(const Activity& activity, const Known& known) {
  if (known.call->copy) return recorder_.copy_name(*known.call->copy);
  if (activity.kind == ActivityKind::kMemset) return recorder_.name("Memset (Device)");
  if (activity.kind == ActivityKind::kCopy) return recorder_.name("Memcpy DtoD (Device -> Device)");
  return trace_.intern(activity.name);
}

trace::DetailId TraceWriter::detail_of(const Activity& activity, const Known& known) {
  const program::Stream& stream = program_.streams[known.call->stream];
  if (activity.kind != ActivityKind::kKernel) {
    trace::CopyDetail copy;
    copy.bytes = activity.bytes;
    copy.from = sim::memory_of(activity.from);
    copy.to = sim::memory_of(activity.to);
    copy.device = stream.device;
    copy.stream = stream.number;
    return trace_.add_detail(copy);
  }
  trace::KernelDetail kernel;
  kernel.device = stream.device;
  kernel.stream = stream.number;
  if (activity.grid[0] > 0) {
    std::copy_n(activity.grid, 3, kernel.grid);
    std::copy_n(activity.block, 3, kernel.block);
  }
  kernel.registers_per_thread = activity.registers;
  kernel.shared_bytes = activity.shared_bytes;
  if (known.call->operation) {
    const program::Operation& operation = *known.call->operation;
    const program::CallWork work =
        operation.as_one_call.value_or(program::CallWork{operation.flops, operation.bytes});
    kernel.flops = work.flops;
    kernel.bytes = work.bytes;
  }
  return trace_.add_detail(kernel);
}

void TraceWriter::write_activity(const Activity& activity) {
  const auto found = calls_.find(activity.call);
  if (found == calls_.end()) {
    ++unknown_;
    return;
  }
  const Call& call = *found->second.call;
  // Copies to and from where a collective has its numbers in one piece are its caller's.
  const Known& known = call.part_of ? calls_.at(call.part_of) : found->second;
  Last& last = last_[call.stream];
  const bool is_chunk = call.collective && (call.send || !call.part_of);
  if (call.is_hidden || is_chunk) {
    hidden_ += call.is_hidden ? 1 : 0;
    last.end = std::max(last.end, at(activity.end));
    return;
  }
  trace::Span span;
  span.start = at(activity.start);
  span.duration = std::max<Nanos>(0, activity.end - activity.start);
  span.name = name_of(activity, known);
  span.lane = recorder_.stream_lane(call.stream);
  span.category = call.copy ? sim::category_of(sim::direction_of(*call.copy, program_))
                  : activity.kind == ActivityKind::kKernel ? sim::category_of(call.phase)
                  : activity.kind == ActivityKind::kCopy   ? trace::Category::kCopyD2D
                                                           : trace::Category::kMemset;
  const bool after_stream = last.span != trace::kNone && last.end > known.called;
  span.cause = after_stream ? trace::Cause::kStream : trace::Cause::kLaunch;
  span.cause_span = after_stream ? last.span : known.span;
  span.line = call.line;
  span.correlation = call.part_of ? call.part_of : call.id;
  span.detail = detail_of(activity, known);
  const trace::SpanId id = recorder_.add(span);
  if (known.span != trace::kNone) trace_.add_flow({known.span, id, trace::FlowKind::kLaunch});
  if (call.copy) write_engine(activity, known, span);
  if (span.end() >= last.end) last = {span.end(), id};
}

void TraceWriter::write_engine(const Activity& activity, const Known& known,
                               const trace::Span& on_stream) {
  const sim::Direction direction = sim::direction_of(*known.call->copy, program_);
  if (direction == sim::Direction::kD2D) return;
  trace::Span span = on_stream;
  span.name = recorder_.transfer_name(activity.bytes);
  span.lane = recorder_.engine_lane(program_.streams[known.call->stream].device, direction);
  recorder_.add(span);
}

// ---- the rest -----------------------------------------------------------------------------------

void TraceWriter::write_memory(const std::vector<MemoryChange>& changes) {
  const auto gpus = static_cast<std::size_t>(sim::gpus_to_the_last(program_));
  std::vector<std::int64_t> all(gpus);
  std::vector<std::array<std::int64_t, program::kRoles>> roles(gpus);
  for (const MemoryChange& change : changes) {
    const sim::Recorder::MemoryLanes& lanes = recorder_.memory_lanes(change.gpu);
    if (lanes.allocated == trace::kNone) continue;
    const auto gpu = static_cast<std::size_t>(change.gpu);
    const auto role = static_cast<std::size_t>(change.role);
    all[gpu] += change.bytes;
    roles[gpu][role] += change.bytes;
    const Nanos time = std::max<Nanos>(0, at(change.time));  // the first were before the run
    trace_.add_sample({time, static_cast<double>(all[gpu]), lanes.allocated});
    if (lanes.roles[role] != trace::kNone)
      trace_.add_sample({time, static_cast<double>(roles[gpu][role]), lanes.roles[role]});
  }
}

void TraceWriter::write_dropped(const Activities& activities) {
  const auto drop = [&](const char* reason, std::int64_t count, bool lost) {
    if (count > 0) trace_.add_dropped({reason, count, lost});
  };
  drop("records that the tracer had no room for", activities.dropped, true);
  drop("records of the tracer without a time that can be", activities.untimed, true);
  drop("buffers of the tracer that end in an unfinished record, and what came behind it",
       activities.cut, true);
  drop("work on the device that belongs to no call of the run", activities.foreign + unknown_,
       false);
  drop("marks of what the device did not finish before it failed", unmarked_, false);
  drop("work of no span: losses and scales put aside, new memory set to zero", hidden_, false);
}

}  // namespace trainscope::cuda
