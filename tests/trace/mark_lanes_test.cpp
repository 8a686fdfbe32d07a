// Which lanes of marks a timeline need not show.
#include "trace/mark_lanes.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "trace/step_mark.h"

using namespace trainscope;
using namespace trainscope::trace;

namespace {

constexpr Nanos kStep = 1000;

struct Marks {
  int count = 4;
  Nanos later = 0;
  bool has_parts = false;  // marks within the steps
  Nanos gap = 0;           // between steps, where something else is marked
};

// A lane for each, and the lanes that only repeat the first.
std::vector<LaneId> repeated(const std::vector<Marks>& ranks, LaneKind kind = LaneKind::kSteps) {
  Trace trace({});
  std::int32_t rank = 0;
  for (const Marks& marks : ranks) {
    const LaneId lane = trace.add_lane({"steps", kind, rank++, -1, 0, 0, ""});
    const auto add = [&](const std::string& name, Nanos start, Nanos duration) {
      Span span;
      span.lane = lane;
      span.start = start;
      span.duration = duration;
      span.category = Category::kAnnotation;
      span.name = trace.intern(name);
      trace.add_span(span);
    };
    for (int step = 0; step < marks.count; ++step) {
      const Nanos start = step * (kStep + marks.gap) + marks.later;
      add(step_mark(step), start, kStep);
      if (marks.has_parts) add("Forward 0", start, kStep / 2);
      if (marks.gap > 0) add("Validation", start + kStep, marks.gap);
    }
  }
  return repeated_mark_lanes(trace, build_index(trace));
}

}  // namespace

TEST_CASE("marks of ranks that step at once repeat the first one's") {
  CHECK(repeated({{}, {}, {}}) == std::vector<LaneId>{1, 2});
  CHECK(repeated({{}, {4, kStep / 100}, {4, -kStep / 100}}) == std::vector<LaneId>{1, 2});
  CHECK(repeated({{4, 0, true}, {}}) == std::vector<LaneId>{1});
  CHECK(repeated({{4, 0, true, 300}, {4, 0, false, 300}}) == std::vector<LaneId>{1});
}

TEST_CASE("marks that come earlier, later, or tell more than the first rank's are kept") {
  CHECK(repeated({{}}).empty());
  CHECK(repeated({{}, {4, kStep / 100 + 1}, {4, -kStep / 2}, {4, kStep}}).empty());
  CHECK(repeated({{}, {3}, {5}}).empty());
  CHECK(repeated({{4, 0, true}, {4, 0, true}}).empty());
  CHECK(repeated({{0}, {}, {}}) == std::vector<LaneId>{2});
  CHECK(repeated({{}, {}}, LaneKind::kHostThread).empty());
}
