#include "analysis/causes/stage_times.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "trace/collective_kind.h"
#include "trace/same_collectives.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::LaneKind;
using trace::Span;

struct Mark {
  Interval time;
  std::optional<int> stage;  // where it is named
  int micro_batch = 0;
  bool is_backward = false;
};

// The number that a text begins with, which is taken off.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// "Forward 3", or "PP:4F3".
std::optional<Mark> mark_named(std::string_view name) {
  Mark mark;
  const bool names_stage = take(name, "PP:");
  if (names_stage && !(mark.stage = take_number(name))) return std::nullopt;
  mark.is_backward = take(name, names_stage ? "B" : "Backward ");
  if (!mark.is_backward && !take(name, names_stage ? "F" : "Forward ")) return std::nullopt;
  const std::optional<int> number = take_number(name);
  if (!number || !name.empty()) return std::nullopt;
  mark.micro_batch = *number;
  return mark;
}

std::optional<Mark> mark_of(const trace::Trace& trace, const Span& span) {
  if (span.category != Category::kAnnotation) return std::nullopt;
  std::optional<Mark> mark = mark_named(trace.name(span.name));
  if (mark) mark->time = {span.start, span.end()};
  return mark;
}

// The marks of each rank, by time.
using Marks = std::map<std::int32_t, std::vector<Mark>>;

Marks marks_of(const trace::Trace& trace) {
  Marks marks;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (const auto mark = mark_of(trace, span))
      marks[trace.lanes()[span.lane].rank].push_back(*mark);
  });
  for (auto& [rank, list] : marks)
    std::ranges::sort(list, {}, [](const Mark& mark) { return mark.time.start; });
  return marks;
}

// What the reducer copies out of its buckets waits for sums: the operators that launch it, by lane.
class BucketCopies {
 public:
  explicit BucketCopies(const trace::Trace& trace) {
    constexpr std::string_view kOutOfBucket = "copy_bucket_to_grad";
    std::set<trace::NameId> names;
    for (trace::NameId name = 0; name < trace.name_count(); ++name)
      if (trace.name(name).find(kOutOfBucket) != std::string::npos) names.insert(name);
    if (names.empty()) return;
    trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
      if (names.contains(span.name)) of_lane_[span.lane][span.start] = span.end();
    });
  }

  bool launch(const Span& span) const {
    const auto lane = of_lane_.find(span.lane);
    if (lane == of_lane_.end()) return false;
    const auto behind = lane->second.upper_bound(span.start);
    return behind != lane->second.begin() && std::prev(behind)->second >= span.end();
  }

 private:
  std::map<trace::LaneId, std::map<Nanos, Nanos>> of_lane_;  // ends, by start
};

// The mark that a time of a rank's host lies in.
std::optional<std::size_t> mark_at(const std::vector<Mark>& marks, Nanos time) {
  const auto behind =
      std::ranges::upper_bound(marks, time, {}, [](const Mark& mark) { return mark.time.start; });
  if (behind == marks.begin() || std::prev(behind)->time.end < time) return std::nullopt;
  return static_cast<std::size_t>(std::prev(behind) - marks.begin());
}

