#include "analysis/causes/unit_times.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include <tuple>

#include "analysis/steps/by_correlation.h"
#include "analysis/steps/step_mark.h"
#include "trace/collective_kind.h"
#include "trace/same_collectives.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::LaneKind;
using trace::Span;

enum class What : std::uint8_t { kGather, kBegin, kEnd, kReduce };
constexpr std::array<std::pair<std::string_view, What>, 5> kMarks{{
    {"FSDP::all_gather", What::kGather},
    {"FSDP::all_gather_copy_out", What::kBegin},
    {"FSDP::pre_backward", What::kBegin},
    {"FSDP::post_forward", What::kEnd},
    {"FSDP::post_backward_reduce", What::kReduce},
}};
constexpr std::string_view kRoot = "root";

struct Mark {
  What what = What::kGather;
  std::string unit;
  Interval time;
  std::int32_t rank = 0;
};

std::optional<Mark> mark_of(const trace::Trace& trace, const Span& span) {
  if (span.category != Category::kAnnotation) return std::nullopt;
  const trace::Lane& lane = trace.lanes()[span.lane];
  if (lane.kind != LaneKind::kHostThread && lane.kind != LaneKind::kSteps) return std::nullopt;
  const std::string_view name = trace.name(span);
  const std::size_t bracket = name.find(" (");
  for (const auto& [word, what] : kMarks) {
    if (name.substr(0, bracket) != word) continue;
    Mark mark{what, std::string(kRoot), {span.start, span.end()}, lane.rank};
    if (bracket != std::string_view::npos && name.ends_with(')'))
      mark.unit = name.substr(bracket + 2, name.size() - bracket - 3);
    return mark;
  }
  return std::nullopt;
}

// Of the first rank that has any, by time, what is within another behind it.
std::vector<Mark> marks_of(const trace::Trace& trace) {
  std::vector<Mark> marks;
  std::int32_t first = std::numeric_limits<std::int32_t>::max();
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (auto mark = mark_of(trace, span)) {
      first = std::min(first, mark->rank);
      marks.push_back(std::move(*mark));
    }
  });
  std::erase_if(marks, [first](const Mark& mark) { return mark.rank != first; });
  std::ranges::stable_sort(marks, {}, [](const Mark& mark) {
    return std::tuple(mark.time.start, -mark.time.end, mark.what != What::kBegin);
  });
  return marks;
}

void extend(std::optional<Interval>& interval, const Span& span) {
  if (!interval) interval = Interval{span.start, span.end()};
  interval->start = std::min(interval->start, span.start);
  interval->end = std::max(interval->end, span.end());
}

bool is_all_reduce(const trace::Trace& trace, const Span& span) {
  const trace::CollectiveDetail* one = trace::collective_of(trace, span);
  return one && trace::kind_of(one->operation) == trace::CollectiveKind::kAllReduce;
}

