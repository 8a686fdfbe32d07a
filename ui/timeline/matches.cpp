#include "ui/timeline/matches.h"

#include <optional>

#include "base/letters.h"
#include "trace/labels.h"
#include "ui/timeline/place.h"

namespace trainscope::ui {
namespace {

using trace::Span;
using trace::SpanId;
using trace::Trace;
using trace::TraceIndex;

// Names and kinds are looked at once each, not once a span; labels only where they are no names.
class Finder {
 public:
  Finder(const Trace& trace, std::string_view words) : trace_(trace), words_(lowered(words)) {
    for (trace::NameId name = 0, n = trace.name_count(); name < n; ++name)
      names_.push_back(holds(trace.name(name)));
    for (std::size_t kind = 0; kind < trace::kCategoryCount; ++kind)
      kinds_[kind] = holds(trace::name_of(static_cast<trace::Category>(kind)));
  }

  bool finds(const Span& span) const {
    if (span.name < names_.size() && names_[span.name]) return true;
    if (kinds_[static_cast<std::size_t>(span.category)]) return true;
    const bool labelled = span.category == trace::Category::kHeld || trace::is_copy(span.category);
    return labelled && holds(trace::bar_label(trace_, span));
  }

 private:
  bool holds(std::string_view text) const {
    return lowered(text).find(words_) != std::string::npos;
  }

  const Trace& trace_;
  std::string words_;
  std::vector<bool> names_;
  bool kinds_[trace::kCategoryCount] = {};
};

SpanId span_at(const TraceIndex& index, const MatchPlace& place) {
  return index.lanes[place.lane].rows[place.row].spans[place.at];
}

MatchPlace place_at(const Trace& trace, const TraceIndex& index, std::size_t lane, std::size_t row,
                    std::uint32_t at) {
  MatchPlace place{0, static_cast<trace::LaneId>(lane), static_cast<std::uint32_t>(row), at};
  place.time = trace.spans()[span_at(index, place)].start;
  return place;
}

// Calls visit(lane, row, positions, how many of them stand before the place, or at it).
template <typename Visit>
void for_rows(const Trace& trace, const TraceIndex& index, const Matches& matches,
              const MatchPlace& place, bool or_at, const Visit& visit) {
  for (std::size_t lane = 0; lane < matches.at.size(); ++lane)
    for (std::size_t row = 0; row < matches.at[lane].size(); ++row) {
      const auto& list = matches.at[lane][row];
      const auto end = std::partition_point(list.begin(), list.end(), [&](std::uint32_t at) {
        const MatchPlace here = place_at(trace, index, lane, row, at);
        return or_at ? here <= place : here < place;
      });
      visit(lane, row, list, static_cast<std::size_t>(end - list.begin()));
    }
}

}  // namespace

std::size_t Matches::among(trace::LaneId lane, std::size_t row, std::size_t first,
                           std::size_t count_of) const {
  if (lane >= at.size() || row >= at[lane].size()) return 0;
  const auto& list = at[lane][row];
  const auto from = std::lower_bound(list.begin(), list.end(), first);
  return static_cast<std::size_t>(std::lower_bound(from, list.end(), first + count_of) - from);
}

Matches find_matches(const Trace& trace, const TraceIndex& index, std::string_view words,
                     const std::vector<trace::LaneId>& hidden) {
  Matches matches;
  if (words.empty()) return matches;
  const Finder finder(trace, words);
  matches.at.resize(index.lanes.size());
  for (std::size_t lane = 0; lane < index.lanes.size(); ++lane) {
    if (std::find(hidden.begin(), hidden.end(), lane) != hidden.end()) continue;
    for (const trace::Row& row : index.lanes[lane].rows) {
      auto& found = matches.at[lane].emplace_back();
      for (std::uint32_t at = 0; at < row.spans.size(); ++at)
        if (finder.finds(trace.spans()[row.spans[at]])) found.push_back(at);
      matches.count += found.size();
    }
  }
  return matches;
}

Matches matches_of(const TraceIndex& index, const std::vector<bool>& wanted) {
  Matches matches;
  matches.at.resize(index.lanes.size());
  for (std::size_t lane = 0; lane < index.lanes.size(); ++lane)
    for (const trace::Row& row : index.lanes[lane].rows) {
      auto& found = matches.at[lane].emplace_back();
      for (std::uint32_t at = 0; at < row.spans.size(); ++at)
        if (row.spans[at] < wanted.size() && wanted[row.spans[at]]) found.push_back(at);
      matches.count += found.size();
    }
  return matches;
}

MatchPlace place_of(const Trace& trace, const TraceIndex& index, SpanId id) {
  const Span& span = trace.spans()[id];
  MatchPlace place{span.start, span.lane, 0, 0};
  if (span.lane >= index.lanes.size()) return place;
  const auto row = row_of(trace, index.lanes[span.lane], id);
  if (!row) return place;
  place.row = static_cast<std::uint32_t>(*row);
  const auto& ids = index.lanes[span.lane].rows[*row].spans;
  auto at = std::partition_point(ids.begin(), ids.end(),
                                 [&](SpanId one) { return trace.spans()[one].start < span.start; });
  at = std::find(at, ids.end(), id);
  place.at = static_cast<std::uint32_t>(at - ids.begin());
  return place;
}

SpanId match_after(const Trace& trace, const TraceIndex& index, const Matches& matches,
                   const MatchPlace& place) {
  std::optional<MatchPlace> best;
  for_rows(trace, index, matches, place, true,
           [&](std::size_t lane, std::size_t row, const auto& list, std::size_t before) {
             if (before == list.size()) return;
             const MatchPlace here = place_at(trace, index, lane, row, list[before]);
             if (!best || here < *best) best = here;
           });
  return best ? span_at(index, *best) : trace::kNone;
}

SpanId match_before(const Trace& trace, const TraceIndex& index, const Matches& matches,
                    const MatchPlace& place) {
  std::optional<MatchPlace> best;
  for_rows(trace, index, matches, place, false,
           [&](std::size_t lane, std::size_t row, const auto& list, std::size_t before) {
             if (before == 0) return;
             const MatchPlace here = place_at(trace, index, lane, row, list[before - 1]);
             if (!best || *best < here) best = here;
           });
  return best ? span_at(index, *best) : trace::kNone;
}

std::size_t matches_before(const Trace& trace, const TraceIndex& index, const Matches& matches,
                           const MatchPlace& place) {
  std::size_t count = 0;
  for_rows(trace, index, matches, place, false,
           [&](std::size_t, std::size_t, const auto&, std::size_t before) { count += before; });
  return count;
}

}  // namespace trainscope::ui
