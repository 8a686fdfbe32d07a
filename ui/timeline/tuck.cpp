#include "ui/timeline/tuck.h"

#include <algorithm>

namespace trainscope::ui {
namespace {

using trace::LaneId;
using trace::LaneKind;

bool contains(const std::vector<LaneId>& list, LaneId lane) {
  return std::find(list.begin(), list.end(), lane) != list.end();
}

bool is_of_gpu(const trace::Lane& lane) {
  return lane.kind == LaneKind::kStream || lane.kind == LaneKind::kCopyEngine;
}

// Goes first, before what tells more; 0: never. What launches a GPU's work goes last.
constexpr int kIdleEngine = 5;
constexpr int kLastTurn = 6;
constexpr int kBesidePath = 7;  // for the sake of a path: a GPU's lanes on which it is not
int turn_to_go(const trace::Lane& lane, bool main, bool launches) {
  switch (lane.kind) {
    case LaneKind::kLoader:
    case LaneKind::kPinThread:
      return 1;
    case LaneKind::kHostThread:
      return main ? 0 : launches ? kLastTurn : 2;
    case LaneKind::kSteps:
      return 3;
    case LaneKind::kStaging:
      return 4;
    default:
      return 0;
  }
}

// Its few copies stand on their streams as well.
bool is_idle_engine(const trace::Lane& lane, const std::vector<DrawRow>& rows, Nanos whole) {
  if (lane.kind != LaneKind::kCopyEngine) return false;
  Nanos work = 0;
  for (const DrawRow& row : rows)
    for (const Nanos time : times_of(row, 0, row.starts.size())) work += time;
  return 50 * work <= whole;
}

// Nothing of the run itself: marks seen from a stream, the span of the profiler. What is no work
// but says something of a device, as that a buffer was overwritten too early, is of the run.
bool is_aside(const trace::Lane& lane, const std::vector<DrawRow>& rows) {
  if (lane.kind != LaneKind::kOther || rows.empty()) return false;
  const bool of_a_device = lane.device >= 0;
  return std::ranges::all_of(rows, [of_a_device](const DrawRow& row) {
    const CategoryTimes times = times_of(row, 0, row.starts.size());
    Nanos work = 0;
    for (std::size_t i = 0; i < times.size(); ++i)
      if (i != static_cast<std::size_t>(trace::Category::kAnnotation) &&
          (of_a_device || i != static_cast<std::size_t>(trace::Category::kOther)))
        work += times[i];
    return work == 0;
  });
}

class Tucker {
 public:
  Tucker(const trace::Trace& trace, const DrawIndex& draw, const LayoutRequest& request,
         const TuckWish& wish, float room)
      : trace_(trace), draw_(draw), request_(request), wish_(wish), room_(room) {
    layout_ = lay_out_lanes(trace, draw, request);
    find_ends();
  }

  Tuck tucked() {
    if (end_ <= 0 || fits()) return {};
    put_asides_away();
    put_other_ranks_away();
    fold_threads(false);
    // A heading takes as much room as a lane. Folded ones are all there is of their lanes.
    if (!fits() && !layout_.groups.empty() && request_.collapsed_groups.empty()) drop_headings();
    for (int turn = 1; turn < kLastTurn; ++turn) put_away(turn);
    fold_threads(true);
    put_away(kLastTurn);
    if (!wish_.path.empty()) put_away(kBesidePath);
    shorten_path();
    put_few_away();
    return tuck_;
  }

 private:
  // The main thread, and where the first lanes of the first GPU end, and of those to be seen.
  void find_ends() {
    constexpr int kMost = 4;  // two engines, two streams
    std::int32_t device = -1;
    int lanes = 0;
    if (wish_.keeps_lanes) end_ = layout_.height;
    for (const LaneBox& box : layout_.lanes) {
      const trace::Lane& lane = trace_.lanes()[box.lane];
      if (lane.kind == LaneKind::kHostThread && main_ == trace::kNone) main_ = box.lane;
      if (!is_of_gpu(lane) || box.pinned || wish_.keeps_lanes) continue;
      if (lanes > 0 && lane.device != device) {
        if (wish_.ranks.empty()) break;
        if (is_other_rank(lane)) continue;
        lanes = 0;
      }
      device = lane.device;
      if (++lanes > kMost) continue;
      end_ = box.y + box.height;
    }
    for (const LaneBox& box : layout_.lanes)
      if (is_on_path(box.lane) && !box.pinned) end_ = std::max(end_, box.y + box.height);
    last_ = end_;
  }

  bool is_on_path(LaneId lane) const { return contains(wish_.path, lane); }
  bool fits() const { return end_ <= room_; }
  bool is_above(const LaneBox& box) const { return box.y < last_ && !box.pinned; }

  void fold_threads(bool main) {
    for (const LaneBox& box : layout_.lanes)
      if ((box.lane == main_) == main && !is_on_path(box.lane)) fold_thread(box);
  }

  void fold_thread(const LaneBox& box) {
    const bool thread = trace_.lanes()[box.lane].kind == LaneKind::kHostThread;
    if (fits() || !thread || !is_above(box) || box.rows < 2 || tuck_.is_away(box.lane)) return;
    end_ -= box.height - request_.lane_height;
    if (!contains(wish_.unfolded, box.lane)) tuck_.in_one_row.push_back(box.lane);
  }

