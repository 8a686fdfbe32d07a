#include "ui/app/views/line_up.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "analysis/steps/measured.h"
#include "ui/timeline/refs.h"

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

bool on_gpu(const trace::Lane& lane) {
  return lane.kind == trace::LaneKind::kStream || lane.kind == trace::LaneKind::kCopyEngine;
}

// By lane: whether it has work beside that of a lane, in the same run or in another: all of that
// GPU's, else the lanes of that name.
std::vector<bool> lanes_beside(const trace::Trace& trace, const trace::Lane& lane) {
  std::vector<bool> beside(trace.lanes().size());
  for (std::uint32_t i = 0, n = trace.lanes().size(); i < n; ++i) {
    const trace::Lane& other = trace.lanes()[i];
    beside[i] = on_gpu(lane)
                    ? on_gpu(other) && other.rank == lane.rank && other.device == lane.device
                    : other.name == lane.name;
  }
  return beside;
}

// The steps of a run on its host, or on its GPUs, which lag behind: where each begins, and the end.
std::vector<Nanos> step_begins(const trace::Trace& trace, bool gpu) {
  std::vector<Nanos> begins;
  Nanos end = 0;
  for (const analysis::StepWindow& step : analysis::step_windows(trace)) {
    begins.push_back(gpu ? step.window.start : step.mark.start);
    end = std::max(step.window.end, step.mark.end);
  }
  begins.push_back(end);
  return begins;
}

// The step that holds the time; nothing before the first. The last goes on.
std::optional<std::size_t> step_with(const std::vector<Nanos>& begins, Nanos time) {
  const auto after = std::upper_bound(begins.begin(), begins.end() - 1, time);
  if (after == begins.begin()) return std::nullopt;
  return static_cast<std::size_t>(after - begins.begin()) - 1;
}

using IsLike = std::function<bool(const trace::Span&)>;

struct Begun {
  Nanos start = 0;
  trace::LaneId lane = 0;
  bool kernel = false, like = false;
};

// The lane that does most of such work, of a GPU in kernels if it does any of it in kernels: what
// is beside them, as a copy, begins when it can.
trace::LaneId main_lane(const std::vector<Begun>& all, std::size_t lanes) {
  std::vector<std::pair<std::size_t, std::size_t>> counts(lanes);  // kernels, and all of it
  for (const Begun& one : all) {
    if (!one.like) continue;
    counts[one.lane].first += one.kernel;
    ++counts[one.lane].second;
  }
  return static_cast<trace::LaneId>(std::ranges::max_element(counts) - counts.begin());
}

// Where each pass of such work begins, from one time to another: other work on its lane ends it.
std::vector<Nanos> passes(const trace::Trace& trace, const std::vector<bool>& lanes, Nanos from,
                          Nanos to, const IsLike& is_like) {
  std::vector<Begun> all;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (lanes[span.lane] && span.start >= from && span.start < to)
      all.push_back({span.start, span.lane, trace::is_kernel(span.category), is_like(span)});
  });
  const bool in_kernels =
      std::ranges::any_of(all, [](const Begun& one) { return one.kernel && one.like; });
  const trace::LaneId lane = main_lane(all, lanes.size());
  std::erase_if(all,
                [&](const Begun& one) { return one.lane != lane || (in_kernels && !one.kernel); });
  std::ranges::stable_sort(all, {}, &Begun::start);
  std::vector<Nanos> begins;
  bool within = false;
  for (const Begun& one : all) {
    if (one.like && !within) begins.push_back(one.start);
    within = one.like;
  }
  return begins;
}

std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first);
}

// Work of the lines of the run's listing that read so, however far they are indented.
IsLike of_lines(const program::Listing& listing, const std::string& text) {
  std::vector<bool> lines{false};
  for (const std::string& line : listing.lines) lines.push_back(trimmed(line) == text);
  return [lines](const trace::Span& span) { return span.line < lines.size() && lines[span.line]; };
}

