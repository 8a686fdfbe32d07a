// Which lanes a Chrome trace has, their names and their order.
#include <algorithm>
#include <set>
#include <tuple>

#include "trace/chrome_assemble.h"

namespace trainscope::trace::chrome {
namespace {

std::string text_of(const Collected& collected, Label label, std::string_view noun) {
  if (!label.is_text) return std::string(noun) + " " + std::to_string(label.number);
  const std::string& text = collected.tracks.text(label);
  return text.empty() ? "unnamed " + std::string(noun) : text;
}

LaneKind kind_of(const Collected& collected, const LaneDraft& draft) {
  constexpr std::int64_t kFirstSyncRow = 1'000'000;  // newer files: stream + a million
  const Label tid = collected.tracks[draft.track].tid;
  switch (draft.role) {
    case Role::kThread:
      return draft.holds_host_work ? LaneKind::kHostThread : LaneKind::kOther;
    case Role::kSteps:
      return LaneKind::kSteps;
    case Role::kDevice:
      if (draft.holds_gpu_work || (tid.number >= 0 && tid.number < kFirstSyncRow))
        return LaneKind::kStream;
      return LaneKind::kOther;
    case Role::kCounter:
      return LaneKind::kCounter;
    case Role::kGpuAnnotation:
    case Role::kOwn:
      break;
  }
  return LaneKind::kOther;
}

class LaneNamer {
 public:
  LaneNamer(const Collected& collected, const FileHeader& header)
      : collected_(collected), header_(header) {
    for (const LaneDraft& draft : collected.lanes)
      if (draft.role == Role::kThread && draft.holds_host_work)
        processes_.insert(collected.tracks[draft.track].pid);
  }

  Lane lane(const LaneDraft& draft) const {
    const auto& [pid, tid] = collected_.tracks[draft.track];
    Lane lane;
    lane.kind = kind_of(collected_, draft);
    lane.rank = static_cast<std::int32_t>(header_.rank.value_or(0));
    lane.device = static_cast<std::int32_t>(draft.device);
    lane.process = pid.is_text ? 0 : pid.number;
    lane.thread = tid.is_text ? 0 : tid.number;
    if (lane.kind == LaneKind::kStream && draft.stream > 0) lane.thread = draft.stream;
    lane.name = name(draft, lane.kind);
    lane.group =
        draft.device >= 0 ? "GPU " + std::to_string(draft.device) : host_group(pid, lane.kind);
    return lane;
  }

 private:
  std::string name(const LaneDraft& draft, LaneKind kind) const {
    const Label tid = collected_.tracks[draft.track].tid;
    const auto found = collected_.thread_names.find(draft.track);
    const bool named = found != collected_.thread_names.end() && !found->second.empty();
    switch (draft.role) {
      case Role::kThread:
        return named ? found->second : text_of(collected_, tid, "thread");
      case Role::kSteps:
        return "steps";
      case Role::kDevice:
        if (named) return found->second;
        return tid.number < 0 ? "device" : text_of(collected_, tid, "stream");
      case Role::kGpuAnnotation:
        return (named ? found->second : text_of(collected_, tid, "stream")) + " annotations";
      case Role::kCounter:
        return draft.counter;
      case Role::kOwn:
        break;
    }
    return std::string(kind == LaneKind::kOther ? "other" : "");
  }

  std::string host_group(Label pid, LaneKind kind) const {
    if (pid.is_text) return text_of(collected_, pid, "process");
    const std::string process = text_of(collected_, pid, "process");
    const bool ours = processes_.contains(pid) || kind == LaneKind::kSteps;
    std::string group = process;
    if (header_.rank && ours) {
      group = "rank " + std::to_string(*header_.rank);
    } else {
      const auto found = collected_.process_names.find(pid.number);
      if (found != collected_.process_names.end() && !found->second.empty()) group = found->second;
    }
    // Processes of one name, such as loader workers, are told apart by their number.
    return processes_.size() > 1 && group != process ? group + ", " + process : group;
  }

  const Collected& collected_;
  const FileHeader& header_;
  std::set<Label> processes_;  // with host work
};

// Host threads (steps and the main thread first), devices, counters, the rest.
auto place_in_order(const Collected& collected, const LaneDraft& draft, const Lane& lane) {
  const auto& [pid, tid] = collected.tracks[draft.track];
  const bool host = lane.kind == LaneKind::kSteps || lane.kind == LaneKind::kHostThread;
  const int section = host ? 0 : draft.role == Role::kCounter ? 2 : draft.device >= 0 ? 1 : 3;
  const bool main_thread = host && pid == tid;
  const int role = lane.kind == LaneKind::kSteps ? 0 : main_thread ? 1 : 2;
  // A stream's annotations stand above it.
  const int above = draft.role == Role::kGpuAnnotation ? 0 : 1;
  return std::tuple(section, draft.device, host ? pid : Label{}, role, lane.thread, above);
}

void add_own_lanes(const OwnHeader& header, Lanes& lanes) {
  for (const auto& own : header.lanes) {
    lanes.place[lanes.lanes.size()] = static_cast<LaneId>(lanes.lanes.size());
    lanes.lanes.push_back(own.lane);
  }
}

}  // namespace

Lanes order_lanes(const Collected& collected, const FileHeader& header) {
  Lanes lanes;
  lanes.place.assign(collected.lanes.size(), kNone);
  const LaneNamer namer(collected, header);
  std::vector<std::pair<std::uint32_t, Lane>> drafts;
  for (std::uint32_t i = 0; i < collected.lanes.size(); ++i)
    if (collected.lanes[i].role != Role::kOwn)
      drafts.emplace_back(i, namer.lane(collected.lanes[i]));
  std::ranges::stable_sort(drafts, {}, [&](const auto& entry) {
    return place_in_order(collected, collected.lanes[entry.first], entry.second);
  });
  if (header.own) add_own_lanes(*header.own, lanes);
  for (auto& [draft, lane] : drafts) {
    lanes.place[draft] = static_cast<LaneId>(lanes.lanes.size());
    lanes.lanes.push_back(std::move(lane));
  }
  return lanes;
}

}  // namespace trainscope::trace::chrome
