#include "ui/app/path_view.h"

#include <algorithm>
#include <unordered_map>

#include "base/units.h"

namespace trainscope::ui {
namespace {

using analysis::CriticalPath;
using analysis::PathPiece;

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

std::vector<Link> hops_of(const CriticalPath& path) {
  std::vector<Link> hops;
  const PathPiece* before = nullptr;
  for (const PathPiece& piece : path.pieces) {
    if (piece.span == trace::kNone) continue;
    if (before && before->lane != piece.lane)
      hops.push_back({before->span, piece.span, true, piece.start});
    before = &piece;
  }
  return hops;
}

}  // namespace

std::shared_ptr<PathFacts> find_path(const RunPointer& run, const TraceView& view) {
  auto facts = std::make_shared<PathFacts>();
  facts->run = run;
  facts->path = analysis::critical_path(run->facts.measured);
  facts->chain = {hops_of(facts->path), stays_of(facts->path, *run->trace)};
  facts->matches =
      matches_of(view->index, spans_of(facts->chain.stays, run->trace->spans().size()));
  return facts;
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
