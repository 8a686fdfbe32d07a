#include <algorithm>

#include "cuda/trace_writer.h"

namespace trainscope::cuda {
namespace {

// As NCCL begins the names of its kernels' kinds.
std::string ring_name(program::CollectiveKind kind) {
  if (kind == program::CollectiveKind::kSendReceive) return "SendRecv by copies";
  constexpr const char* kNames[] = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast",
                                    "Reduce"};
  return std::string(kNames[static_cast<std::size_t>(kind)]) + " by a ring of copies";
}

// Of whose ranks none is done before the last has come.
bool needs_all_ranks(program::CollectiveKind kind) {
  return kind != program::CollectiveKind::kBroadcast && kind != program::CollectiveKind::kReduce;
}

}  // namespace

void TraceWriter::Extent::take(Nanos from, Nanos to) {
  start = is_known ? std::min(start, from) : from;
  end = is_known ? std::max(end, to) : to;
  is_known = true;
}

// A library's work of all ranks may be told as that of one call: each rank's is on its GPU.
CallId TraceWriter::of_gpu(const Joint& joint, int gpu) const {
  for (const CallId id : joint.ranks)
    if (program_.streams[calls_.at(id).call->stream].device == gpu) return id;
  return joint.ranks.front();
}

// What each rank's call led to, and until when each stream's calls so far were done.
void TraceWriter::note_collectives(const std::vector<Activity>& sorted) {
  for (const auto& [id, known] : calls_) {
    const program::Collective* one = known.call->collective;
    if (one && !known.call->part_of)
      joints_[{one->communicator, one->sequence}].ranks.push_back(id);
  }
  if (joints_.empty()) return;
  for (auto& [key, joint] : joints_)
    std::sort(joint.ranks.begin(), joint.ranks.end(), [this](CallId a, CallId b) {
      return calls_.at(a).call->stream < calls_.at(b).call->stream;
    });
  for (const Activity& activity : sorted) {
    const auto found = calls_.find(activity.call);
    if (found == calls_.end() || !found->second.call->collective) continue;
    const Call& call = *found->second.call;
    const Nanos start = at(activity.start), end = at(activity.end);
    const Joint& joint = joints_.at({call.collective->communicator, call.collective->sequence});
    if (!call.part_of) {
      const CallId id = of_gpu(joint, activity.gpu);
      shares_[id].take(start, end);
      library_kernels_[id] = &activity;
    } else if (call.send) {
      sends_[call.id].take(start, end);
      sends_[call.id].bytes += activity.kind == ActivityKind::kCopy ? activity.bytes : 0;
      shares_[call.part_of].take(start, end);
      shares_[joint.ranks[static_cast<std::size_t>(call.send->from)]].take(start, end);
    }
  }
  for (auto& [key, joint] : joints_) {
    Extent whole;
    for (const CallId id : joint.ranks)
      if (const auto share = shares_.find(id); share != shares_.end())
        whole.take(share->second.start, share->second.end);
    joint.begun = whole.is_known ? whole.start : 0;
  }
  ended_.resize(program_.streams.size());
  for (const auto& [id, done] : done_) ended_[calls_.at(id).call->stream].emplace_back(id, done);
  for (const auto& [id, share] : shares_)  // until its neighbour has read what it has
    ended_[calls_.at(id).call->stream].emplace_back(id, share.end);
  for (auto& stream : ended_) {
    std::sort(stream.begin(), stream.end());
    for (std::size_t i = 1; i < stream.size(); ++i)
      stream[i].second = std::max(stream[i].second, stream[i - 1].second);
  }
  for (const auto& [id, done] : done_) {
    const Call& call = *calls_.at(id).call;
    if (!call.part_of || call.send) continue;
    const Nanos begun =
        joints_.at({call.collective->communicator, call.collective->sequence}).begun;
    if (done <= begun) flattened_[call.part_of] = std::max(flattened_[call.part_of], done);
  }
}

