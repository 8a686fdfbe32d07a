#include "cuda/activity_decoder.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "base/demangled.h"
#include "base/text.h"
#include "base/time.h"

namespace trainscope::cuda {
namespace {

// CUpti_ActivityMemoryKind: 1 pageable, 2 pinned; device, array, managed and others lie on devices.
program::MemoryKind memory_of(std::uint8_t kind) {
  return kind == 1   ? program::MemoryKind::kPageable
         : kind == 2 ? program::MemoryKind::kPinned
                     : program::MemoryKind::kDevice;
}

// Where the parameters begin: the last parenthesis that closes the text, with its partner.
std::size_t parameters_at(const std::string& text) {
  if (text.empty() || text.back() != ')') return text.size();
  int open = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++open;
    if (text[i] == '(' && --open == 0) return i;
  }
  return text.size();
}

template <typename Record>
Activity timed(const Record& record) {
  Activity activity;
  activity.start = static_cast<Nanos>(record.start);
  activity.end = static_cast<Nanos>(record.end);
  return activity;
}

}  // namespace

std::string short_kernel_name(const char* mangled) {
  if (!mangled) return "kernel";
  std::string name = demangled(mangled);
  erase_all(name, "(anonymous namespace)::");
  erase_all(name, "trainscope::kernels::");
  name.resize(parameters_at(name));
  if (name.starts_with("void ")) name.erase(0, 5);
  return name;
}

const std::string& ActivityDecoder::name_of(const char* mangled) {
  const auto [entry, added] = names_.try_emplace(mangled);
  if (added) entry->second = short_kernel_name(mangled);
  return entry->second;
}

// Calls that launch graphs first: where such a number is wrong it may be another call's.
ActivityDecoder::Calls ActivityDecoder::calls_by_correlation() const {
  std::unordered_set<std::uint64_t> launching;
  for (const TracedLaunch& launch : launches_) launching.insert(launch.ours);
  Calls calls;
  for (const bool launches : {true, false})
    for (const TracedRecord& record : records_)
      if (const auto* call = std::get_if<TracedCall>(&record))
        if (launching.contains(call->ours) == launches)
          calls[call->correlation] = static_cast<CallId>(call->ours);
  return calls;
}

namespace {

// The work of one node of a graph: when each began, and the record's place.
using NodeWork = std::vector<std::pair<std::uint64_t, std::size_t>>;

// Calls with launches of each graph, in their order.
std::unordered_map<std::uint32_t, std::vector<CallId>> launches_by_graph(
    const std::vector<TracedLaunch>& launches) {
  std::unordered_map<std::uint32_t, std::vector<CallId>> known, made_of;
  for (const TracedLaunch& launch : launches) {
    known[launch.graph].push_back(launch.ours);
    made_of[launch.made_of].push_back(launch.ours);
  }
  known.merge(made_of);
  return known;
}

}  // namespace

std::unordered_map<std::size_t, CallId> ActivityDecoder::calls_by_graph() const {
  std::unordered_map<std::size_t, CallId> calls;
  if (launches_.empty()) return calls;
  const auto launches = launches_by_graph(launches_);
  std::map<std::pair<std::uint32_t, std::uint64_t>, NodeWork> nodes;
  for (std::size_t i = 0; i < records_.size(); ++i)
    std::visit(
        [&](const auto& record) {
          if constexpr (requires { record.graph; })
            if (record.graph != 0 && launches.contains(record.graph))
              nodes[{record.graph, record.node}].emplace_back(record.start, i);
        },
        records_[i]);
  const bool is_whole = dropped_ == 0 && cut_ == 0;
  for (auto& [node, work] : nodes) {
    const std::vector<CallId>& all = launches.at(node.first);
    std::sort(work.begin(), work.end());
    // Of fewer the last ones were not done, unless some were lost.
    const bool are_timed = work.front().first > 0;
    const bool are_told =
        are_timed && (work.size() == all.size() || (is_whole && work.size() < all.size()));
    for (std::size_t i = 0; i < work.size(); ++i) calls[work[i].second] = are_told ? all[i] : 0;
  }
  return calls;
}

Activities ActivityDecoder::take(Nanos earliest, Nanos latest) {
  const auto is_of_this_clock = [&](const Activity& one) {
    return one.start >= earliest - kSecond && one.end - kSecond <= latest;
  };
  const Calls calls = calls_by_correlation();
  const auto of_graphs = calls_by_graph();
  // 0: none that is known.
  const auto call_of = [&](std::size_t place, std::uint32_t correlation) -> CallId {
    if (const auto found = of_graphs.find(place); found != of_graphs.end()) return found->second;
    const auto found = calls.find(correlation);
    return found == calls.end() ? 0 : found->second;
  };
  Activities all;
  const auto keep = [&](Activity activity, std::size_t place, std::uint32_t correlation) {
    if (activity.start <= 0 || activity.end < activity.start || !is_of_this_clock(activity)) {
      ++all.untimed;
      return;
    }
    activity.call = call_of(place, correlation);
    if (activity.call == 0) {
      ++all.foreign;
      return;
    }
    all.records.push_back(std::move(activity));
  };
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const TracedRecord& record = records_[i];
    if (const auto* kernel = std::get_if<TracedKernel>(&record)) {
      Activity activity = timed(*kernel);
      activity.name = name_of(kernel->name);
      activity.gpu = static_cast<int>(kernel->gpu);
      std::copy_n(kernel->grid, 3, activity.grid);
      std::copy_n(kernel->block, 3, activity.block);
      activity.registers = kernel->registers;
      activity.shared_bytes = kernel->shared_bytes;
      keep(std::move(activity), i, kernel->correlation);
    } else if (const auto* copy = std::get_if<TracedCopy>(&record)) {
      Activity activity = timed(*copy);
      activity.kind = ActivityKind::kCopy;
      activity.bytes = static_cast<std::int64_t>(copy->bytes);
      activity.from = memory_of(copy->from);
      activity.to = memory_of(copy->to);
      keep(std::move(activity), i, copy->correlation);
    } else if (const auto* fill = std::get_if<TracedFill>(&record)) {
      Activity activity = timed(*fill);
      activity.kind = ActivityKind::kMemset;
      activity.bytes = static_cast<std::int64_t>(fill->bytes);
      keep(std::move(activity), i, fill->correlation);
    }
  }
  all.dropped = std::exchange(dropped_, 0);
  all.cut = std::exchange(cut_, 0);
  records_.clear();
  launches_.clear();
  return all;
}

}  // namespace trainscope::cuda
