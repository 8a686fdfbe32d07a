#include "trace/ranks.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "trace/moved.h"

namespace trainscope::trace {
namespace {

class Part {
 public:
  Part(const Trace& from, int rank)
      : from_(from), rank_(rank), part_(std::make_unique<Trace>(from.origin())) {
    const std::vector<int> devices = devices_of(from);
    several_ranks_ = ranks_of(from).size() > 1;
    several_devices_ = devices.size() > 1;
    if (!several_ranks_ && !several_devices_ && !devices.empty()) further_ = rank - devices[0];
    has_steps_ = !several_ranks_;
    for (LaneId id = 0; id < from.lanes().size(); ++id)
      has_steps_ |= from.lanes()[id].kind == LaneKind::kSteps && from.lanes()[id].rank == rank;
  }

  std::unique_ptr<Trace> take() {
    for (LaneId id = 0; id < from_.lanes().size(); ++id) take_lane(from_.lanes()[id]);
    take_spans();
    take_rest();
    return std::move(part_);
  }

 private:
  bool is_part(const Lane& lane) const {
    if (lane.kind == LaneKind::kSteps && !has_steps_) return true;
    if (several_ranks_) return lane.rank == rank_;
    return !several_devices_ || lane.device < 0 || lane.device == rank_;
  }

  void take_lane(const Lane& lane) {
    const bool is_taken = is_part(lane);
    lanes_.push_back(is_taken ? part_->add_lane(as_own(lane)) : kNone);
    if (is_taken) devices_.insert(lane.device);
  }

  // Of several devices, the one that is left keeps its process.
  Lane as_own(Lane lane) const {
    const std::string rank = "rank " + std::to_string(lane.rank);
    if (several_ranks_ || !several_devices_) lane.rank = rank_;
    if (lane.group == rank) lane.group = "rank " + std::to_string(lane.rank);
    return moved(std::move(lane), further_);
  }

  // A cause may be a span that comes later: places are known before any is taken.
  void take_spans() {
    SpanId next = 0;
    for (SpanId id = 0; id < from_.spans().size(); ++id)
      spans_.push_back(lanes_[from_.spans()[id].lane] == kNone ? kNone : next++);
    for (SpanId id = 0; id < spans_.size(); ++id) {
      if (spans_[id] == kNone) continue;
      Span span = from_.spans()[id];
      span.lane = lanes_[span.lane];
      span.name = part_->intern(from_.name(from_.spans()[id]));
      if (span.cause_span != kNone) span.cause_span = spans_[span.cause_span];
      if (const Detail* detail = from_.detail(span))
        span.detail = part_->add_detail(moved(*detail, further_));
      part_->add_span(span);
    }
  }

  void take_rest() {
    for_each(from_.flows(), [&](const Flow& flow, std::uint32_t) {
      if (spans_[flow.from] != kNone && spans_[flow.to] != kNone)
        part_->add_flow({spans_[flow.from], spans_[flow.to], flow.kind});
    });
    for_each(from_.samples(), [&](const Sample& sample, std::uint32_t) {
      if (lanes_[sample.lane] != kNone)
        part_->add_sample({sample.time, sample.value, lanes_[sample.lane]});
    });
    for_each(from_.steps(),
             [&](const TrainingStep& step, std::uint32_t) { part_->add_step(step); });
    for_each(from_.evaluations(),
             [&](const Evaluation& one, std::uint32_t) { part_->add_evaluation(one); });
    for_each(from_.dropped(), [&](const Dropped& one, std::uint32_t) { part_->add_dropped(one); });
    for_each(from_.allocator_events(),
             [&](const AllocatorEvent& event, std::uint32_t) { take_event(event); });
  }

  void take_event(AllocatorEvent event) {
    if (!devices_.contains(event.device)) return;
    event.device = moved(event.device, further_);
    if (event.owner != kNone) event.owner = part_->intern(from_.name(event.owner));
    if (event.role != kNone) event.role = part_->intern(from_.name(event.role));
    part_->add_allocator_event(event);
  }

  const Trace& from_;
  int rank_;
  std::unique_ptr<Trace> part_;
  bool several_ranks_ = false;
  bool several_devices_ = false;
  bool has_steps_ = false;
  std::int32_t further_ = 0;   // GPUs from where the part's were
  std::set<int> devices_;      // there
  std::vector<LaneId> lanes_;  // by the lanes and spans of the whole: theirs in the part
  std::vector<SpanId> spans_;
};

}  // namespace

std::vector<int> ranks_of(const Trace& trace) {
  std::set<int> ranks;
  for (LaneId id = 0, count = trace.lanes().size(); id < count; ++id)
    ranks.insert(trace.lanes()[id].rank);
  return {ranks.begin(), ranks.end()};
}

std::vector<int> devices_of(const Trace& trace) {
  std::set<int> devices;
  for (LaneId id = 0, count = trace.lanes().size(); id < count; ++id)
    if (const int device = trace.lanes()[id].device; device >= 0) devices.insert(device);
  return {devices.begin(), devices.end()};
}

std::unique_ptr<Trace> part_of_rank(const Trace& trace, int rank) {
  return Part(trace, rank).take();
}

}  // namespace trainscope::trace
