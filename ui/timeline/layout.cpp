#include "ui/timeline/layout.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "program/marks.h"
#include "trace/cause_words.h"
#include "ui/timeline/near.h"
#include "ui/timeline/place.h"

namespace trainscope::ui {
namespace {

using trace::Category;
using trace::Span;
using trace::SpanId;
using trace::Trace;

bool is_hatched(Category category) {
  return category == Category::kHeld || category == Category::kSync;
}

// Time to pixels, and the two lengths of time that decide what is folded.
struct Scale {
  Nanos start = 0;
  Nanos end = 0;
  float width = 0;
  double pixels_per_nano = 0;
  // Shorter spans are folded, with those that start in the same cell of this length.
  Nanos cell = 1;

  float x(Nanos time) const {
    return static_cast<float>(static_cast<double>(time - start) * pixels_per_nano);
  }
};

Scale scale_of(const LayoutRequest& request) {
  Scale scale;
  scale.start = request.view_start;
  scale.end = std::max(request.view_end, request.view_start + 1);
  scale.width = request.width;
  scale.pixels_per_nano = request.width / static_cast<double>(scale.end - scale.start);
  const double least = std::ceil(request.min_bar / scale.pixels_per_nano);
  scale.cell = static_cast<Nanos>(std::bit_ceil(static_cast<std::uint64_t>(std::max(least, 1.0))));
  return scale;
}

// However little there is in a fold, one sees that there is something.
constexpr float kFaintest = 0.45F;

// One row of a lane, cut into bars.
class RowPacker {
 public:
  RowPacker(const DrawRow& row, const std::vector<SpanId>& spans, const Scale& scale)
      : row_(row), spans_(spans), scale_(scale) {}

  // Calls emit(fold) for every bar from left to right; most spans are a fold of their own.
  template <typename Emit>
  void pack(const Emit& emit) {
    // From the start of a cell, so that the leftmost fold is the same one while panning.
    const Nanos from = cell_start(scale_.start, scale_.cell);
    const auto at = static_cast<std::size_t>(
        std::lower_bound(row_.ends.begin(), row_.ends.end(), from) - row_.ends.begin());
    const auto level = std::find_if(row_.levels.begin(), row_.levels.end(),
                                    [&](const FoldLevel& one) { return one.cell == scale_.cell; });
    if (level != row_.levels.end())
      emit_folds(level->folds, at, emit);
    else
      cut(at, emit);
  }

 private:
  bool is_short(std::size_t at) const { return row_.ends[at] - row_.starts[at] < scale_.cell; }
  bool in_view(std::size_t at) const {
    return at < row_.starts.size() && row_.starts[at] < scale_.end;
  }

  // The folds made before, and what stands between them, from `at` on.
  template <typename Emit>
  void emit_folds(const std::vector<Fold>& folds, std::size_t at, const Emit& emit) {
    auto fold = std::partition_point(folds.begin(), folds.end(),
                                     [&](const Fold& one) { return one.first + one.count <= at; });
    for (; fold != folds.end() && fold->start < scale_.end; ++fold) {
      for (; at < fold->first; ++at) emit(fold_of(row_, spans_, at, 1));
      emit(*fold);
      at = fold->first + fold->count;
    }
    for (; in_view(at) && !is_short(at); ++at) emit(fold_of(row_, spans_, at, 1));
  }

  template <typename Emit>
  void cut(std::size_t at, const Emit& emit) {
    while (in_view(at)) {
      const std::size_t next = is_short(at) ? fold_end(at) : at + 1;
      emit(fold_of(row_, spans_, at, next - at));
      at = next;
    }
  }

  // Past the last span of the fold that begins at `first`: the short spans that start in its cell.
  // A span that is not short fills the rest of the cell, so only the last one can be that.
  std::size_t fold_end(std::size_t first) {
    const Nanos cell_end = cell_start(row_.starts[first], scale_.cell) + scale_.cell;
    std::size_t next = first_from(first + 1, cell_end);
    if (next > first + 1 && !is_short(next - 1)) --next;
    return next;
  }

  // The first position from `from` on whose span starts at `time` or later. Its block is about as
  // far as the last one was: a fold holds about as many spans as the one before it.
  std::size_t first_from(std::size_t from, Nanos time) {
    constexpr std::size_t kBlock = DrawRow::kBlock;
    const std::size_t next = from / kBlock + 1;
    const std::size_t block =
        first_past(next, std::max(next, row_.block_starts.size()), next + blocks_,
                   [&](std::size_t one) { return row_.block_starts[one] >= time; });
    blocks_ = block - next;
    const auto begin = row_.starts.begin();
    const std::size_t low = std::max(from, (block - 1) * kBlock);
    const std::size_t high = std::max(low, std::min(row_.starts.size(), block * kBlock));
    return static_cast<std::size_t>(std::lower_bound(begin + static_cast<std::ptrdiff_t>(low),
                                                     begin + static_cast<std::ptrdiff_t>(high),
                                                     time) -
                                    begin);
  }

