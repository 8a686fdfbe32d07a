#include "trace/chrome_layout.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "trace/row_chooser.h"

namespace trainscope::trace::chrome {
namespace {

// The processes that a rank's lanes are shown in.
enum class Section { kHost, kDevice, kMachine };

Section section_of(const Lane& lane) {
  if (is_host_lane(lane.kind)) return Section::kHost;
  const bool plain = lane.kind == LaneKind::kOther || lane.kind == LaneKind::kCounter;
  if (lane.kind == LaneKind::kStream || (plain && lane.device >= 0)) return Section::kDevice;
  return plain ? Section::kHost : Section::kMachine;
}

// Numbers that are given out once.
class Numbers {
 public:
  // The first free one from `wanted` on.
  std::int64_t take(std::int64_t wanted) {
    std::int64_t& next = next_.try_emplace(wanted, wanted).first->second;
    while (!used_.insert(next).second) ++next;
    return next;
  }

 private:
  std::set<std::int64_t> used_;
  std::map<std::int64_t, std::int64_t> next_;  // by what was wanted: none before it is free
};

class Placer {
 public:
  Placer(const Trace& trace, std::optional<int> rank, Layout& layout)
      : trace_(trace), layout_(layout), lane_count_(trace.lanes().size()) {
    std::set<std::int32_t> ranks;
    for (LaneId id = 0; id < lane_count_; ++id) {
      const Lane& lane = trace.lanes()[id];
      ranks.insert(lane.rank);
      layout.lanes.emplace_back().written = !rank || *rank == lane.rank;
    }
    several_ranks_ = !rank && ranks.size() > 1;
  }

  void place() {
    // Streams and threads keep their numbers; what has none of its own takes what is left.
    place_those([](const Lane& lane) { return lane.kind == LaneKind::kStream; });
    place_those(
        [](const Lane& lane) { return is_host_lane(lane.kind) && lane.kind != LaneKind::kSteps; });
    place_those([](const Lane&) { return true; });
  }

  // A further tid of a lane that has one.
  void add_row(LaneId id) {
    constexpr std::int64_t kFirstRow = 10'000'000;
    LanePlace& place = layout_.lanes[id];
    place.tids.push_back(tids_[place.pid].take(kFirstRow));
  }

 private:
  template <typename Which>
  void place_those(Which which) {
    for (LaneId id = 0; id < lane_count_; ++id) {
      LanePlace& place = layout_.lanes[id];
      if (place.written && place.tids.empty() && which(trace_.lanes()[id]))
        place_lane(trace_.lanes()[id], place);
    }
  }

  void place_lane(const Lane& lane, LanePlace& place) {
    place.pid = pid_of(lane);
    place.device = std::max(lane.device, 0);
    place.tids.push_back(tids_[place.pid].take(wanted_tid(lane)));
    if (lane.kind == LaneKind::kStream) place.stream = static_cast<std::int32_t>(place.tids[0]);
  }

  static std::int64_t wanted_tid(const Lane& lane) {
    constexpr std::int64_t kDefaultStream = 7;  // as CUPTI numbers it
    constexpr std::int64_t kLargest = 1'000'000;
    // Beside the numbers of streams and threads.
    constexpr std::int64_t kAnnotations = 3'000'000, kCounters = 4'000'000, kMachine = 1;
    if (lane.kind == LaneKind::kStream)
      return lane.thread > 0 && lane.thread < kLargest ? lane.thread : kDefaultStream;
    if (lane.kind == LaneKind::kCounter) return kCounters;
    if (section_of(lane) == Section::kMachine) return kMachine;
    if (section_of(lane) == Section::kDevice)
      return lane.thread < 0 ? -1 : kAnnotations + std::min(lane.thread, kLargest);
    constexpr std::int64_t kExact = std::int64_t{1} << 53;  // in a double
    const bool sane = lane.thread != 0 && lane.thread > -kExact && lane.thread < kExact;
    return sane ? lane.thread : 1;
  }