// When a rank's stream had come to the collective: its call, which for the last rank to come lasts
// longer than the collective may, and all work that it is behind. A library's kernel is there then,
// and looks for the others.
Nanos TraceWriter::ready(CallId id) const {
  if (library_kernels_.contains(id)) return shares_.at(id).start;
  const Known& known = calls_.at(id);
  Nanos when = known.begun;
  for (const program::Index stream :
       {known.call->collective->stream, known.call->collective->after}) {
    if (stream == program::kNoIndex) continue;
    const auto& ended = ended_[stream];
    const auto next = std::lower_bound(ended.begin(), ended.end(), std::pair{id, Nanos{0}});
    if (next != ended.begin()) when = std::max(when, std::prev(next)->second);
  }
  const auto flattened = flattened_.find(id);
  return flattened == flattened_.end() ? when : std::max(when, flattened->second);
}

void TraceWriter::write_collectives() {
  for (const auto& [key, joint] : joints_) write_joint(joint);
  for (const auto& [id, extent] : sends_) {
    const Call& call = *calls_.at(id).call;
    trace::Span span;
    span.start = extent.start;
    span.duration = extent.end - extent.start;
    span.name = recorder_.chunk_name(*call.send);
    const program::Communicator& group = program_.communicators[call.collective->communicator];
    span.lane = recorder_.link_lane(group.gpu_of(call.send->from), group.gpu_of(call.send->to));
    span.category = trace::Category::kCollective;
    span.line = call.line;
    span.detail = recorder_.chunk_detail(*call.send, static_cast<double>(extent.bytes));
    recorder_.add(span);
  }
}

// The rank that came last is the one that the others waited for.
void TraceWriter::write_joint(const Joint& joint) {
  CallId last = joint.ranks.front();
  for (const CallId id : joint.ranks)
    if (ready(id) > ready(last)) last = id;
  for (const CallId id : joint.ranks)
    if (const auto share = shares_.find(id); share != shares_.end())
      write_share(id, share->second, last);
}

void TraceWriter::write_share(CallId id, const Extent& share, CallId last) {
  const Known& known = calls_.at(id);
  const Call& call = *known.call;
  const Joint& joint = joints_.at({call.collective->communicator, call.collective->sequence});
  const Nanos came = ready(id);
  // A broadcast's root is done with its part whether the last rank is there or not.
  const Nanos all_there = std::max(joint.begun, ready(last));
  const bool needs_all = needs_all_ranks(call.collective->kind);
  const Nanos begun = std::max(came, needs_all || share.end >= all_there ? all_there : share.start);
  trace::Span span;
  span.lane = recorder_.stream_lane(call.stream);
  span.line = call.line;
  span.correlation = id;
  span.start = came;
  span.duration = begun - came;
  span.cause = trace::Cause::kPeer;
  span.cause_span = calls_.at(last).span;
  if (id != last && begun > came) {
    span.name = recorder_.wait_name(calls_.at(last).call->stream);
    span.category = trace::Category::kSync;
    recorder_.add(span);
  } else {
    const bool after_work = came > known.begun;
    span.cause = after_work ? trace::Cause::kEvent : trace::Cause::kLaunch;
    span.cause_span = after_work ? trace::kNone : known.span;
  }
  span.start = begun;
  span.duration = std::max<Nanos>(0, share.end - begun);
  span.category = trace::Category::kCollective;
  const auto kernel = library_kernels_.find(id);
  span.name = trace_.intern(kernel == library_kernels_.end() ? ring_name(call.collective->kind)
                                                             : kernel->second->name);
  span.detail = recorder_.collective_detail(*call.collective, {});
  const trace::SpanId added = recorder_.add(span);
  if (known.span != trace::kNone) trace_.add_flow({known.span, added, trace::FlowKind::kLaunch});
}

}  // namespace trainscope::cuda
