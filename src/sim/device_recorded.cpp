// Work of the device that lasts as long as a recording says.

#include "sim/device.h"

namespace trainscope::sim {

OpId Device::enqueue_recorded(Nanos now, program::Index work, std::uint32_t correlation,
                              std::uint16_t line) {
  const program::RecordedWork& one = program_.recording.works[work];
  const trace::Trace& recorded = *program_.recording.trace;
  const trace::Span& span = recorded.spans()[one.span];
  Op op;
  op.kind = Kind::kRecorded;
  op.recorded = &one;
  op.call_returned = false;
  op.category = span.category;
  op.parts = 1;
  op.earliest = now + one.latency;
  op.tags.stream = one.stream;
  op.tags.name = recorder_.name(std::string_view(recorded.name(span)));
  op.tags.line = line;
  op.tags.correlation = correlation;
  for (const program::Index before : one.after)
    if (!done(recorded_[before])) streams_[one.stream].extra.push_back(recorded_[before]);
  return recorded_[work] = enqueue(now, std::move(op));
}

// A rank's part of a collective waits for the last rank, and then takes as long as it did.
void Device::start_recorded(Nanos now, OpId id) {
  const program::RecordedWork& work = *ops_[id].recorded;
  if (work.meeting == program::RecordedWork::kAlone) return run_recorded(now, id);
  std::vector<OpId>& arrived = gathered_[work.meeting];
  arrived.push_back(id);
  if (!work.waits_for_ranks) run_recorded(now, id);
  if (arrived.size() < program_.recording.meetings[work.meeting]) return;
  for (const OpId one : arrived) {
    if (!ops_[one].recorded->waits_for_ranks) continue;
    record_wait(one, id);
    run_recorded(now, one);
  }
}

void Device::run_recorded(Nanos now, OpId id) {
  events_.add(now + ops_[id].recorded->duration, EventKind::kKernelFloor, id);
}

bool Device::recorded_ranks_wait() const {
  for (std::size_t i = 0; i < gathered_.size(); ++i)
    if (!gathered_[i].empty() && gathered_[i].size() < program_.recording.meetings[i]) return true;
  return false;
}

}  // namespace trainscope::sim
