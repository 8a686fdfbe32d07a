// What collectives that are taken apart write: lanes of links, chunks on them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/recorder.h"

namespace trainscope::sim {

trace::LaneId Recorder::link_lane(int from, int to) {
  const auto [entry, added] = links_.try_emplace({from, to}, trace::kNone);
  if (added)
    entry->second =
        trace_.add_lane({fmt::format("link GPU {} to GPU {}", from, to), trace::LaneKind::kLink,
                         from, -1, 3, static_cast<std::int64_t>(links_.size()), "links"});
  return entry->second;
}

trace::LaneId Recorder::add_link_use_lane(int gpu, std::string_view name) {
  return trace_.add_lane({std::string(name), trace::LaneKind::kCounter,
                          ranks_[static_cast<std::size_t>(gpu)], gpu, 0, 0,
                          fmt::format("GPU {}", gpu)});
}

trace::LaneId Recorder::add_network_use_lane(int node) {
  return trace_.add_lane(
      {"network in, %", trace::LaneKind::kCounter, 0, -1, 0, 0, fmt::format("node {}", node)});
}

trace::NameId Recorder::wait_name(program::Index stream) {
  const auto gpu = static_cast<std::size_t>(program_.streams[stream].device);
  wait_names_.resize(ranks_.size(), trace::kNone);
  if (wait_names_[gpu] == trace::kNone) {
    const bool of_ranks = std::ranges::max(ranks_) > 0;
    wait_names_[gpu] =
        name(std::string_view(of_ranks ? fmt::format("waits for rank {}", ranks_[gpu])
                                       : fmt::format("waits for GPU {}", gpu)));
  }
  return wait_names_[gpu];
}

trace::NameId Recorder::chunk_name(const ChunkSend& send) {
  return name(std::string_view(
      fmt::format("{} chunk {}, step {}", send.reduces ? "add" : "copy", send.chunk, send.step)));
}

trace::DetailId Recorder::chunk_detail(const ChunkSend& send, double bytes) {
  const auto whole = std::llround(bytes);
  const auto [entry, added] = chunk_details_.try_emplace({send.from, whole}, trace::kNone);
  if (!added) return entry->second;
  trace::CopyDetail detail;
  detail.bytes = whole;
  detail.from = detail.to = trace::Memory::kDevice;
  detail.device = send.from;
  return entry->second = trace_.add_detail(detail);
}

}  // namespace trainscope::sim
