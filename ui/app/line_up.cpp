#include "ui/app/line_up.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/measured.h"

namespace trainscope::ui {
namespace {

std::optional<Nanos> first_kernel(const trace::Trace& trace) {
  std::optional<Nanos> first;
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const trace::Span& span = trace.spans()[i];
    if (trace::is_kernel(span.category) && (!first || span.start < *first)) first = span.start;
  }
  return first;
}

// The step that holds the time, else the last one before it, else the first.
std::size_t step_at(const std::vector<analysis::StepWindow>& steps, Nanos time) {
  std::size_t at = 0;
  while (at + 1 < steps.size() && steps[at + 1].mark.start <= time) ++at;
  return at;
}

// The spans of a name in lanes of a name, by when they start.
std::vector<trace::SpanId> namesakes(const trace::Trace& trace, const std::string& name,
                                     const std::string& lane) {
  std::vector<trace::SpanId> found;
  for (trace::SpanId i = 0, n = trace.spans().size(); i < n; ++i) {
    const trace::Span& span = trace.spans()[i];
    if (trace.lanes()[span.lane].name == lane && trace.name(span) == name) found.push_back(i);
  }
  std::stable_sort(found.begin(), found.end(), [&](trace::SpanId a, trace::SpanId b) {
    return trace.spans()[a].start < trace.spans()[b].start;
  });
  return found;
}

}  // namespace

std::optional<Nanos> offset_to_meet(LineUp how, const IndexedTrace& a, const IndexedTrace& b,
                                    Nanos playhead) {
  if (how == LineUp::kStart) return 0;
  if (how == LineUp::kFirstKernel) {
    const auto in_a = first_kernel(*a.trace), in_b = first_kernel(*b.trace);
    if (!in_a || !in_b) return std::nullopt;
    return *in_a - *in_b;
  }
  const auto in_a = analysis::step_windows(*a.trace), in_b = analysis::step_windows(*b.trace);
  if (in_a.empty()) return std::nullopt;
  const std::size_t step = step_at(in_a, playhead);
  if (step >= in_b.size()) return std::nullopt;
  return in_a[step].mark.start - in_b[step].mark.start;
}

std::optional<Nanos> offset_to_meet(const IndexedTrace& a, const IndexedTrace& b, bool span_is_of_b,
                                    trace::SpanId span) {
  const trace::Trace& own = span_is_of_b ? *b.trace : *a.trace;
  const trace::Trace& other = span_is_of_b ? *a.trace : *b.trace;
  if (span >= own.spans().size()) return std::nullopt;
  const trace::Span& here = own.spans()[span];
  const std::string &name = own.name(here), &lane = own.lanes()[here.lane].name;
  const auto mine = namesakes(own, name, lane), theirs = namesakes(other, name, lane);
  const auto nth =
      static_cast<std::size_t>(std::find(mine.begin(), mine.end(), span) - mine.begin());
  if (nth >= theirs.size()) return std::nullopt;
  const Nanos there = other.spans()[theirs[nth]].start;
  return span_is_of_b ? there - here.start : here.start - there;
}

}  // namespace trainscope::ui
