#include "analysis/steps/step_parts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/steps/measured.h"
#include "program/marks.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::LaneKind;
using trace::Span;
using trace::SpanId;

void unite(Interval& all, const Interval& one) {
  all.start = std::min(all.start, one.start);
  all.end = std::max(all.end, one.end);
}

// So that those which a time touches stand side by side.
void make_ascend(std::vector<Interval>& steps) {
  for (std::size_t i = 1; i < steps.size(); ++i)
    steps[i].end = std::max(steps[i].end, steps[i - 1].end);
  for (std::size_t i = steps.size(); i > 1; --i)
    steps[i - 2].start = std::min(steps[i - 2].start, steps[i - 1].start);
}

// Copies spans and samples of one trace into another, whose lanes are the same.
class Copier {
 public:
  explicit Copier(const trace::Trace& from)
      : from_(from), part_(std::make_unique<trace::Trace>(from.origin())) {
    trace::for_each(from.lanes(),
                    [&](const trace::Lane& lane, trace::LaneId) { part_->add_lane(lane); });
  }

  // `ids` ascend.
  void take_spans(const std::vector<SpanId>& ids) {
    for (const SpanId id : ids) {
      Span span = from_.spans()[id];
      span.name = name_of(span.name);
      span.detail = detail_of(span.detail);
      const auto cause = std::ranges::lower_bound(ids, span.cause_span);
      span.cause_span = cause != ids.end() && *cause == span.cause_span
                            ? static_cast<SpanId>(cause - ids.begin())
                            : trace::kNone;
      part_->add_span(span);
    }
  }
  void take_sample(std::uint32_t sample) { part_->add_sample(from_.samples()[sample]); }
  void take_allocator_event(std::uint32_t id) {
    trace::AllocatorEvent event = from_.allocator_events()[id];
    if (event.owner != trace::kNone) event.owner = name_of(event.owner);
    if (event.role != trace::kNone) event.role = name_of(event.role);
    part_->add_allocator_event(event);
  }

  std::unique_ptr<trace::Trace> finish() { return std::move(part_); }

 private:
  trace::NameId name_of(trace::NameId name) {
    const auto [place, added] = names_.try_emplace(name, 0);
    if (added) place->second = part_->intern(from_.name(name));
    return place->second;
  }
  trace::DetailId detail_of(trace::DetailId detail) {
    if (detail == trace::kNone) return detail;
    const auto [place, added] = details_.try_emplace(detail, 0);
    if (added) place->second = part_->add_detail(from_.details()[detail]);
    return place->second;
  }

  const trace::Trace& from_;
  std::unique_ptr<trace::Trace> part_;
  std::unordered_map<trace::NameId, trace::NameId> names_;
  std::unordered_map<trace::DetailId, trace::DetailId> details_;
};

}  // namespace

StepParts::StepParts(const trace::Trace& trace, std::vector<Interval> steps)
    : trace_(trace), steps_(std::move(steps)), calls_(trace, {0, -1}) {
  make_ascend(steps_);
  find_calls();
  widen_to_operators();
  widen_steps();
  find_counters();
  find_witnesses();
  find_retries();
  by_reach_.resize(trace_.spans().size());
  std::iota(by_reach_.begin(), by_reach_.end(), SpanId{0});
  std::ranges::stable_sort(by_reach_, {},
                           [&](SpanId id) { return reach_of(trace_.spans()[id]).start; });
}

// ---- Which time belongs to a step ---------------------------------------------------------------

void StepParts::widen(std::uint32_t correlation, const Interval& time) {
  const Interval* known = calls_.find(correlation);
  Interval call = known ? *known : time;
  unite(call, time);
  calls_.set(correlation, call);
}

void StepParts::find_calls() {
  trace::for_each(trace_.spans(), [&](const Span& span, SpanId) {
    if (span.correlation != 0) widen(span.correlation, {span.start, span.end()});
  });
}

// A collective is called from when the operator that calls it begins: its call is the last thing in
// that.
void StepParts::widen_to_operators() {
  std::unordered_set<std::uint32_t> collectives;  // correlations
  trace::for_each(trace_.spans(), [&](const Span& span, SpanId) {
    if (span.category == Category::kCollective && span.correlation != 0)
      collectives.insert(span.correlation);
  });
  std::multimap<std::pair<trace::LaneId, Nanos>, std::uint32_t> calls;  // by their ends
  trace::for_each(trace_.spans(), [&](const Span& span, SpanId) {
    if (span.category == Category::kHostApi && collectives.contains(span.correlation))
      calls.emplace(std::pair{span.lane, span.end()}, span.correlation);
  });
  if (calls.empty()) return;
  trace::for_each(trace_.spans(), [&](const Span& span, SpanId) {
    if (span.category != Category::kHostWork) return;
    const auto [first, last] = calls.equal_range({span.lane, span.end()});
    for (auto call = first; call != last; ++call) widen(call->second, {span.start, span.end()});
  });
}

Interval StepParts::reach_of(const Span& span) const {
  Interval reach{span.start, span.end()};
  if (const Interval* call = calls_.find(span.correlation)) unite(reach, *call);
  return reach;
}

template <typename Visit>
void StepParts::for_steps(const Interval& time, const Visit& visit) const {
  const auto first = std::ranges::lower_bound(steps_, time.start, {}, &Interval::end);
  for (auto step = first; step != steps_.end() && step->start <= time.end; ++step)
    visit(static_cast<std::size_t>(step - steps_.begin()));
}

