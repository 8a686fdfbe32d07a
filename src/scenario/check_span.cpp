#include "scenario/check_span.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "base/suggest.h"
#include "scenario/progress.h"

namespace trainscope::scenario {
namespace {

using Names = std::vector<std::string>;

// Ranks have lanes of the same names.
Names lanes_of(const trace::Trace& trace) {
  Names names;
  for (trace::LaneId lane = 0; lane < trace.lanes().size(); ++lane)
    if (std::ranges::find(names, trace.lanes()[lane].name) == names.end())
      names.push_back(trace.lanes()[lane].name);
  return names;
}

Names spans_in(const std::string& lane, const trace::Trace& trace) {
  std::set<std::string, std::less<>> names;
  for (trace::SpanId id = 0, n = trace.spans().size(); id < n; ++id) {
    const trace::Span& span = trace.spans()[id];
    if (trace.lanes()[span.lane].name != lane) continue;
    if (const std::string_view name = trace.name(span); !names.contains(name)) names.emplace(name);
  }
  return {names.begin(), names.end()};
}

// "a, b and 3 others"
std::string listed(const Names& names) {
  constexpr std::size_t kMost = 12;
  if (names.size() <= kMost) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format(
      "{} and {} others",
      fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(kMost), ", "),
      names.size() - kMost);
}

std::string missing_lane(const Focus& focus, const trace::Trace& trace, const std::string& where) {
  const Names lanes = lanes_of(trace);
  if (std::ranges::find(lanes, focus.lane) != lanes.end()) return "";
  return fmt::format("{} has no lane \"{}\" on {}{}; its lanes are {}", focus.run, focus.lane,
                     where, did_you_mean(focus.lane, lanes), listed(lanes));
}

std::string missing_name(const Focus& focus, const trace::Trace& trace, const std::string& where) {
  const Names names = spans_in(focus.lane, trace);
  const auto begins = [&](const std::string& name) { return name.starts_with(focus.span); };
  if (std::ranges::any_of(names, begins)) return "";
  if (names.empty())
    return fmt::format("lane \"{}\" of {} has no span on {}", focus.lane, focus.run, where);
  return fmt::format("no span \"{}\" in lane \"{}\" of {} on {}{}; it has {}", focus.span,
                     focus.lane, focus.run, where, did_you_mean(focus.span, names), listed(names));
}

}  // namespace

std::string missing_span(const Focus& focus, const analysis::Run& run, const std::string& where) {
  const std::size_t found = find_spans(focus, run).size();
  if (focus.nth >= 0 && static_cast<std::size_t>(focus.nth) < found) return "";
  for (const auto& fault :
       {missing_lane(focus, *run.trace, where), missing_name(focus, *run.trace, where)})
    if (!fault.empty()) return fault;
  const std::string line = focus.code.empty() ? std::to_string(focus.line) : focus.code;
  const std::string of_line =
      focus.code.empty() && focus.line == 0 ? "" : " that the line " + line + " causes";
  const std::string_view which = focus.which == WhichSpans::kLaunched  ? ", as soon as launched"
                                 : focus.which == WhichSpans::kExposed ? ", beside no kernels"
                                                                       : "";
  return fmt::format(
      "no span \"{}\" number {} in lane \"{}\" of {} on {}{}{}; there are {}, from 0", focus.span,
      focus.nth, focus.lane, focus.run, where, of_line, which, found);
}

}  // namespace trainscope::scenario
