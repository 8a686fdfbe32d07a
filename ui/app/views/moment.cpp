#include "ui/app/views/moment.h"

#include <algorithm>
#include <optional>

namespace trainscope::ui {
namespace {

using trace::Category;
using trace::LaneKind;
using trace::Span;

// The innermost span of a lane at that time, or null.
const Span* span_at(const IndexedTrace& view, const trace::LaneIndex& lane, Nanos time) {
  const trace::Trace& trace = *view.trace;
  for (auto row = lane.rows.rbegin(); row != lane.rows.rend(); ++row) {
    const std::size_t at = trace::first_ending_after(trace, *row, time);
    if (at >= row->spans.size()) continue;
    const Span& span = trace.spans()[row->spans[at]];
    if (span.start <= time) return &span;
  }
  return nullptr;
}

// "step 4" of "ProfilerStep#4".
std::string step_words(const std::string& name) {
  return "step " + name.substr(name.find('#') + 1);
}

struct Doing {
  const Span* gpu = nullptr;
  const Span* host = nullptr;
  const Span* step = nullptr;
};

// The step in which the host was then: it lasts until the next begins, and the last until its end.
const Span* step_at(const IndexedTrace& view, Nanos time) {
  const auto& spans = view.trace->spans();
  const auto& steps = view.steps.spans;
  const auto after = std::ranges::upper_bound(
      steps, time, {}, [&](trace::SpanId step) { return spans[step].start; });
  if (after == steps.begin()) return nullptr;
  const Span& step = spans[*std::prev(after)];
  return after == steps.end() && step.end() <= time ? nullptr : &step;
}

// The device falls behind its host: the step of its work is the one that launched it.
const Span* step_of(const IndexedTrace& view, const Doing& doing, Nanos time) {
  const bool launched = doing.gpu && doing.gpu->correlation != 0 && view.launches;
  const Nanos* launch = launched ? view.launches->find(doing.gpu->correlation) : nullptr;
  return step_at(view, launch ? *launch : time);
}

Doing doing_at(const IndexedTrace& view, Nanos time) {
  Doing doing;
  for (const trace::LaneIndex& lane : view.index.lanes) {
    const LaneKind kind = view.trace->lanes()[lane.lane].kind;
    const Span* span = span_at(view, lane, time);
    if (!span) continue;
    if (kind == LaneKind::kHostThread && !doing.host) doing.host = span;
    if (trace::is_gpu_work(span->category) && !doing.gpu) doing.gpu = span;
  }
  doing.step = step_of(view, doing, time);
  return doing;
}

bool other_work_at(const IndexedTrace& view, Nanos time) {
  return std::ranges::any_of(view.index.lanes, [&](const trace::LaneIndex& lane) {
    const Span* span = span_at(view, lane, time);
    return span && span->category == trace::Category::kOther;
  });
}

std::string words_of(const IndexedTrace& view, const Doing& doing) {
  std::string words;
  const auto add = [&words](const std::string& more) {
    if (!words.empty()) words += ", ";
    words += more;
  };
  if (doing.gpu) add(std::string(trace::name_of(doing.gpu->category)));
  if (doing.host && doing.host->category == Category::kHeld) {
    const std::string& name = view.trace->name(*doing.host);
    static constexpr std::string_view kHeld = "held: ";
    if (name.starts_with(kHeld))
      add(name.substr(kHeld.size()));
    else
      add(name.starts_with("cuda") ? "host waits" : "host " + name);
  }
  if (!doing.gpu && doing.host && doing.host->category != Category::kHeld)
    add("host: " + view.trace->name(*doing.host));
  return words;
}

// Positions around `time` in one row: the span that ends after it and its neighbours.
template <typename Take>
void offer_near(const IndexedTrace& view, const trace::Row& row, Nanos time, Take take) {
  const std::size_t at = trace::first_ending_after(*view.trace, row, time);
  const std::size_t first = at > 0 ? at - 1 : 0;
  for (std::size_t i = first; i < std::min(at + 2, row.spans.size()); ++i) {
    const Span& span = view.trace->spans()[row.spans[i]];
    take(span.start);
    take(span.end());
  }
}

template <typename Take>
void offer_all(const IndexedTrace& view, Nanos time, Take take) {
  for (const trace::LaneIndex& lane : view.index.lanes)
    for (const trace::Row& row : lane.rows) offer_near(view, row, time, take);
}

// The row of step marks; null where there is none.
const trace::Row* steps_of(const IndexedTrace& view) {
  return view.steps.spans.empty() ? nullptr : &view.steps;
}

// The trace's time cut into: before the first step (0), the steps (1 .. n), after the last (n + 1).
// Where part `i` begins; part n + 2 begins at the end of the trace.
Nanos begin_of_part(const IndexedTrace& view, const trace::Row& steps, std::size_t i) {
  const std::size_t count = steps.spans.size();
  const auto span = [&](std::size_t step) -> const Span& {
    return view.trace->spans()[steps.spans[step]];
  };
  if (i == 0) return 0;
  if (i <= count) return span(i - 1).start;
  if (i == count + 1) return span(count - 1).end();
  return std::max(view.index.end, span(count - 1).end());
}

std::size_t part_at(const IndexedTrace& view, const trace::Row& steps, Nanos time) {
  std::size_t least = 0, most = steps.spans.size() + 2;
  while (least + 1 < most) {
    const std::size_t middle = (least + most) / 2;
    (begin_of_part(view, steps, middle) <= time ? least : most) = middle;
  }
  return least;
}

}  // namespace

bool has_steps(const IndexedTrace& view) {
  return steps_of(view) != nullptr;
}

Nanos same_step(const IndexedTrace& from, const IndexedTrace& to, Nanos time) {
  const trace::Row *there = steps_of(from), *here = steps_of(to);
  if (!there || !here) return time;
  const std::size_t part = part_at(from, *there, time);
  const Nanos begin = begin_of_part(from, *there, part);
  const Nanos length = begin_of_part(from, *there, part + 1) - begin;
  const double share =
      length > 0 ? static_cast<double>(time - begin) / static_cast<double>(length) : 0;
  std::size_t target = part;
  if (part == there->spans.size() + 1)
    target = here->spans.size() + 1;
  else if (part > here->spans.size())
    return begin_of_part(to, *here, here->spans.size() + 2);
  const Nanos start = begin_of_part(to, *here, target);
  const Nanos room = begin_of_part(to, *here, target + 1) - start;
  return start + static_cast<Nanos>(std::clamp(share, 0.0, 1.0) * static_cast<double>(room) + 0.5);
}

std::string state_at(const IndexedTrace& view, Nanos time) {
  if (time >= view.index.end) return "done";
  const Doing doing = doing_at(view, time);
  std::string words = words_of(view, doing);
  // Spans that a foreign file calls neither GPU work nor a thread's are work all the same.
  if (words.empty()) words = other_work_at(view, time) ? "other work" : "idle";
  const bool one_step =
      doing.step && doing.step->start <= view.index.start && doing.step->end() >= view.index.end;
  if (!doing.step || one_step) return words;
  return step_words(view.trace->name(*doing.step)) + ", " + words;
}

Nanos next_event(const IndexedTrace& view, Nanos time) {
  std::optional<Nanos> best;
  offer_all(view, time, [&](Nanos at) {
    if (at > time && (!best || at < *best)) best = at;
  });
  return best.value_or(time);
}

Nanos previous_event(const IndexedTrace& view, Nanos time) {
  std::optional<Nanos> best;
  // Just before `time`: a row may hold nothing that ends after it.
  offer_all(view, time - 1, [&](Nanos at) {
    if (at < time && (!best || at > *best)) best = at;
  });
  return best.value_or(time);
}

}  // namespace trainscope::ui
