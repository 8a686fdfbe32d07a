#include "trace/same_collectives.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "trace/collective_kind.h"

namespace trainscope::trace {
namespace {

CollectiveKey key_of(const CollectiveDetail& one, int world) {
  CollectiveKey key;
  key.members = one.group_size > 0 ? one.group_size : world;
  if (!one.group.empty()) key.group = one.group + " " + one.members;
  // What one of two sends the other receives.
  const bool is_half = one.operation == "send" || one.operation == "recv";
  key.operation = is_half && key.members == 2 ? "send and recv" : one.operation;
  key.sequence = std::max<std::int64_t>(one.sequence, -1);
  key.elements_in = one.elements_in;
  key.elements_out = one.elements_out;
  return key;
}

// Groups of fewer have the same sizes many times in one job: without a name they are not told
// apart.
bool is_joinable(const CollectiveDetail& one, int world) {
  return one.group_size == 0 || one.group_size == world ||
         (one.group_size > 1 && one.group_size < world && !one.group.empty());
}

// A file may claim any time: sums of some that lie within years are times, too.
bool is_near(const Span& span) {
  constexpr Nanos kFar = Nanos{1} << 58;
  return span.start > -kFar && span.start < kFar && span.duration < kFar;
}

// No rank: of all.
Collectives collectives_of(const Trace& trace, int world, std::optional<int> rank = {}) {
  std::vector<std::pair<Nanos, SpanId>> in_order;
  for (SpanId id = 0; id < trace.spans().size(); ++id) {
    const Span& span = trace.spans()[id];
    const CollectiveDetail* one = collective_of(trace, span);
    if (rank && trace.lanes()[span.lane].rank != *rank) continue;
    if (one && is_near(span) && is_joinable(*one, world)) in_order.emplace_back(span.start, id);
  }
  std::sort(in_order.begin(), in_order.end());
  std::map<CollectiveKey, int> counts;
  Collectives collectives;
  for (const auto& [start, id] : in_order) {
    CollectiveKey key = key_of(*collective_of(trace, trace.spans()[id]), world);
    key.nth = counts[key]++;
    collectives[key] = id;
  }
  return collectives;
}

// Of ranks that take part in one of its collectives; 0: none tells.
int largest_group(const Trace& trace) {
  int most = 0;
  for_each(trace.spans(), [&](const Span& span, SpanId) {
    if (const CollectiveDetail* one = collective_of(trace, span))
      most = std::max(most, one->group_size);
  });
  return most;
}

// Of each kind that a trace does not number, how many it has.
std::map<CollectiveKey, std::size_t> unnumbered(const Collectives& collectives) {
  std::map<CollectiveKey, std::size_t> counts;
  for (const auto& [key, id] : collectives) {
    if (key.sequence >= 0) continue;
    CollectiveKey kind = key;
    kind.nth = 0;
    ++counts[kind];
  }
  return counts;
}

// Where one rank's trace begins later than another's, their first ones are not the same. Who is in
// a group of fewer is only known by who has its collectives.
void drop_uneven(std::vector<Collectives>& ranks, int world) {
  std::map<CollectiveKey, std::set<std::size_t>> counts;
  for (const Collectives& rank : ranks)
    for (const auto& [kind, count] : unnumbered(rank)) counts[kind].insert(count);
  for (Collectives& rank : ranks) {
    const auto has = unnumbered(rank);
    for (const auto& [kind, count] : counts)
      if (kind.members == world && !has.contains(kind)) counts[kind].insert(0);
  }
  for (Collectives& rank : ranks)
    std::erase_if(rank, [&](const auto& one) {
      CollectiveKey kind = one.first;
      kind.nth = 0;
      return kind.sequence < 0 && counts[kind].size() > 1;
    });
}

}  // namespace

std::vector<Nanos> arrivals(const Trace& trace,
                            const std::vector<std::vector<SpanId>>& collectives) {
  std::vector<Nanos> begun;
  std::map<std::pair<LaneId, Nanos>, Nanos> waits;  // by their end, when they begin
  for_each(trace.spans(), [&](const Span& span, SpanId) {
    begun.push_back(span.start);
    if (span.category == Category::kSync && span.cause == Cause::kPeer)
      waits[{span.lane, span.end()}] = span.start;
  });
  for (const std::vector<SpanId>& parts : collectives)
    for (const SpanId part : parts)
      if (const auto wait = waits.find({trace.spans()[part].lane, begun[part]});
          wait != waits.end())
        begun[part] = wait->second;
  return begun;
}

const CollectiveDetail* collective_of(const Trace& trace, const Span& span) {
  if (span.category != Category::kCollective || trace.lanes()[span.lane].kind != LaneKind::kStream)
    return nullptr;
  const Detail* detail = trace.detail(span);
  return detail ? std::get_if<CollectiveDetail>(detail) : nullptr;
}

bool is_joined(const CollectiveKey& key, const CollectiveDetail& one, int here) {
  if (here == key.members) return true;
  return here > 1 && here < key.members && one.group_size > 0 && ends_together(key.operation);
}

bool ends_together(const std::string& operation) {
  const std::optional<CollectiveKind> kind = kind_of(operation);
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather ||
         kind == CollectiveKind::kReduceScatter;
}

std::vector<Collectives> same_collectives(const std::vector<const Trace*>& ranks, int world) {
  std::vector<Collectives> all;
  for (const Trace* rank : ranks) all.push_back(collectives_of(*rank, world));
  drop_uneven(all, world);
  return all;
}

std::vector<std::vector<SpanId>> joined_collectives(const Trace& trace) {
  std::set<int> ranks;
  for (LaneId id = 0; id < trace.lanes().size(); ++id)
    if (trace.lanes()[id].kind == LaneKind::kStream) ranks.insert(trace.lanes()[id].rank);
  if (ranks.size() < 2) return {};
  const int world = std::max(static_cast<int>(ranks.size()), largest_group(trace));
  std::vector<Collectives> all;
  for (const int rank : ranks) all.push_back(collectives_of(trace, world, rank));
  drop_uneven(all, world);
  std::map<CollectiveKey, std::vector<SpanId>> spans;
  for (const Collectives& rank : all)
    for (const auto& [key, id] : rank) spans[key].push_back(id);
  std::vector<std::vector<SpanId>> joined;
  for (auto& [key, ids] : spans)
    if (is_joined(key, *collective_of(trace, trace.spans()[ids.front()]),
                  static_cast<int>(ids.size())))
      joined.push_back(std::move(ids));
  return joined;
}

}  // namespace trainscope::trace