// What the like of a span is, in its own run and in the other: the best first.
std::vector<std::pair<IsLike, IsLike>> likenesses(const analysis::Run& own,
                                                  const analysis::Run& other,
                                                  const trace::Span& span) {
  std::vector<std::pair<IsLike, IsLike>> all;
  if (own.program && other.program && span.line > 0 &&
      span.line <= own.program->listing.lines.size()) {
    const std::string text = trimmed(own.program->listing.lines[span.line - 1]);
    all.emplace_back(of_lines(own.program->listing, text), of_lines(other.program->listing, text));
  }
  const bool of_phase = trace::is_kernel(span.category) || trace::is_copy(span.category);
  if (of_phase && span.category != trace::Category::kKernel) {
    const IsLike is_like = [category = span.category](const trace::Span& one) {
      return one.category == category;
    };
    all.emplace_back(is_like, is_like);
  }
  return all;
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

namespace {

// From a span to the one that is its nth namesake in the other run.
std::optional<Nanos> way_to_namesake(const trace::Trace& own, const trace::Trace& other,
                                     trace::SpanId span) {
  if (span >= own.spans().size()) return std::nullopt;
  const trace::Span& here = own.spans()[span];
  const std::string &name = own.name(here), &lane = own.lanes()[here.lane].name;
  const auto mine = namesakes(own, name, lane), theirs = namesakes(other, name, lane);
  const auto nth =
      static_cast<std::size_t>(std::find(mine.begin(), mine.end(), span) - mine.begin());
  if (nth >= theirs.size()) return std::nullopt;
  return other.spans()[theirs[nth]].start - here.start;
}

// Whether one of them begins in that range of the other run.
bool shows_namesake(const trace::Trace& own, const trace::Trace& other, trace::SpanId span,
                    TimeRange range) {
  const trace::Span& here = own.spans()[span];
  const auto theirs = namesakes(other, own.name(here), own.lanes()[here.lane].name);
  return std::ranges::any_of(theirs, [&](trace::SpanId id) {
    return other.spans()[id].start >= range.start && other.spans()[id].start < range.end;
  });
}

}  // namespace

std::optional<Nanos> offset_to_meet(const IndexedTrace& a, const IndexedTrace& b, bool span_is_of_b,
                                    trace::SpanId span) {
  if (!span_is_of_b) {
    const auto way = way_to_namesake(*a.trace, *b.trace, span);
    return way ? std::optional(-*way) : std::nullopt;
  }
  return way_to_namesake(*b.trace, *a.trace, span);
}

std::optional<Nanos> offset_to_compare(const analysis::Run& a, const analysis::Run& b,
                                       bool span_is_of_b, trace::SpanId id) {
  const analysis::Run &own = span_is_of_b ? b : a, &other = span_is_of_b ? a : b;
  if (id >= own.trace->spans().size()) return std::nullopt;
  const trace::Span& span = own.trace->spans()[id];
  const trace::Lane& lane = own.trace->lanes()[span.lane];
  const auto mine = step_begins(*own.trace, on_gpu(lane));
  const auto theirs = step_begins(*other.trace, on_gpu(lane));
  const auto step = step_with(mine, span.start);
  if (!step || *step + 1 >= theirs.size()) return std::nullopt;
  Nanos here = mine[*step], there = theirs[*step];
  for (const auto& [is_like, is_like_there] : likenesses(own, other, span)) {
    const auto begun =
        passes(*own.trace, lanes_beside(*own.trace, lane), mine[*step], mine[*step + 1], is_like);
    const auto begun_there = passes(*other.trace, lanes_beside(*other.trace, lane), theirs[*step],
                                    theirs[*step + 1], is_like_there);
    if (begun.empty() || begun_there.empty()) continue;
    const auto after = std::ranges::upper_bound(begun, span.start) - begun.begin();
    const auto pass = static_cast<std::size_t>(std::max<std::ptrdiff_t>(after, 1) - 1);
    here = begun[pass];
    there = begun_there[std::min(pass, begun_there.size() - 1)];
    break;
  }
  return span_is_of_b ? there - here : here - there;
}

std::optional<Nanos> offset_to_compare(const analysis::Run& a, const analysis::Run& b,
                                       bool span_is_of_b, trace::SpanId span, Nanos around) {
  const auto by_step = offset_to_compare(a, b, span_is_of_b, span);
  const trace::Trace& own = span_is_of_b ? *b.trace : *a.trace;
  if (span >= own.spans().size()) return by_step;
  const trace::Trace& other = span_is_of_b ? *a.trace : *b.trace;
  const trace::Span& here = own.spans()[span];
  const Nanos shift = span_is_of_b ? by_step.value_or(0) : -by_step.value_or(0);
  if (shows_namesake(own, other, span, {here.start + shift - around, here.end() + shift + around}))
    return by_step;
  const auto way = way_to_namesake(own, other, span);
  if (!way) return by_step;
  return span_is_of_b ? *way : -*way;
}

}  // namespace trainscope::ui