void StepParts::widen_steps() {
  std::vector<Interval> wider = steps_;
  trace::for_each(trace_.spans(), [&](const Span& span, SpanId) {
    if (span.correlation == 0) return;
    const Interval reach = reach_of(span);
    for_steps(reach, [&](std::size_t step) { unite(wider[step], reach); });
  });
  make_ascend(wider);
  steps_ = std::move(wider);
}

// ---- What stands in it --------------------------------------------------------------------------

void StepParts::find_counters() {
  counters_.resize(trace_.lanes().size());
  trace::for_each(trace_.samples(), [&](const trace::Sample& sample, std::uint32_t id) {
    if (sample.lane < counters_.size()) counters_[sample.lane].samples.push_back(id);
  });
  for (Counter& counter : counters_) {
    const auto time_of = [&](std::uint32_t id) { return trace_.samples()[id].time; };
    std::ranges::stable_sort(counter.samples, {}, time_of);
    for (const std::uint32_t id : counter.samples) counter.times.push_back(time_of(id));
  }
}

// The correlation of each stream's first work that is joined to its call.
std::unordered_set<std::uint32_t> StepParts::first_calls_of_streams() const {
  ByCorrelation<char> joined(trace_, 0);
  trace::for_each(trace_.spans(), [&](const Span& span, SpanId) {
    if (is_joined_call(span)) joined.set(span.correlation, 1);
  });
  std::vector<const Span*> first(trace_.lanes().size());
  trace::for_each(trace_.spans(), [&](const Span& span, SpanId) {
    if (!trace::is_gpu_work(span.category) || !joined.find(span.correlation)) return;
    if (trace_.lanes()[span.lane].kind != LaneKind::kStream) return;
    if (!first[span.lane] || span.start < first[span.lane]->start) first[span.lane] = &span;
  });
  std::unordered_set<std::uint32_t> calls;
  for (const Span* span : first)
    if (span) calls.insert(span->correlation);
  return calls;
}

void StepParts::find_witnesses() {
  witnesses_ = endless_waits(trace_);
  const std::set<SpanId> endless(witnesses_.begin(), witnesses_.end());
  std::unordered_set<std::uint32_t> calls = first_calls_of_streams();  // correlations
  bool peer = false, unnumbered = false;
  SpanId timer = trace::kNone;
  trace::for_each(trace_.spans(), [&](const Span& span, SpanId id) {
    if (!peer && is_peer_wait(span) && !endless.contains(id)) {
      peer = true;
      witnesses_.push_back(id);
      calls.insert(span.correlation);
    }
    // A wait without a number is for any of these.
    if (!unnumbered && span.category == Category::kCollective && span.correlation == 0) {
      unnumbered = true;
      witnesses_.push_back(id);
    }
    if (span.category == Category::kAnnotation &&
        trace_.lanes()[span.lane].kind != LaneKind::kStream &&
        trace_.name(span) == program::kTimerMark &&
        (timer == trace::kNone || span.start < trace_.spans()[timer].start))
      timer = id;
  });
  if (timer != trace::kNone) witnesses_.push_back(timer);
  calls.erase(0);
  trace::for_each(trace_.spans(), [&](const Span& span, SpanId id) {
    if (calls.contains(span.correlation)) witnesses_.push_back(id);
  });
}

// Those, and the first event, which says that events are told.
void StepParts::find_retries() {
  trace::for_each(trace_.allocator_events(),
                  [&](const trace::AllocatorEvent& event, std::uint32_t id) {
                    if (id == 0 || event.action == trace::AllocatorAction::kRetry)
                      allocator_witnesses_.push_back(id);
                  });
}

// ---- One step after another ---------------------------------------------------------------------

std::vector<SpanId> StepParts::spans_in(const Interval& time) {
  const auto reach = [&](SpanId id) { return reach_of(trace_.spans()[id]); };
  for (; begun_ < by_reach_.size() && reach(by_reach_[begun_]).start <= time.end; ++begun_)
    open_.push_back(by_reach_[begun_]);
  std::erase_if(open_, [&](SpanId id) { return reach(id).end < time.start; });
  std::vector<SpanId> ids = witnesses_;
  for (const SpanId id : open_) {
    ids.push_back(id);
    const SpanId cause = trace_.spans()[id].cause_span;
    // A wait for ranks is never alone: it stands with its collective, whose call is the same.
    if (cause != trace::kNone && !is_peer_wait(trace_.spans()[cause])) ids.push_back(cause);
  }
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

std::vector<std::uint32_t> StepParts::samples_in(const Interval& time) const {
  std::vector<std::uint32_t> samples;
  for (const auto& [times, ids] : counters_) {
    auto first = std::ranges::lower_bound(times, time.start);
    if (first != times.begin()) --first;  // the value that it begins with
    const auto last = std::ranges::upper_bound(times, time.end);
    for (auto one = first; one < last; ++one)
      samples.push_back(ids[static_cast<std::size_t>(one - times.begin())]);
  }
  std::ranges::sort(samples);
  return samples;
}

std::unique_ptr<trace::Trace> StepParts::next() {
  if (step_ == steps_.size()) return nullptr;
  const Interval time = steps_[step_++];
  Copier copier(trace_);
  copier.take_spans(spans_in(time));
  for (const std::uint32_t sample : samples_in(time)) copier.take_sample(sample);
  for (const std::uint32_t event : allocator_witnesses_) copier.take_allocator_event(event);
  return copier.finish();
}

}  // namespace trainscope::analysis
