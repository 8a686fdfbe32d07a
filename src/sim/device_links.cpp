// Expanded collectives on the device: their chunks on the links between GPUs, which copies share.

#include <algorithm>

#include "sim/device.h"

namespace trainscope::sim {

// The ranks' kernels hold their SMs until the last chunk is there, however long that takes.
void Device::start_expanded(Nanos now, const std::vector<OpId>& arrived,
                            const CollectivePlan& plan) {
  const program::Collective& collective = *ops_[arrived.front()].collective;
  const auto free =
      std::find_if(expanded_.begin(), expanded_.end(), [](const auto& one) { return !one.active; });
  const auto id = static_cast<std::uint32_t>(free - expanded_.begin());
  if (free == expanded_.end()) expanded_.emplace_back();
  expanded_[id] = {arrived, true};
  for (const OpId one : arrived) {
    ops_[one].parts = 1;
    set_aside(now, one, {sms_of(one), memory_of(plan)});
  }
  const int ranks = program_.communicators[collective.communicator].ranks;
  traffic_->start(now, id, plan, collective.kind, ranks, collective.bytes);
  appoint_links();
}

void Device::appoint_links() {
  if (!traffic_->idle())
    events_.add(traffic_->next_event(), EventKind::kLinks, 0, traffic_->version());
}

void Device::on_links(Nanos now, std::uint64_t version) {
  if (traffic_->version() != version) return;
  traffic_->advance(now);
  for (const ChunkTraffic::Sent& sent : traffic_->sent()) record_sent(sent);
  // What is done may bring new traffic, which advances nothing.
  for (const ChunkTraffic::Done done : std::vector(traffic_->done())) {
    if (done.kind == ChunkTraffic::Kind::kCollective) {
      finish_expanded(now, done.id);
    } else if ((done.id & kOfEngine) != 0) {
      end_transfer(now, done.id & ~kOfEngine);
    } else {
      part_done(now, done.id);
    }
  }
  appoint_links();
}

void Device::finish_expanded(Nanos now, std::uint32_t id) {
  expanded_[id].active = false;
  for (const OpId one : std::vector(expanded_[id].ranks)) part_done(now, one);
}

void Device::record_sent(const ChunkTraffic::Sent& sent) {
  const Op& op = ops_[expanded_[sent.collective].ranks.front()];
  trace::Span span;
  span.start = sent.start;
  span.duration = sent.end - sent.start;
  span.name = recorder_.chunk_name(sent.send);
  span.lane = recorder_.link_lane(sent.send.from, sent.send.to);
  span.category = trace::Category::kCollective;
  span.line = op.tags.line;
  span.detail = recorder_.chunk_detail(sent.send, sent.bytes);
  recorder_.add(span);
}

}  // namespace trainscope::sim
