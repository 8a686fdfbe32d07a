#include "analysis/caveats/rank_caveat.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "trace/same_collectives.h"

namespace trainscope::analysis {
namespace {

struct Members {
  std::set<std::int32_t> ranks;
  std::set<std::pair<std::int32_t, std::int32_t>> gpus;  // by rank: one process may drive several
  int most = 1;                                          // of a collective
  std::size_t here() const { return std::max(ranks.size(), gpus.size()); }
  // A trace without collectives tells of no others.
  bool lacks_some() const { return here() > 0 && static_cast<int>(here()) < most; }
};

Members members_of(const trace::Trace& trace) {
  Members members;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::CollectiveDetail* one = trace::collective_of(trace, span);
    if (!one) return;
    const trace::Lane& lane = trace.lanes()[span.lane];
    members.ranks.insert(lane.rank);
    if (lane.kind == trace::LaneKind::kStream) members.gpus.insert({lane.rank, lane.device});
    members.most = std::max(members.most, one->group_size);
  });
  return members;
}

}  // namespace

bool lacks_ranks(const trace::Trace& trace) {
  return members_of(trace).lacks_some();
}

std::string rank_caveat(const trace::Trace& trace) {
  const Members members = members_of(trace);
  if (!members.lacks_some()) return "";
  if (members.here() == 1)
    return fmt::format(
        "This is the trace of one rank of a job of {} or more; open a folder with the traces of "
        "all ranks to see who waits for whom",
        members.most);
  return fmt::format(
      "This is the trace of {} ranks of a job of {} or more; who waits for whom is told of these "
      "alone, so open a folder with the traces of all ranks",
      members.here(), members.most);
}

}  // namespace trainscope::analysis