  // Where the path's own lanes are too many.
  void shorten_path() {
    if (wish_.path.empty() || wish_.all_lanes) return;
    for (auto lane = wish_.path.rbegin(); lane != wish_.path.rend(); ++lane)
      if (const LaneBox* box = box_of(*lane)) fold_thread(*box);
    for (auto lane = wish_.path.rbegin(); lane != std::prev(wish_.path.rend()); ++lane)
      if (const LaneBox* box = box_of(*lane); box && *lane != main_) {
        if (fits() || wish_.keeps_lanes || contains(wish_.told, *lane) || !is_above(*box)) continue;
        send_away(*box);
      }
  }

  float height_left() const {
    float height = 0;
    for (const LaneBox& box : layout_.lanes)
      if (!tuck_.is_away(box.lane))
        height += contains(tuck_.in_one_row, box.lane) ? request_.lane_height : box.height;
    if (!tuck_.plain)
      for (const GroupBox& group : layout_.groups) height += group.height;
    return height;
  }

  // What tells least, for what is left to stand whole; in all the rows that were asked for.
  void put_few_away() {
    if (!wish_.keeps_lanes || wish_.told.empty() || wish_.all_lanes) return;
    for (auto lane = wish_.told.rbegin(); lane != std::prev(wish_.told.rend()); ++lane)
      if (const LaneBox* box = box_of(*lane); box && box->rows > 1 && height_left() > room_ &&
                                              !contains(wish_.unfolded, *lane) &&
                                              !contains(tuck_.in_one_row, *lane))
        tuck_.in_one_row.push_back(*lane);
    for (auto lane = wish_.told.rbegin(); lane != std::prev(wish_.told.rend()); ++lane)
      if (const LaneBox* box = box_of(*lane); box && !box->pinned && height_left() > room_)
        send_away(*box);
  }

  const LaneBox* box_of(LaneId lane) const {
    const auto box = std::ranges::find(layout_.lanes, lane, &LaneBox::lane);
    return box == layout_.lanes.end() ? nullptr : &*box;
  }

  void drop_headings() {
    tuck_.plain = true;
    for (const GroupBox& group : layout_.groups)
      if (group.y < last_ && !group.pinned) end_ -= group.height;
  }

  bool is_other_rank(const trace::Lane& lane) const {
    const bool works = lane.kind == LaneKind::kHostThread || lane.device >= 0;
    return works && !wish_.ranks.empty() &&
           std::ranges::find(wish_.ranks, lane.rank) == wish_.ranks.end();
  }

  // The last first.
  void put_other_ranks_away() {
    for (auto box = layout_.lanes.rbegin(); box != layout_.lanes.rend(); ++box) {
      if (fits() || keeps(*box) || !is_above(*box) || !is_other_rank(trace_.lanes()[box->lane]))
        continue;
      end_ -= box->height;
      tuck_.away.push_back(box->lane);
    }
  }

  bool keeps(const LaneBox& box) const {
    return wish_.all_lanes || wish_.keeps_lanes || box.pinned || contains(wish_.told, box.lane) ||
           is_on_path(box.lane);
  }

  int turn_of(LaneId id) const {
    const bool launches = id < draw_.launches.size() && draw_.launches[id];
    const bool drawn = id < draw_.rows.size();
    if (drawn && is_idle_engine(trace_.lanes()[id], draw_.rows[id], trace_.end()))
      return kIdleEngine;
    const int turn = turn_to_go(trace_.lanes()[id], id == main_, launches);
    return turn == 0 && id != main_ && !wish_.path.empty() ? kBesidePath : turn;
  }

  // Marks of further ranks: the first one's tell which step it is.
  bool is_mark_of_another(const trace::Lane& lane) const {
    if (lane.kind != LaneKind::kSteps) return false;
    const auto first = std::ranges::find_if(layout_.lanes, [&](const LaneBox& box) {
      return trace_.lanes()[box.lane].kind == LaneKind::kSteps;
    });
    return trace_.lanes()[first->lane].rank != lane.rank;
  }

  // All of them, those below as well: they are nothing to scroll to before the rest is in sight.
  void put_asides_away() {
    for (const LaneBox& box : layout_.lanes) {
      const trace::Lane& lane = trace_.lanes()[box.lane];
      if (keeps(box) || box.lane >= draw_.rows.size() ||
          !(is_aside(lane, draw_.rows[box.lane]) || is_mark_of_another(lane)))
        continue;
      if (is_above(box)) end_ -= box.height;
      tuck_.away.push_back(box.lane);
    }
  }

  // The last of a kind first: there are more like it.
  void put_away(int turn) {
    for (auto box = layout_.lanes.rbegin(); box != layout_.lanes.rend(); ++box) {
      if (fits() || keeps(*box) || !is_above(*box) || tuck_.is_away(box->lane) ||
          turn_of(box->lane) != turn)
        continue;
      send_away(*box);
    }
  }

  void send_away(const LaneBox& box) {
    end_ -= contains(tuck_.in_one_row, box.lane) ? request_.lane_height : box.height;
    std::erase(tuck_.in_one_row, box.lane);
    tuck_.away.push_back(box.lane);
  }

  const trace::Trace& trace_;
  const DrawIndex& draw_;
  const LayoutRequest& request_;
  const TuckWish& wish_;
  float room_;
  TimelineLayout layout_;
  Tuck tuck_;
  LaneId main_ = trace::kNone;
  float end_ = 0;   // of the first GPU's lanes, with what is tucked
  float last_ = 0;  // the same before anything was
};

}  // namespace

Tuck tuck(const trace::Trace& trace, const DrawIndex& draw, const LayoutRequest& request,
          const TuckWish& wish, float room) {
  return Tucker(trace, draw, request, wish, room).tucked();
}

}  // namespace trainscope::ui