  const DrawRow& row_;
  const std::vector<SpanId>& spans_;
  const Scale& scale_;
  std::size_t blocks_ = 0;  // that the last fold went on for
};

// The label, or a shorter form of it, or nothing: text is never cut to fit.
std::string fitting(const LayoutRequest& request, float room, const std::string& full,
                    const std::string& shorter) {
  if (!request.text_width || room < request.min_label) return {};
  const float text_room = room - 2 * request.label_pad;
  for (const std::string* label : {&full, &shorter})
    if (!label->empty() && request.text_width(*label) <= text_room) return *label;
  return {};
}

void set_extent(Bar& bar, const Scale& scale) {
  // A little beyond the edges, so that a bar that goes on shows no end there.
  const float margin = 8;
  const float left = std::clamp(scale.x(bar.start), -margin, scale.width + margin);
  const float end = bar.endless ? scale.width + margin : scale.x(bar.end);
  const float right = std::clamp(end, -margin, scale.width + margin);
  bar.x = left;
  bar.width = std::max(right - left, 1.0F);
}

// Where an arrow between two bars touches the first: its lower or upper edge, its middle when they
// stand side by side.
float edge_towards(const Strip& from, const Strip& to) {
  if (to.y >= from.y + from.height) return from.y + from.height;
  if (to.y + to.height <= from.y) return from.y;
  return from.y + from.height / 2;
}

class Builder {
 public:
  Builder(const Trace& trace, const trace::TraceIndex& index, const DrawIndex& draw,
          const LayoutRequest& request, TimelineLayout& layout)
      : trace_(trace),
        index_(index),
        draw_(draw),
        request_(request),
        scale_(scale_of(request)),
        layout_(layout) {}

  void add_bars() {
    layout_.bars.reserve(expected_bars());
    for (const LaneBox& box : layout_.lanes) {
      if (!visible(box)) continue;
      for (std::uint32_t row = 0; row < box.rows; ++row) add_row(box, row);
      if (box.collapsed) add_held(box);
      add_curve(box);
    }
  }

  void add_gaps(const std::vector<IdleGap>& gaps) {
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      const LaneBox* box = lane_box(layout_, gaps[i].lane);
      if (!box || !visible(*box)) continue;
      if (gaps[i].end <= scale_.start || gaps[i].start >= scale_.end) continue;
      const float left = std::max(scale_.x(gaps[i].start), -1.0F);
      const float right = std::min(scale_.x(gaps[i].end), scale_.width + 1);
      if (right - left < request_.min_bar + 1) continue;
      const Strip strip = strip_of(*box, 0);
      const std::string& label = gaps[i].label;
      const float free = std::min(scale_.x(first_start_in(gaps[i])), right);
      const float room = std::min(free, scale_.width) - std::max(left, 0.0F);
      layout_.gaps.push_back({left, strip.y, right - left, strip.height, i,
                              fitting(request_, room, label, label.substr(0, label.find(':')))});
    }
  }

  void add_arrows() {
    for (const Link& link : request_.links) {
      const auto from = place_of(link.from, link.from_lane);
      const auto to = place_of(link.to, link.to_lane);
      if (!from || !to) continue;
      Arrow arrow;
      const Nanos passed = link.passed ? *link.passed : trace_.spans()[link.to].start;
      arrow.x0 = scale_.x(left_at(link, passed));
      arrow.x1 = scale_.x(passed);
      arrow.y0 = edge_towards(*from, *to);
      arrow.y1 = edge_towards(*to, *from);
      arrow.from = link.from;
      arrow.to = link.to;
      arrow.is_cause = link.is_cause;
      arrow.of_path = link.left.has_value();
      arrow.from_lane = link.from_lane;
      arrow.to_lane = link.to_lane;
      layout_.arrows.push_back(arrow);
    }
    part_arrows(layout_.arrows, request_.arrow_room);
  }

  // Neighbours between which no eye sees a gap are one line.
  void add_rests() {
    const auto first =
        std::ranges::upper_bound(request_.rests, scale_.start, {}, &Chain::Rest::end);
    for (auto rest = first; rest != request_.rests.end() && rest->start < scale_.end; ++rest) {
      const LaneBox* box = lane_box(layout_, rest->lane);
      if (!box || !visible(*box)) continue;
      const float margin = 8;
      const float left = std::max(scale_.x(rest->start), -margin);
      const float right = std::min(scale_.x(rest->end), scale_.width + margin);
      auto& lines = layout_.rests;
      const bool goes_on = !lines.empty() && lines.back().lane == rest->lane &&
                           left < lines.back().x + lines.back().width + 1;
      if (!goes_on) lines.push_back({left, strip_of(*box, 0).y, 0, rest->lane});
      lines.back().width = std::max(right - lines.back().x, 1.0F);
    }
  }

