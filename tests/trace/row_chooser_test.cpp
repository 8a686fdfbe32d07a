#include "trace/row_chooser.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <tuple>
#include <vector>

using namespace trainscope;
using namespace trainscope::trace::chrome;

namespace {

struct Span {
  Nanos start, end;
};

// The rule as it is said: each row is asked in turn.
std::vector<std::uint32_t> rows_in_turn(const std::vector<Span>& spans, bool nests) {
  std::vector<std::vector<Nanos>> rows;
  std::vector<std::uint32_t> result;
  const auto fits = [&](std::vector<Nanos>& open, const Span& span) {
    while (!open.empty() && open.back() <= span.start) open.pop_back();
    return open.empty() || (nests && span.end <= open.back());
  };
  for (const Span& span : spans) {
    const auto row = std::ranges::find_if(rows, [&](auto& open) { return fits(open, span); });
    result.push_back(static_cast<std::uint32_t>(row - rows.begin()));
    if (row == rows.end()) rows.emplace_back();
    rows[result.back()].push_back(span.end);
  }
  return result;
}

std::vector<std::uint32_t> chosen_rows(const std::vector<Span>& spans, bool nests) {
  RowChooser chooser(nests);
  std::vector<std::uint32_t> result;
  for (const Span& span : spans) result.push_back(chooser.put(span.start, span.end));
  return result;
}

}  // namespace

TEST_CASE("rows are chosen as if each were asked in turn") {
  std::mt19937 random(3);
  std::size_t most_rows = 0;
  for (int round = 0; round < 300; ++round) {
    const int count = static_cast<int>(random() % 200),
              longest = 1 + static_cast<int>(random() % 60);
    std::vector<Span> spans;
    for (int i = 0; i < count; ++i) {
      const Nanos start = static_cast<Nanos>(random() % 100);
      spans.push_back({start, start + static_cast<Nanos>(random() % longest)});  // some are empty
    }
    std::ranges::sort(spans, {}, [](const Span& s) { return std::tuple(s.start, -s.end); });
    for (const bool nests : {true, false}) {
      const std::vector<std::uint32_t> rows = chosen_rows(spans, nests);
      CHECK(rows == rows_in_turn(spans, nests));
      for (const std::uint32_t row : rows) most_rows = std::max<std::size_t>(most_rows, row);
    }
  }
  CHECK(most_rows > 64);  // the tree has grown several times
}

TEST_CASE("what nests shares a row, what overlaps does not, and a row is free again at its end") {
  const std::vector<Span> spans{{0, 10}, {2, 5}, {4, 8}, {10, 12}};
  CHECK(chosen_rows(spans, true) == std::vector<std::uint32_t>{0, 0, 1, 0});
  CHECK(chosen_rows(spans, false) == std::vector<std::uint32_t>{0, 1, 2, 0});
}