  std::int64_t pid_of(const Lane& lane) {
    const Section section = section_of(lane);
    // Lanes of a device are one process, lanes of the machine are one; host processes are told
    // apart.
    std::int64_t which = 0;
    if (section == Section::kDevice) which = std::max(lane.device, 0);
    if (section == Section::kHost) which = lane.process;
    const bool plain = section == Section::kHost && !is_host_lane(lane.kind);
    const auto key = std::tuple(lane.rank, section, which, plain ? lane.group : std::string());
    if (const auto known = pids_.find(key); known != pids_.end()) return known->second;
    const std::int64_t pid = used_pids_.take(wanted_pid(lane, section, which));
    pids_.emplace(key, pid);
    layout_.processes.push_back(describe(lane, section, pid, plain));
    return pid;
  }

  // PyTorch's device rows have the device's number as pid, host rows the process's. Ranks in one
  // file must not meet.
  std::int64_t wanted_pid(const Lane& lane, Section section, std::int64_t which) const {
    constexpr std::int64_t kRank = 10'000'000, kHost = 1'000, kMachine = 9'000'000;
    constexpr std::int64_t kLargest = std::int64_t{1} << 31;
    const std::int64_t first = several_ranks_ ? (std::int64_t{lane.rank} + 1) * kRank : 0;
    if (section == Section::kMachine) return first + kMachine;
    if (section == Section::kDevice) return first + which;
    if (several_ranks_ || which < kHost || which > kLargest) return first + kHost;
    return which;
  }

  ProcessPlace describe(const Lane& lane, Section section, std::int64_t pid, bool plain) const {
    constexpr std::int64_t kRank = 100'000'000, kDevices = 5'000'000, kMachine = 6'000'000;
    const std::string rank = "Rank " + std::to_string(lane.rank);
    const std::int64_t order = lane.rank * kRank;
    if (section == Section::kMachine)
      return {pid, rank + " machine", "Trainscope", order + kMachine};
    if (section == Section::kDevice) {
      const std::string device = "GPU " + std::to_string(std::max(lane.device, 0));
      return {pid, rank + " " + device, device, order + kDevices + std::max(lane.device, 0)};
    }
    return {pid, plain ? rank + " " + lane.group : rank + " host", "CPU", order + (plain ? 1 : 0)};
  }

  const Trace& trace_;
  Layout& layout_;
  LaneId lane_count_;
  bool several_ranks_ = false;
  std::map<std::tuple<std::int32_t, Section, std::int64_t, std::string>, std::int64_t> pids_;
  Numbers used_pids_;
  std::map<std::int64_t, Numbers> tids_;  // by pid
};

void choose_rows(const Trace& trace, Placer& placer, Layout& layout) {
  std::vector<RowChooser> choosers;
  for (LaneId id = 0; id < layout.lanes.size(); ++id)
    choosers.emplace_back(trace.lanes()[id].kind != LaneKind::kStream);
  for (const SpanId id : layout.order) {
    const Span& span = trace.spans()[id];
    const std::uint32_t row = choosers[span.lane].put(span.start, span.end());
    if (row == layout.lanes[span.lane].tids.size()) placer.add_row(span.lane);
    layout.rows[id] = row;
  }
}

}  // namespace

bool is_host_lane(LaneKind kind) {
  return kind == LaneKind::kSteps || kind == LaneKind::kHostThread || kind == LaneKind::kLoader ||
         kind == LaneKind::kPinThread;
}

Layout lay_out(const Trace& trace, std::optional<int> rank, bool sync_records) {
  Layout layout;
  const std::uint32_t count = trace.spans().size();  // before the lanes: theirs are there then
  Placer placer(trace, rank, layout);
  placer.place();
  for (SpanId id = 0; id < count; ++id) {
    const Span& span = trace.spans()[id];
    const bool kept = sync_records || span.category != Category::kSync;
    if (kept && layout.lanes[span.lane].written) layout.order.push_back(id);
  }
  std::ranges::sort(layout.order, {}, [&](SpanId id) {
    const Span& span = trace.spans()[id];
    return std::tuple(span.start, -span.duration, id);
  });
  layout.rows.resize(count);
  choose_rows(trace, placer, layout);
  return layout;
}

}  // namespace trainscope::trace::chrome