 private:
  // A collective that waits for a rank lies in a gap, of where nothing is carried out; a copy that
  // is staged chunk by chunk lies over several.
  Nanos first_start_in(const IdleGap& gap) const {
    const auto& rows = draw_.rows[gap.lane];
    if (rows.empty()) return gap.end;
    const auto first = std::upper_bound(rows[0].starts.begin(), rows[0].starts.end(), gap.start);
    const auto before = static_cast<std::size_t>(first - rows[0].starts.begin());
    if (before > 0 && rows[0].ends[before - 1] > gap.start) return gap.start;
    return first == rows[0].starts.end() ? gap.end : std::min(*first, gap.end);
  }

  bool visible(const LaneBox& box) const {
    return box.y < request_.visible_bottom && box.y + box.height > request_.visible_top;
  }

  // Growing the list costs more than filling it.
  std::size_t expected_bars() const {
    std::size_t rows = 0;
    for (const LaneBox& box : layout_.lanes)
      if (visible(box)) rows += box.rows;
    const auto a_row = static_cast<std::size_t>(request_.width / std::max(request_.min_bar, 1.0F));
    return std::min<std::size_t>(rows * a_row, index_.span_count);
  }

  // What a thread is held by lies in its inner rows: in one row it is seen over the call.
  void add_held(const LaneBox& box) {
    for (std::uint32_t row = 1; row < box.all_rows; ++row) {
      const std::size_t before = layout_.bars.size();
      add_row(box, row);
      const auto first = layout_.bars.begin() + static_cast<std::ptrdiff_t>(before);
      layout_.bars.erase(
          std::remove_if(first, layout_.bars.end(), [](const Bar& bar) { return !bar.hatched; }),
          layout_.bars.end());
      for (std::size_t held = before; held < layout_.bars.size(); ++held)
        clear_labels_below(layout_.bars[held], before);
    }
  }

  // Of the bars of its lane that it is drawn over, before `count` in the list.
  void clear_labels_below(const Bar& held, std::size_t count) {
    for (std::size_t i = count; i-- > 0 && layout_.bars[i].lane == held.lane;) {
      Bar& bar = layout_.bars[i];
      if (bar.label.empty()) continue;
      const float left = std::max(bar.x, 0.0F);
      const float right = left + request_.text_width(bar.label) + 2 * request_.label_pad;
      if (held.x < right && held.x + held.width > left) bar.label.clear();
    }
  }

  void add_row(const LaneBox& box, std::uint32_t row_number) {
    if (box.lane >= draw_.rows.size() || row_number >= draw_.rows[box.lane].size()) return;
    const DrawRow& row = draw_.rows[box.lane][row_number];
    const Strip strip = strip_of(box, std::min<std::size_t>(row_number, box.rows - 1));
    RowPacker(row, index_.lanes[box.lane].rows[row_number].spans, scale_)
        .pack([&](const Fold& fold) {
          if (scale_.x(fold.end) < -1) return;
          Bar bar;
          bar.start = fold.start;
          bar.end = fold.end;
          bar.span = fold.span;
          bar.count = fold.count;
          bar.lane = box.lane;
          bar.row = row_number;
          bar.at = fold.first;
          if (fold.count > 1) {
            bar.mixture = fold.mixture;
            bar.presence = std::max(kFaintest, std::sqrt(static_cast<float>(fold.busy) / 255));
          }
          bar.category = fold.mixture[0].category;
          bar.hatched = is_hatched(bar.category);
          bar.endless = fold.count == 1 && trace::has_no_end(trace_, trace_.spans()[fold.span]);
          bar.pinned = box.pinned;
          if (request_.matches) {
            bar.found = request_.matches->among(box.lane, row_number, fold.first, fold.count) > 0;
            bar.dimmed = !bar.found;
          }
          bar.y = strip.y;
          bar.height = strip.height;
          set_extent(bar, scale_);
          set_label(bar);
          layout_.bars.push_back(std::move(bar));
        });
  }

  void set_label(Bar& bar) const {
    if (bar.count > 1) return;
    const float room = std::min(bar.x + bar.width, scale_.width) - std::max(bar.x, 0.0F);
    if (!request_.text_width || room < request_.min_label) return;
    const Span& span = trace_.spans()[bar.span];
    const std::string full = bar_label(trace_, span);
    if (bar.endless) {
      bar.label = fitting(request_, room - request_.min_label, full + ", never ends", "never ends");
      return;
    }
    const trace::Lane& lane = trace_.lanes()[span.lane];
    const auto measured = request_.measured_from.find(lane.rank);
    const bool warms_up = measured != request_.measured_from.end() &&
                          span.start < measured->second && lane.kind == trace::LaneKind::kSteps &&
                          full != program::kValidationMark;
    if (warms_up) bar.label = fitting(request_, room, full + ", warm-up", full + ", warm-up");
    if (bar.label.empty()) bar.label = fitting(request_, room, full, short_name(full));
    if (bar.label.empty()) bar.label = fitting(request_, room, brief_label(trace_, span), "");
  }

