// What a search finds in a trace, without a window, against a plain walk over all spans.
#include "ui/timeline/matches.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "ui/app/views/timeline_search.h"

using namespace trainscope;
using namespace trainscope::trace;
using namespace trainscope::ui;

namespace {

SpanId add_span(Trace& trace, LaneId lane, Nanos start, Nanos duration, std::string_view name,
                Category category = Category::kKernel) {
  Span span;
  span.lane = lane;
  span.start = start;
  span.duration = duration;
  span.category = category;
  span.name = trace.intern(name);
  return trace.add_span(span);
}

struct Searched {
  Trace trace{Origin{}};
  TraceIndex index;
};

void fill(Searched& searched, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<Nanos>(random() % static_cast<unsigned>(n)); };
  const char* names[] = {"gemm", "Relu", "all_reduce", "softmax"};
  for (int i = 0; i < 3; ++i) searched.trace.add_lane({});
  for (int i = 0; i < 200; ++i)
    add_span(searched.trace, static_cast<LaneId>(below(3)), below(400), below(3) * below(30),
             names[below(4)]);
  searched.index = build_index(searched.trace);
}

TimelineSide side_of(const Searched& searched) {
  TimelineSide side;
  side.trace = &searched.trace;
  side.index = &searched.index;
  return side;
}

}  // namespace

TEST_CASE(
    "names, kinds and labels are found in any case of letters; hidden lanes are not searched") {
  Searched searched;
  Trace& trace = searched.trace;
  for (int i = 0; i < 2; ++i) trace.add_lane({});
  add_span(trace, 0, 0, 10, "aten::addmm");
  add_span(trace, 0, 20, 10, "sgemm_128x64");
  CopyDetail copy;
  copy.bytes = 64 << 20;
  Span span;
  span.lane = 1;
  span.duration = 10;
  span.category = Category::kCopyH2D;
  span.name = trace.intern("Memcpy HtoD");
  span.detail = trace.add_detail(copy);
  trace.add_span(span);
  searched.index = build_index(trace);
  const auto count = [&](std::string_view words, const std::vector<LaneId>& hidden = {}) {
    return find_matches(trace, searched.index, words, hidden).count;
  };
  CHECK(count("ADDMM") == 1);
  CHECK(count("mm") == 2);
  CHECK(count("copy h2d") == 1);
  CHECK(count("64 mib") == 1);
  CHECK(count("64 mib", {1}) == 0);
  CHECK(count("") == 0);
  CHECK(count("nothing like it") == 0);
}

TEST_CASE("going on from match to match passes each one once, forth and back") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Searched searched;
    fill(searched, seed);
    const Matches matches = find_matches(searched.trace, searched.index, "re", {});
    std::set<SpanId> expected;
    for (SpanId id = 0; id < searched.trace.spans().size(); ++id)
      if (searched.trace.name(searched.trace.spans()[id]) != "gemm" &&
          searched.trace.name(searched.trace.spans()[id]) != "softmax")
        expected.insert(id);
    REQUIRE(matches.count == expected.size());
    std::vector<SpanId> order;
    MatchPlace place{-1, 0, 0, 0};
    for (SpanId id; (id = match_after(searched.trace, searched.index, matches, place)) != kNone;) {
      place = place_of(searched.trace, searched.index, id);
      CHECK(matches_before(searched.trace, searched.index, matches, place) == order.size());
      if (!order.empty())
        CHECK(match_before(searched.trace, searched.index, matches, place) == order.back());
      order.push_back(id);
      REQUIRE(order.size() <= expected.size());
    }
    CHECK(std::set<SpanId>(order.begin(), order.end()) == expected);
    CHECK(std::is_sorted(order.begin(), order.end(), [&](SpanId a, SpanId b) {
      return searched.trace.spans()[a].start < searched.trace.spans()[b].start;
    }));
  }
}

TEST_CASE("a fold knows how many of its spans were found") {
  Searched searched;
  fill(searched, 7);
  const Matches matches = find_matches(searched.trace, searched.index, "gemm", {});
  std::size_t most = 0;
  for (const LaneIndex& lane : searched.index.lanes)
    for (std::size_t row = 0; row < lane.rows.size(); ++row) {
      const auto& spans = lane.rows[row].spans;
      for (std::size_t first = 0; first < spans.size(); first += 3)
        for (std::size_t count = 1; first + count <= spans.size(); count += 4) {
          std::size_t plain = 0;
          for (std::size_t i = first; i < first + count; ++i)
            plain += searched.trace.name(searched.trace.spans()[spans[i]]) == "gemm";
          REQUIRE(matches.among(lane.lane, row, first, count) == plain);
          most = std::max(most, plain);
        }
    }
  CHECK(most > 1);
}

TEST_CASE("a search goes through A and B together by time, and from the last to the first") {
  Searched a, b;
  fill(a, 3);
  fill(b, 4);
  TimelineInput input;
  input.sides = {side_of(a), side_of(b)};
  input.sides[1].offset = 13;
  TimelineSearch search;
  search.open = true;
  search.words = "relu";
  refresh(search, input);
  REQUIRE(search.count() > 10);
  TimelineState state;
  state.view = {-100, 1000};
  CHECK(count_words(search, input, state) == std::to_string(search.count()) + " spans");
  std::set<std::pair<int, SpanId>> seen;
  Nanos last = -1000;
  for (std::size_t i = 0; i < search.count(); ++i) {
    const auto next = next_match(search, input, state, true);
    REQUIRE(next);
    const auto side = static_cast<std::size_t>(next->side);
    const Nanos time =
        input.sides[side].trace->spans()[next->span].start + input.sides[side].offset;
    CHECK(time >= last);
    last = time;
    CHECK(seen.emplace(static_cast<int>(side), next->span).second);
    const SpanRef before = state.selected;
    state.selected = *next;
    CHECK(count_words(search, input, state) ==
          std::to_string(i + 1) + " of " + std::to_string(search.count()));
    if (i > 0) CHECK(next_match(search, input, state, false) == before);
  }
  const auto again = next_match(search, input, state, true);
  REQUIRE(again);
  CHECK(seen.count({static_cast<int>(again->side), again->span}) == 1);
}
