#include "ui/app/views/path_view.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "base/units.h"

namespace trainscope::ui {
namespace {

using analysis::CriticalPath;
using analysis::PathPiece;
using trace::LaneId;

// A copy is on a lane of its stream as well as, transfer by transfer, on one of its engine.
std::vector<Chain::Stay> stays_of(const CriticalPath& path, const trace::Trace& trace) {
  std::unordered_map<std::uint32_t, trace::SpanId> copies;  // those on streams, by correlation
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId id) {
    if (trace::is_copy(span.category) && span.correlation != 0 &&
        trace.lanes()[span.lane].kind == trace::LaneKind::kStream)
      copies[span.correlation] = id;
  });
  std::vector<Chain::Stay> stays;
  for (const PathPiece& piece : path.pieces) {
    if (piece.span == trace::kNone) continue;
    stays.push_back({piece.span, piece.start, piece.end});
    const trace::Span& span = trace.spans()[piece.span];
    const auto copy = trace::is_copy(span.category) ? copies.find(span.correlation) : copies.end();
    if (copy != copies.end() && copy->second != piece.span)
      stays.push_back({copy->second, piece.start, piece.end});
  }
  std::ranges::sort(stays);
  return stays;
}

std::vector<bool> spans_of(const std::vector<Chain::Stay>& stays, std::size_t spans) {
  std::vector<bool> on(spans);
  for (const Chain::Stay& stay : stays)
    if (stay.span < spans) on[stay.span] = true;
  return on;
}

// By piece. What is between two spans of one lane is on that, as the wait of a kernel for its turn;
// the beginning and the end are where their neighbour is. kNone: between two lanes, a hop's time.
std::vector<LaneId> lanes_of(const CriticalPath& path) {
  const std::size_t count = path.pieces.size();
  std::vector<LaneId> before(count, trace::kNone), after(count, trace::kNone);
  for (std::size_t i = 0; i < count; ++i) {
    const LaneId lane = path.pieces[i].lane;
    before[i] = lane == trace::kNone && i > 0 ? before[i - 1] : lane;
  }
  for (std::size_t i = count; i-- > 0;) {
    const LaneId lane = path.pieces[i].lane;
    after[i] = lane == trace::kNone && i + 1 < count ? after[i + 1] : lane;
    if (before[i] == trace::kNone) before[i] = after[i];
    if (after[i] != trace::kNone && after[i] != before[i]) before[i] = trace::kNone;
  }
  return before;
}

std::vector<Chain::Rest> rests_of(const CriticalPath& path, const std::vector<LaneId>& lanes) {
  std::vector<Chain::Rest> rests;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const PathPiece& piece = path.pieces[i];
    if (piece.span != trace::kNone || lanes[i] == trace::kNone) continue;
    const bool goes_on =
        !rests.empty() && rests.back().lane == lanes[i] && rests.back().end == piece.start;
    if (goes_on)
      rests.back().end = piece.end;
    else
      rests.push_back({lanes[i], piece.start, piece.end});
  }
  return rests;
}

std::vector<Link> hops_of(const CriticalPath& path, const std::vector<LaneId>& lanes) {
  std::vector<Link> hops;
  std::size_t before = lanes.size();
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i] == trace::kNone) continue;
    if (before < i && lanes[before] != lanes[i]) {
      const PathPiece &from = path.pieces[before], &to = path.pieces[i];
      hops.push_back({from.span, to.span, true, to.start, from.end, lanes[before], lanes[i]});
    }
    before = i;
  }
  return hops;
}

// Those it is on, the one that it is on for the longest time first.
std::vector<LaneId> by_time(const CriticalPath& path, const std::vector<LaneId>& lanes) {
  std::map<LaneId, Nanos> times;
  for (std::size_t i = 0; i < lanes.size(); ++i)
    if (lanes[i] != trace::kNone) times[lanes[i]] += path.pieces[i].end - path.pieces[i].start;
  std::vector<LaneId> order;
  for (const auto& [lane, time] : times) order.push_back(lane);
  std::ranges::stable_sort(order, std::greater{}, [&](LaneId lane) { return times.at(lane); });
  return order;
}

Chain chain_of(const CriticalPath& path, const trace::Trace& trace) {
  const std::vector<LaneId> lanes = lanes_of(path);
  return {hops_of(path, lanes), stays_of(path, trace), rests_of(path, lanes), by_time(path, lanes)};
}

}  // namespace

std::shared_ptr<PathFacts> find_path(const RunPointer& run, const TraceView& view,
                                     const std::function<bool()>& stopped) {
  auto facts = std::make_shared<PathFacts>();
  facts->run = run;
  facts->path = analysis::critical_path(run->facts.measured, stopped);
  if (stopped()) return nullptr;
  facts->chain = chain_of(facts->path, *run->trace);
  facts->matches =
      matches_of(view->index, spans_of(facts->chain.stays, run->trace->spans().size()));
  return stopped() ? nullptr : facts;
}

const PathFacts* PathView::of(std::size_t side, const SideModel& model) const {
  if (!on || side >= sides.size() || !sides[side]) return nullptr;
  return sides[side]->run == model.run ? sides[side].get() : nullptr;
}

std::string path_words(const PathFacts& facts) {
  const std::string words = analysis::shares_in_words(facts.path);
  if (words.empty()) return "nothing of it is told";
  return facts.path.is_inferred ? "inferred: " + words : words;
}

std::string on_path_words(const PathFacts& facts, trace::SpanId span) {
  Nanos time = 0;
  for (const Chain::Stay& stay : facts.chain.on(span)) time += stay.end - stay.start;
  if (time == 0) return "not on it: it may take longer";
  return "for " + format_nanos(static_cast<double>(time)) + " of it";
}

}  // namespace trainscope::ui
