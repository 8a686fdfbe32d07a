#include "analysis/steps/step_marks.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/steps/step_mark.h"
#include "program/marks.h"

namespace trainscope::analysis {
namespace {

using trace::Span;

std::int64_t number_in(std::string_view name) {
  name.remove_prefix(trace::kStepMark.size());
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

// The places of a rank's marks by their numbers; nothing where these do not tell them apart.
using Places = std::unordered_map<std::int64_t, std::size_t>;
std::optional<Places> places_by_number(const std::vector<StepMark>& marks) {
  Places places;
  for (std::size_t i = 0; i < marks.size(); ++i)
    if (marks[i].number < 0 || !places.try_emplace(marks[i].number, i).second) return std::nullopt;
  return places;
}

// Which steps marks are of: the first rank's are the steps.
class Steps {
 public:
  explicit Steps(const std::vector<StepMark>& steps)
      : steps_(steps), by_number_(places_by_number(steps)) {}

  // Calls take(step, mark) for a rank's marks, in their order.
  template <typename Take>
  void match(const std::vector<StepMark>& marks, const Take& take) const {
    const bool are_numbered = by_number_ && places_by_number(marks);
    for (std::size_t i = 0; i < marks.size(); ++i) {
      const auto step = &marks == &steps_ ? std::optional(i)
                        : are_numbered    ? numbered(marks[i].number)
                                          : at(middle_of(marks[i].time));
      if (step) take(*step, marks[i].time);
    }
  }

 private:
  static Nanos middle_of(const Interval& time) { return time.start + (time.end - time.start) / 2; }

  std::optional<std::size_t> numbered(std::int64_t number) const {
    const auto found = by_number_->find(number);
    return found == by_number_->end() ? std::nullopt : std::optional(found->second);
  }

  // A step reaches to the next one.
  std::optional<std::size_t> at(Nanos time) const {
    if (steps_.empty() || time >= steps_.back().time.end) return std::nullopt;
    const auto after = std::ranges::upper_bound(
        steps_, time, {}, [](const StepMark& step) { return step.time.start; });
    if (after == steps_.begin()) return std::nullopt;
    return static_cast<std::size_t>(after - steps_.begin()) - 1;
  }

  const std::vector<StepMark>& steps_;
  std::optional<Places> by_number_;
};

}  // namespace

RankMarks marks_by_rank(const trace::Trace& trace) {
  std::map<std::int32_t, std::map<trace::LaneId, std::vector<StepMark>>> by_lane;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (is_step_mark(trace, span))
      by_lane[trace.lanes()[span.lane].rank][span.lane].push_back(
          {{span.start, span.end()}, number_in(trace.name(span))});
  });
  RankMarks found;
  for (auto& [rank, lanes] : by_lane) {
    const auto most =
        std::ranges::max_element(lanes, {}, [](const auto& lane) { return lane.second.size(); });
    found[rank] = std::move(most->second);
    std::ranges::stable_sort(found[rank], {}, [](const StepMark& mark) { return mark.time.start; });
  }
  return found;
}

std::vector<std::int32_t> ranks_of(const RankMarks& ranks) {
  std::vector<std::int32_t> found;
  for (const auto& [rank, marks] : ranks) found.push_back(rank);
  return found;
}

StepMarks marks_of(const RankMarks& ranks, std::int32_t rank) {
  StepMarks found{{}, rank};
  for (const StepMark& mark : ranks.at(rank)) found.marks.push_back(mark.time);
  return found;
}

StepMarks first_marks(const RankMarks& ranks) {
  return ranks.empty() ? StepMarks() : marks_of(ranks, ranks.begin()->first);
}

OwnMarks marks_of_steps(const RankMarks& ranks, std::size_t first, std::size_t end) {
  OwnMarks found;
  if (ranks.empty()) return found;
  const Steps steps(ranks.begin()->second);
  for (const auto& [rank, marks] : ranks)
    steps.match(marks, [&own = found[rank], first, end](std::size_t step, const Interval& mark) {
      if (first <= step && step < end) own.push_back(mark);
    });
  return found;
}

std::map<std::int32_t, std::vector<Interval>> validations(const trace::Trace& trace,
                                                          const RankMarks& ranks) {
  std::map<std::int32_t, std::vector<Interval>> found;
  const auto start = [](const StepMark& mark) { return mark.time.start; };
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (!is_host_mark(trace, span) || trace.name(span) != program::kValidationMark) return;
    const auto own = ranks.find(trace.lanes()[span.lane].rank);
    if (own == ranks.end()) return;
    const auto next = std::ranges::upper_bound(own->second, span.start, {}, start);
    const bool inside = next != own->second.begin() && span.start < std::prev(next)->time.end;
    if (!inside) found[own->first].push_back({span.start, span.end()});
  });
  for (auto& [rank, times] : found) std::ranges::sort(times, {}, &Interval::start);
  return found;
}

std::vector<Interval> first_validations(const trace::Trace& trace, const RankMarks& ranks) {
  if (ranks.empty()) return {};
  return validations(trace, {*ranks.begin()})[ranks.begin()->first];
}

std::vector<Interval> pauses(const std::vector<StepMark>& marks) {
  std::vector<Interval> found;
  for (std::size_t i = 1; i < marks.size(); ++i) {
    const StepMark &before = marks[i - 1], &mark = marks[i];
    if (before.number >= 0 && mark.number > before.number + 1)
      found.push_back({before.time.end, mark.time.start});
  }
  return found;
}

std::map<std::int32_t, std::vector<Interval>> times_apart(const trace::Trace& trace,
                                                          const RankMarks& ranks) {
  std::map<std::int32_t, std::vector<Interval>> apart = validations(trace, ranks);
  for (const auto& [rank, marks] : ranks) {
    const std::vector<Interval> of_rank = pauses(marks);
    if (of_rank.empty()) continue;
    std::vector<Interval>& all = apart[rank];
    all.insert(all.end(), of_rank.begin(), of_rank.end());
    std::ranges::sort(all, {}, &Interval::start);
  }
  return apart;
}

std::vector<Interval> first_times_apart(const trace::Trace& trace, const RankMarks& ranks) {
  if (ranks.empty()) return {};
  return times_apart(trace, {*ranks.begin()})[ranks.begin()->first];
}

StepRun undisturbed(const std::vector<Interval>& marks, std::size_t first,
                    const std::vector<Interval>& apart) {
  StepRun longest{first, first}, now{first, first};
  auto next = apart.begin();
  for (std::size_t i = first; i < marks.size(); ++i) {
    bool disturbed = false;
    for (; next != apart.end() && next->start < marks[i].start; ++next)
      disturbed = i > first && next->start >= marks[i - 1].end;
    if (disturbed) now.first = i;
    now.end = i + 1;
    if (now.end - now.first > longest.end - longest.first) longest = now;
  }
  return longest;
}

std::vector<OwnMarks> marks_by_step(const RankMarks& ranks) {
  if (ranks.empty()) return {};
  const Steps steps(ranks.begin()->second);
  std::vector<OwnMarks> found(ranks.begin()->second.size());
  for (const auto& [rank, marks] : ranks) {
    for (OwnMarks& step : found) step[rank];
    steps.match(marks, [&found, rank = rank](std::size_t step, const Interval& mark) {
      found[step][rank].push_back(mark);
    });
  }
  return found;
}

}  // namespace trainscope::analysis
