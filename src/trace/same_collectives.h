// Which collectives of several ranks, each in a trace of its own, are one and the same.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace trainscope::trace {

// What ranks call alike. A communicator's collectives have one order on all its ranks.
struct CollectiveKey {
  std::string group;  // of the ranks that take part: its name and who they are; empty: not told
  int members = 0;    // of these
  std::string operation;
  std::int64_t sequence = -1;  // as the trace numbers it; -1: it does not
  std::int64_t elements_in = 0;
  std::int64_t elements_out = 0;
  int nth = 0;  // from 0, of those that are alike in all this

  auto operator<=>(const CollectiveKey&) const = default;
};

using Collectives = std::map<CollectiveKey, SpanId>;

// By rank, those in which all `world` ranks take part, those of process groups of fewer that say
// which one they are of, and those that do not say who takes part, as if all did. Where a trace
// does not number them, only those of which every rank of the group that has any has equally many.
std::vector<Collectives> same_collectives(const std::vector<const Trace*>& ranks, int world);

// Whether the parts of a collective that are here, of so many ranks, tell of one another's waits:
// all of them do. Of fewer those of what nobody is done with before the last has come, where the
// trace says how many take part: no rank of them waits less than for the last that is here.
bool is_joined(const CollectiveKey& key, const CollectiveDetail& one, int here);

// Of one trace of several ranks: the spans of each collective that is joined, one of each rank that
// is here.
std::vector<std::vector<SpanId>> joined_collectives(const Trace& trace);

// When each span begins, by SpanId; a rank's part of a collective of these, when the rank comes to
// it: where that is told, before it waits for the others.
std::vector<Nanos> arrivals(const Trace& trace,
                            const std::vector<std::vector<SpanId>>& collectives);

// The collective that a span on a stream is; null for any other span.
const CollectiveDetail* collective_of(const Trace& trace, const Span& span);

// Of operations that need what every rank gives: none is done before the last has come.
bool ends_together(const std::string& operation);

}  // namespace trainscope::trace
