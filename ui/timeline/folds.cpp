#include "ui/timeline/folds.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "ui/timeline/draw_index.h"

namespace trainscope::ui {
namespace {

// Rows of fewer spans are cut as they are drawn.
constexpr std::size_t kFewSpans = 4096;

// The spans of a row that start in one cell.
struct Cell {
  Nanos start = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  CategoryTimes times{};
};

// How many cells of this length hold the start of a span; counts no further than `limit`.
std::size_t count_cells(const std::vector<Nanos>& starts, Nanos cell, std::size_t limit) {
  std::size_t cells = 0;
  Nanos end = starts.front();
  for (const Nanos start : starts) {
    if (start < end) continue;
    end = cell_start(start, cell) + cell;
    if (++cells > limit) break;
  }
  return cells;
}

// The shortest cells of which few enough hold spans.
Nanos shortest_cell(const DrawRow& row) {
  const std::size_t limit = row.starts.size() / kSpansAFold;
  const auto extent = static_cast<std::uint64_t>(row.starts.back() - row.starts.front());
  auto cell = static_cast<Nanos>(std::bit_ceil(extent / limit + 1));
  while (cell > 1 && count_cells(row.starts, cell / 2, limit) <= limit) cell /= 2;
  return cell;
}

Nanos busy(const DrawRow& row, std::size_t at) {
  return row.ends[at] - row.starts[at] + 1;  // an instant counts as 1 ns
}

std::vector<Cell> first_cells(const DrawRow& row, Nanos length) {
  std::vector<Cell> cells;
  cells.reserve(row.starts.size() / kSpansAFold + 1);
  for (std::size_t at = 0; at < row.starts.size(); ++at) {
    if (cells.empty() || row.starts[at] >= cells.back().start + length)
      cells.push_back({cell_start(row.starts[at], length), static_cast<std::uint32_t>(at), 0, {}});
    ++cells.back().count;
    cells.back().times[static_cast<std::size_t>(row.categories[at])] += busy(row, at);
  }
  return cells;
}

// Cells of this length, from those half as long.
void join(std::vector<Cell>& cells, Nanos length) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Cell& from = cells[i];
    from.start = cell_start(from.start, length);
    if (i == 0) continue;
    Cell& to = cells[last];
    if (from.start != to.start) {
      cells[++last] = from;
      continue;
    }
    to.count += from.count;
    for (std::size_t kind = 0; kind < to.times.size(); ++kind) to.times[kind] += from.times[kind];
  }
  cells.resize(last + 1);
}

// A long span fills the rest of its cell: only the last one can be that.
FoldLevel level_of(const DrawRow& row, const std::vector<trace::SpanId>& spans,
                   const std::vector<Cell>& cells, Nanos length) {
  FoldLevel level{length, {}};
  level.folds.reserve(cells.size());
  for (const Cell& cell : cells) {
    const std::size_t last = cell.first + cell.count - 1;
    const bool is_long = row.ends[last] - row.starts[last] >= length;
    if (is_long && cell.count == 1) continue;
    CategoryTimes times = cell.times;
    if (is_long) times[static_cast<std::size_t>(row.categories[last])] -= busy(row, last);
    level.folds.push_back(make_fold(row, spans, cell.first, cell.count - (is_long ? 1 : 0), times));
  }
  return level;
}

// `part` of `whole` as parts of 255.
std::uint8_t parts_of(Nanos part, Nanos whole) {
  if (whole <= 0) return 255;
  return static_cast<std::uint8_t>(255 * static_cast<double>(part) / static_cast<double>(whole) +
                                   0.5);
}

Mixture mixture_of(const CategoryTimes& times, Nanos sum) {
  Nanos most[3] = {};
  Mixture mixture{};
  for (std::size_t kind = 0; kind < times.size(); ++kind) {
    Nanos time = times[kind];
    auto category = static_cast<trace::Category>(kind);
    for (std::size_t i = 0; i < mixture.size() && time > 0; ++i) {
      if (time <= most[i]) continue;
      std::swap(time, most[i]);
      std::swap(category, mixture[i].category);
    }
  }
  for (std::size_t i = 0; i < mixture.size() && sum > 0; ++i)
    mixture[i].parts = parts_of(most[i], sum);
  return mixture;
}

}  // namespace

Fold make_fold(const DrawRow& row, const std::vector<trace::SpanId>& spans, std::size_t first,
               std::size_t count, const CategoryTimes& times) {
  Fold fold{row.starts[first],
            row.ends[first + count - 1],
            static_cast<std::uint32_t>(first),
            static_cast<std::uint32_t>(count),
            spans[first],
            {}};
  const Nanos sum = std::accumulate(times.begin(), times.end(), Nanos{0});
  fold.mixture = mixture_of(times, sum);
  fold.busy = parts_of(std::min(sum, fold.end - fold.start), fold.end - fold.start);
  return fold;
}

std::vector<FoldLevel> fold_levels(const DrawRow& row, const std::vector<trace::SpanId>& spans) {
  std::vector<FoldLevel> levels;
  if (row.starts.size() < kFewSpans) return levels;
  Nanos length = shortest_cell(row);
  std::vector<Cell> cells = first_cells(row, length);
  levels.push_back(level_of(row, spans, cells, length));
  while (cells.size() > 1 && length <= row.starts.back() - row.starts.front()) {
    length *= 2;
    join(cells, length);
    levels.push_back(level_of(row, spans, cells, length));
  }
  return levels;
}

}  // namespace trainscope::ui
