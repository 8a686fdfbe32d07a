// Which phase of training each kernel of a Chrome trace belongs to: that of the mark or operator
// from within which it was launched.
#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/chrome_assemble.h"

namespace trainscope::trace::chrome {
namespace {

// A span that is going on at some time of a sweep, and the phase of what runs in it.
struct OpenMark {
  Nanos end;
  Phase phase;
};

// A forward pass that runs again within a backward pass (checkpointing) is part of the latter.
Phase phase_within(Phase outer, Phase inner) {
  return outer == Phase::kBackward && inner == Phase::kForward ? outer : inner;
}

Category category_of(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return Category::kForward;
    case Phase::kBackward:
      return Category::kBackward;
    case Phase::kOptimizer:
      return Category::kOptimizer;
    case Phase::kNone:
      break;
  }
  return Category::kKernel;
}

struct Question {
  std::uint32_t lane;
  Nanos time;
  SpanId kernel;
};

std::vector<Question> launched_kernels(const Collected& collected) {
  std::vector<Question> questions;
  for (SpanId id = 0; id < collected.spans.size(); ++id) {
    const Span& span = collected.spans[id];
    if (span.category != Category::kKernel || span.cause_span == kNone) continue;
    const Span& launch = collected.spans[span.cause_span];
    questions.push_back({launch.lane, launch.start, id});
  }
  std::ranges::sort(questions, {}, [](const Question& q) { return std::pair(q.lane, q.time); });
  return questions;
}

// Calls that made nodes of autograd's graph, and when the backward of one began.
struct Nodes {
  std::vector<SpanId> makers;
  std::vector<Nanos> backwards;
};

// A forward operator is known by the arrow to its backward one.
Nodes nodes_of_arrows(const Collected& collected) {
  Nodes nodes;
  for (const FlowEnd& start : collected.flow_starts.ends)
    if (start.kind == FlowKind::kForwardBackward && start.span != kNone)
      nodes.makers.push_back(start.span);
  for (const FlowEnd& end : collected.flow_ends.ends)
    if (end.kind == FlowKind::kForwardBackward && end.span != kNone)
      nodes.backwards.push_back(collected.spans[end.span].start);
  return nodes;
}

// Of calls with one number on one lane, as they start. Each has the number of the node that will be
// made next, and the last to start before its backward makes it, for the outermost with that number
// around it.
SpanId maker_of(const Collected& collected, std::span<const NumberedCall> calls, Nanos backward) {
  const auto end_of = [&](const NumberedCall& one) { return collected.spans[one.span].end(); };
  const auto last = std::find_if(calls.rbegin(), calls.rend(),
                                 [&](const NumberedCall& one) { return end_of(one) <= backward; });
  if (last == calls.rend()) return kNone;
  return std::ranges::find_if(calls,
                              [&](const NumberedCall& one) { return end_of(one) >= end_of(*last); })
      ->span;
}

// In 2021 profilers drew no arrows, but said which node an operator was to make, or is the backward
// of.
Nodes nodes_of_numbers(Collected& collected) {
  const auto& spans = collected.spans;
  auto& calls = collected.numbered_calls;
  Nodes nodes;
  std::unordered_map<std::uint32_t, Nanos> backward;  // where it begins, by number
  for (const NumberedCall& one : calls) {
    if (!one.is_backward) continue;
    nodes.backwards.push_back(spans[one.span].start);
    const auto [known, added] = backward.try_emplace(one.number, nodes.backwards.back());
    if (!added) known->second = std::min(known->second, nodes.backwards.back());
  }
  std::erase_if(calls, [](const NumberedCall& one) { return one.is_backward; });
  const auto group = [&](const NumberedCall& one) {
    return std::pair(spans[one.span].lane, one.number);
  };
  std::ranges::sort(calls, {}, [&](const NumberedCall& one) {
    return std::tuple(group(one), spans[one.span].start, -spans[one.span].end());
  });
  for (std::size_t first = 0, end = 0; first < calls.size(); first = end) {
    while (end < calls.size() && group(calls[end]) == group(calls[first])) ++end;
    const auto node = backward.find(calls[first].number);
    if (node == backward.end()) continue;
    const std::span<const NumberedCall> alike(calls.data() + first, end - first);
    const SpanId maker = maker_of(collected, alike, node->second);
    if (maker != kNone) nodes.makers.push_back(maker);
  }
  return nodes;
}

// From one call that makes a node to the next all is forward, such as a batch norm's count of its
// batches, unless a backward begins between them.
void mark_forward(Collected& collected, Nodes nodes) {
  std::ranges::sort(nodes.backwards);
  std::vector<PhaseMark> calls;
  for (const SpanId maker : nodes.makers) {
    const Span& span = collected.spans[maker];
    calls.push_back({span.lane, span.start, span.end(), Phase::kForward});
  }
  std::ranges::sort(calls, {},
                    [](const PhaseMark& call) { return std::pair(call.lane, call.start); });
  const auto backward_between = [&](Nanos from, Nanos to) {
    const auto next = std::ranges::upper_bound(nodes.backwards, from);
    return next != nodes.backwards.end() && *next <= to;
  };
  const std::size_t before = collected.marks.size();
  for (const PhaseMark& call : calls) {
    PhaseMark* last = collected.marks.size() > before ? &collected.marks.back() : nullptr;
    if (last && last->lane == call.lane && !backward_between(last->start, call.start)) {
      last->end = std::max(last->end, call.end);
    } else {
      collected.marks.push_back(call);
    }
  }
}

// Whether autograd has the host's lane for itself: all that its marks tell, each by the outermost,
// is backward. There gradients are also added up, outside of every mark.
std::vector<bool> autograd_lanes(const std::vector<PhaseMark>& sorted, std::size_t lanes) {
  std::vector<bool> backward(lanes), others(lanes);
  std::uint32_t lane = kNone;
  Nanos end = 0;
  for (const PhaseMark& mark : sorted) {
    if (mark.lane == lane && mark.start < end) continue;
    lane = mark.lane;
    end = mark.end;
    (mark.phase == Phase::kBackward ? backward : others)[lane] = true;
  }
  for (std::size_t i = 0; i < lanes; ++i) backward[i] = backward[i] && !others[i];
  return backward;
}

}  // namespace