class Cells {
 public:
  Cells(const trace::Trace& trace, int pipeline) : pipeline_(pipeline), marks_(marks_of(trace)) {
    if (marks_.size() < 2) return;
    const BucketCopies copies(trace);
    trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
      if (!copies.launch(span)) launch(trace, span);
    });
    trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) { sum(trace, span); });
    trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) { work(trace, span); });
  }

  bool empty() const { return cells_.empty(); }

  // The n-th time that a rank has a micro-batch's forward in a stage is that of step n.
  std::vector<StageStep> steps() const {
    std::vector<StageStep> steps;
    std::map<std::tuple<std::int32_t, int, int, bool>, std::size_t> seen;
    for (const auto& [key, cell] : cells_) {
      const std::size_t step = seen[{cell.rank, cell.stage, cell.micro_batch, cell.is_backward}]++;
      if (steps.size() <= step) steps.resize(step + 1);
      steps[step].cells.push_back(cell);
      if (const auto sums = sums_.find(key); sums != sums_.end())
        for (const Interval& time : sums->second) steps[step].sums.push_back({cell.rank, time});
    }
    for (StageStep& step : steps) {
      step.time = step.cells.front().time;
      for (const StageCell& cell : step.cells) {
        step.time.start = std::min(step.time.start, cell.time.start);
        step.time.end = std::max(step.time.end, cell.time.end);
      }
      for (const StageSum& sum : step.sums) step.time.end = std::max(step.time.end, sum.time.end);
    }
    return steps;
  }

  int pipelines() const { return pipeline_ > 0 ? std::max(1, all_ranks() / pipeline_) : 1; }
  int ranks() const { return all_ranks() / pipelines(); }
  int stages() const { return 1 + last(&StageCell::stage); }
  int micro_batches() const { return 1 + last(&StageCell::micro_batch); }

 private:
  using Key = std::pair<std::int32_t, std::size_t>;  // rank, and its mark

  int all_ranks() const { return static_cast<int>(marks_.size()); }

  int last(int StageCell::* number) const {
    int last = 0;
    for (const auto& [key, cell] : cells_) last = std::max(last, cell.*number);
    return last;
  }

  void launch(const trace::Trace& trace, const Span& span) {
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (span.correlation == 0 || lane.kind != LaneKind::kHostThread) return;
    const auto marks = marks_.find(lane.rank);
    if (marks == marks_.end()) return;
    if (const auto mark = mark_at(marks->second, span.start))
      launched_.try_emplace(span.correlation, Key{lane.rank, *mark});
  }

  void sum(const trace::Trace& trace, const Span& span) {
    const trace::CollectiveDetail* one = trace::collective_of(trace, span);
    if (!one || trace::kind_of(one->operation) != trace::CollectiveKind::kAllReduce) return;
    const auto key = launched_.find(span.correlation);
    if (key != launched_.end()) sums_[key->second].push_back({span.start, span.end()});
  }

  // The same copies, of a host whose operators are not told.
  bool waits_for_sums(const Key& key, const Span& span) const {
    const auto sums = sums_.find(key);
    return sums != sums_.end() && std::ranges::all_of(sums->second, [&](const Interval& sum) {
             return sum.end <= span.start;
           });
  }

  void work(const trace::Trace& trace, const Span& span) {
    const bool computes = span.category == Category::kForward ||
                          span.category == Category::kBackward ||
                          span.category == Category::kKernel;
    if (!computes || trace.lanes()[span.lane].kind != LaneKind::kStream) return;
    const auto key = launched_.find(span.correlation);
    if (key == launched_.end() || waits_for_sums(key->second, span)) return;
    const auto& [rank, place] = key->second;
    const Mark& mark = marks_.at(rank)[place];
    const auto [cell, is_new] = cells_.try_emplace(key->second);
    if (is_new)
      cell->second = {rank,
                      mark.stage.value_or(pipeline_ > 0 ? rank % pipeline_ : rank),
                      mark.micro_batch,
                      mark.is_backward,
                      {span.start, span.end()}};
    cell->second.time.start = std::min(cell->second.time.start, span.start);
    cell->second.time.end = std::max(cell->second.time.end, span.end());
  }

  int pipeline_;
  Marks marks_;
  std::unordered_map<std::uint32_t, Key> launched_;  // by correlation
  std::map<Key, StageCell> cells_;
  std::map<Key, std::vector<Interval>> sums_;  // of gradients, by the backward that begins them
};

}  // namespace

std::size_t StageTimes::step_at(Nanos time) const {
  std::size_t found = 0;
  for (std::size_t step = 0; step < steps.size(); ++step)
    if (steps[step].time.start <= time) found = step;
  return found;
}

StageTimes stage_times(const trace::Trace& trace, int pipeline) {
  const Cells cells(trace, pipeline);
  if (cells.empty()) return {};
  return {cells.ranks(), cells.stages(), cells.micro_batches(), cells.steps(), cells.pipelines()};
}

}  // namespace trainscope::analysis
