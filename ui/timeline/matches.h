// The spans of a trace that a search has found, kept by lane and row: which they are, whether a
// fold holds one, which is next. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/index.h"
#include "trace/trace.h"

namespace trainscope::ui {

struct Matches {
  // By LaneId and row: positions in trace::Row, rising.
  std::vector<std::vector<std::vector<std::uint32_t>>> at;
  std::size_t count = 0;

  // How many of `count` spans of a row from `first` on were found.
  std::size_t among(trace::LaneId lane, std::size_t row, std::size_t first,
                    std::size_t count_of) const;
};

// Spans whose name, label in the timeline, or kind ("copy H2D") holds the words, in any case of
// letters. Lanes in `hidden` are not searched. O(names + spans).
Matches find_matches(const trace::Trace& trace, const trace::TraceIndex& index,
                     std::string_view words, const std::vector<trace::LaneId>& hidden);

// Those of a set, by SpanId; spans that the index does not have are none.
Matches matches_of(const trace::TraceIndex& index, const std::vector<bool>& wanted);

// Found spans stand in the order of their start, then lane, row and position in it. A place in that
// order.
struct MatchPlace {
  Nanos time = 0;
  trace::LaneId lane = 0;
  std::uint32_t row = 0;
  std::uint32_t at = 0;
  auto operator<=>(const MatchPlace&) const = default;
};
MatchPlace place_of(const trace::Trace& trace, const trace::TraceIndex& index, trace::SpanId span);

// The first one after (the last one before) a place; kNone: there is none. O(rows · log matches).
trace::SpanId match_after(const trace::Trace& trace, const trace::TraceIndex& index,
                          const Matches& matches, const MatchPlace& place);
trace::SpanId match_before(const trace::Trace& trace, const trace::TraceIndex& index,
                           const Matches& matches, const MatchPlace& place);
// How many stand before a place.
std::size_t matches_before(const trace::Trace& trace, const trace::TraceIndex& index,
                           const Matches& matches, const MatchPlace& place);

}  // namespace trainscope::ui