void find_phases(Collected& collected) {
  Nodes nodes = nodes_of_arrows(collected);
  if (nodes.makers.empty()) nodes = nodes_of_numbers(collected);
  mark_forward(collected, std::move(nodes));
  auto& marks = collected.marks;
  std::ranges::sort(marks, {}, [](const PhaseMark& mark) {
    return std::tuple(mark.lane, mark.start, -mark.end);
  });
  const std::vector<bool> autograd = autograd_lanes(marks, collected.lanes.size());
  std::vector<OpenMark> open;
  std::size_t next = 0;
  std::uint32_t lane = kNone;
  for (const Question& question : launched_kernels(collected)) {
    if (question.lane != lane) open.clear();
    lane = question.lane;
    while (next < marks.size() && marks[next].lane < lane) ++next;
    for (; next < marks.size() && marks[next].lane == lane && marks[next].start <= question.time;
         ++next) {
      while (!open.empty() && open.back().end <= marks[next].start) open.pop_back();
      const Phase outer = open.empty() ? Phase::kNone : open.back().phase;
      open.push_back({marks[next].end, phase_within(outer, marks[next].phase)});
    }
    while (!open.empty() && open.back().end <= question.time) open.pop_back();
    const Phase outside = autograd[lane] ? Phase::kBackward : Phase::kNone;
    if (const Phase phase = open.empty() ? outside : open.back().phase; phase != Phase::kNone)
      collected.spans[question.kernel].category = category_of(phase);
  }
}

}  // namespace trainscope::trace::chrome