  void add_curve(const LaneBox& box) {
    if (box.lane >= draw_.counters.size() || draw_.counters[box.lane].samples.empty()) return;
    layout_.curves.push_back(curve_of(trace_, draw_.counters[box.lane], box, request_));
  }

  Nanos left_at(const Link& link, Nanos passed) const {
    if (link.left || link.from == trace::kNone) return link.left.value_or(passed);
    const Span& from = trace_.spans()[link.from];
    return std::clamp(passed, from.start, from.end());
  }

  // Of the span, or of the lane where there is none.
  std::optional<Strip> place_of(SpanId id, trace::LaneId lane) const {
    if (id != trace::kNone) return place_of(id);
    const LaneBox* box = lane_box(layout_, lane);
    return box ? std::optional(strip_of(*box, 0)) : std::nullopt;
  }

  std::optional<Strip> place_of(SpanId id) const {
    if (id >= trace_.spans().size()) return std::nullopt;
    const Span& span = trace_.spans()[id];
    const LaneBox* box = lane_box(layout_, span.lane);
    if (!box || span.lane >= index_.lanes.size()) return std::nullopt;
    const auto row = row_of(trace_, index_.lanes[span.lane], id);
    if (!row) return std::nullopt;
    return strip_of(*box, std::min(*row, box->rows - 1));
  }

  const Trace& trace_;
  const trace::TraceIndex& index_;
  const DrawIndex& draw_;
  const LayoutRequest& request_;
  Scale scale_;
  TimelineLayout& layout_;
};

}  // namespace

TimelineLayout lay_out(const Trace& trace, const trace::TraceIndex& index, const DrawIndex& draw,
                       const LayoutRequest& request, const std::vector<IdleGap>& gaps) {
  TimelineLayout layout = lay_out_lanes(trace, draw, request);
  if (request.width <= 0) return layout;
  Builder builder(trace, index, draw, request, layout);
  builder.add_bars();
  builder.add_gaps(gaps);
  builder.add_arrows();
  builder.add_rests();
  return layout;
}

std::span<const Chain::Stay> Chain::on(SpanId span) const {
  const auto [first, last] = std::ranges::equal_range(stays, span, {}, &Stay::span);
  return {first, last};
}

bool Chain::runs_on(trace::LaneId lane) const {
  return std::ranges::find(lanes, lane) != lanes.end();
}

namespace {

// When a wait for another span was over: the thread went on then. None where it was no wait, or
// was for what had been before it began.
std::optional<Nanos> when_awaited(const Trace& trace, SpanId id) {
  const Span& span = trace.spans()[id];
  if (!trace::is_awaited(trace, span)) return std::nullopt;
  const Nanos given = trace.spans()[span.cause_span].end();
  if (given <= span.start) return std::nullopt;
  return span.end();
}

}  // namespace

std::vector<Link> links_of(const Trace& trace, SpanId span) {
  std::vector<Link> links;
  if (span >= trace.spans().size()) return links;
  const SpanId cause = trace.spans()[span].cause_span;
  if (cause != trace::kNone && cause < trace.spans().size())
    links.push_back({cause, span, true, when_awaited(trace, span)});
  for (std::uint32_t i = 0, n = trace.flows().size(); i < n; ++i) {
    const trace::Flow& flow = trace.flows()[i];
    if (flow.from != span && flow.to != span) continue;
    if (flow.from == cause && flow.to == span) continue;  // drawn already, as the cause
    links.push_back({flow.from, flow.to, false});
  }
  return links;
}

const Bar* bar_at(const TimelineLayout& layout, float x, float y) {
  // What has been scrolled below the pinned lanes is out of reach.
  const bool pinned = y >= layout.pinned_top && y < layout.pinned_bottom;
  const auto hit = [&](const Bar& bar) {
    return bar.pinned == pinned && x >= bar.x && x < bar.x + bar.width && y >= bar.y &&
           y < bar.y + bar.height;
  };
  // Of a lane in one row, what is drawn over a bar is hit before it.
  const Bar* found = nullptr;
  for (const Bar& bar : layout.bars)
    if ((!found || (bar.lane == found->lane && bar.row > found->row)) && hit(bar)) found = &bar;
  return found;
}

}  // namespace trainscope::ui