class Visits {
 public:
  Visits(const trace::Trace& trace, std::vector<Mark> marks)
      : trace_(trace), marks_(std::move(marks)), calls_(trace, std::numeric_limits<Nanos>::min()) {
    for (const Mark& mark : marks_) {
      const std::size_t unit = unit_of(mark.unit);
      if (mark.what == What::kGather) {
        begun_[unit].push_back({mark.time.start, visits_.size()});
        visits_.push_back({mark.time.start, {}});
        visits_.back().second.unit = unit;
      } else {
        turns_.push_back({mark.time.end, mark.what == What::kBegin ? unit : unit_of(kRoot)});
      }
    }
    std::ranges::stable_sort(turns_, {}, &Turn::time);
    trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
      if (is_joined_call(span) && trace.lanes()[span.lane].rank == rank())
        calls_.add(span.correlation, span.start);
    });
    trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) { place(span); });
  }

  UnitTimes times() const {
    UnitTimes times;
    times.units = units_;
    const std::vector<StepMark> steps = step_marks();
    for (const auto& [begun, visit] : visits_) {
      const auto after = std::ranges::upper_bound(steps, begun, {}, &StepMark::start);
      const auto step =
          static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - steps.begin() - 1, 0));
      if (!visit.gather && !visit.forward && !visit.backward) continue;
      if (times.steps.size() <= step) times.steps.resize(step + 1);
      times.steps[step].number = steps.empty() ? 0 : steps[step].number;
      times.steps[step].visits.push_back(whole(visit, units_[visit.unit] == kRoot));
    }
    std::erase_if(times.steps, [](const UnitStep& step) { return step.visits.empty(); });
    for (UnitStep& step : times.steps) step.time = time_of(step);
    return times;
  }

 private:
  struct Turn {
    Nanos time = 0;
    std::size_t unit = 0;
  };
  struct Begun {
    Nanos time = 0;
    std::size_t visit = 0;
  };

  struct StepMark {
    Nanos start = 0;
    std::int64_t number = 0;
  };

  std::int32_t rank() const { return marks_.front().rank; }

  std::size_t unit_of(std::string_view name) {
    const auto known = std::ranges::find(units_, name);
    if (known != units_.end()) return static_cast<std::size_t>(known - units_.begin());
    units_.emplace_back(name);
    begun_.emplace_back();
    return units_.size() - 1;
  }

  // The unit's visit at a time of the host; null before its first gather.
  UnitVisit* visit_of(std::size_t unit, Nanos time) {
    const auto after = std::ranges::upper_bound(begun_[unit], time, {}, &Begun::time);
    return after == begun_[unit].begin() ? nullptr : &visits_[std::prev(after)->visit].second;
  }

  // The innermost. Few stand within one another, and those before it that are over are passed by.
  const Mark* mark_at(Nanos time) const {
    constexpr int kMost = 8;
    auto mark =
        std::ranges::upper_bound(marks_, time, {}, [](const Mark& one) { return one.time.start; });
    for (int i = 0; i < kMost && mark != marks_.begin(); ++i)
      if (time < (--mark)->time.end) return &*mark;
    return nullptr;
  }

  void place(const Span& span) {
    const trace::Lane& lane = trace_.lanes()[span.lane];
    if (lane.kind != LaneKind::kStream || lane.rank != rank()) return;
    const Nanos* call = span.correlation == 0 ? nullptr : calls_.find(span.correlation);
    if (!call) return;
    const Mark* mark = mark_at(*call);
    if (span.category == Category::kCollective) {
      UnitVisit* visit = mark ? visit_of(unit_of(mark->unit), *call) : nullptr;
      if (!visit) return;
      if (mark->what == What::kGather) extend(visit->gather, span);
      if (mark->what == What::kReduce)
        extend(is_all_reduce(trace_, span) ? visit->sum : visit->scatter, span);
    } else if (!mark &&
               (span.category == Category::kForward || span.category == Category::kKernel ||
                span.category == Category::kBackward)) {
      const auto after = std::ranges::upper_bound(turns_, *call, {}, &Turn::time);
      if (after == turns_.begin()) return;
      UnitVisit* visit = visit_of(std::prev(after)->unit, *call);
      if (!visit) return;
      // Without a backward, no phase is known.
      extend(span.category == Category::kBackward ? visit->backward : visit->forward, span);
    }
  }

  std::vector<StepMark> step_marks() const {
    std::vector<StepMark> marks;
    trace::for_each(trace_.spans(), [&](const Span& span, trace::SpanId) {
      if (!is_step_mark(trace_, span) || trace_.lanes()[span.lane].rank != rank()) return;
      StepMark mark{span.start, 0};
      const std::string_view name = trace_.name(span);
      std::from_chars(name.data() + trace::kStepMark.size(), name.data() + name.size(),
                      mark.number);
      marks.push_back(mark);
    });
    std::ranges::sort(marks, {}, &StepMark::start);
    return marks;
  }

  static UnitVisit whole(UnitVisit visit, bool is_root) {
    bool any = false;
    for (const auto* part : {&visit.gather, &visit.forward, &visit.backward}) {
      if (!*part) continue;
      visit.whole.start = any ? std::min(visit.whole.start, (*part)->start) : (*part)->start;
      visit.whole.end = any ? std::max(visit.whole.end, (*part)->end) : (*part)->end;
      any = true;
    }
    // The root's stay until all of backward is done.
    if (is_root && any && visit.backward && visit.scatter)
      visit.whole.end = std::max(visit.whole.end, visit.scatter->start);
    return visit;
  }

  static Interval time_of(const UnitStep& step) {
    Interval time = step.visits.front().whole;
    for (const UnitVisit& visit : step.visits) {
      time.start = std::min(time.start, visit.whole.start);
      for (const auto* part : {&visit.scatter, &visit.sum})
        if (*part) time.end = std::max(time.end, (*part)->end);
      time.end = std::max(time.end, visit.whole.end);
    }
    return time;
  }

  const trace::Trace& trace_;
  std::vector<Mark> marks_;
  ByCorrelation<Nanos> calls_;  // their starts
  std::vector<std::string> units_;
  std::vector<std::vector<Begun>> begun_;  // by unit
  std::vector<std::pair<Nanos, UnitVisit>> visits_;
  std::vector<Turn> turns_;  // from when on kernels are whose
};

}  // namespace

const UnitStep& UnitTimes::at(Nanos time) const {
  const UnitStep* found = &steps.front();
  for (const UnitStep& step : steps)
    if (step.time.start <= time) found = &step;
  return *found;
}

bool has_unit_marks(const trace::Trace& trace) {
  for (std::uint32_t i = 0; i < trace.name_count(); ++i)
    if (trace.name(i).starts_with("FSDP::")) return true;
  return false;
}

UnitTimes unit_times(const trace::Trace& trace) {
  if (!has_unit_marks(trace)) return {};
  std::vector<Mark> marks = marks_of(trace);
  if (marks.empty()) return {};
  return Visits(trace, std::move(marks)).times();
}

}  // namespace trainscope::analysis
