#include "ui/timeline/draw_index.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"
#include "base/parallel.h"

namespace trainscope::ui {
namespace {

template <typename T>
void make_room(std::vector<T>& list, std::size_t size) {
  list.reserve(size);
  expect_to_fill(list.data(), size * sizeof(T));
}

DrawRow draw_row(const trace::Trace& trace, const trace::Row& row) {
  DrawRow out;
  const std::size_t size = row.spans.size();
  make_room(out.starts, size);
  make_room(out.ends, size);
  make_room(out.categories, size);
  make_room(out.times, size / DrawRow::kTimesBlock + 1);
  make_room(out.block_starts, size / DrawRow::kBlock + 1);
  CategoryTimes so_far{};
  for (std::size_t at = 0; at < size; ++at) {
    const trace::Span& span = trace.spans()[row.spans[at]];
    if (at % DrawRow::kBlock == 0) out.block_starts.push_back(span.start);
    if (at % DrawRow::kTimesBlock == 0) out.times.push_back(so_far);
    out.starts.push_back(span.start);
    out.ends.push_back(span.end());
    out.categories.push_back(span.category);
    so_far[static_cast<std::size_t>(span.category)] += span.duration + 1;
  }
  if (size % DrawRow::kTimesBlock == 0) out.times.push_back(so_far);
  out.levels = fold_levels(out, row.spans);
  return out;
}

// The next of a counter's samples in order of time.
void add_to_blocks(Counter& counter, std::size_t at, const trace::Sample& sample) {
  std::size_t block = Counter::kBlock;
  for (std::vector<Peak>& level : counter.peaks) {
    if (at % block == 0)
      level.push_back({sample.time, sample.value});
    else
      level.back().value = std::max(level.back().value, sample.value);
    block *= Counter::kStep;
  }
}

// Rare: almost always samples were written in order.
void sort_samples(const trace::Trace& trace, Counter& counter) {
  std::stable_sort(counter.samples.begin(), counter.samples.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     return trace.samples()[a].time < trace.samples()[b].time;
                   });
  for (std::vector<Peak>& level : counter.peaks) level.clear();
  for (std::size_t at = 0; at < counter.samples.size(); ++at)
    add_to_blocks(counter, at, trace.samples()[counter.samples[at]]);
}

// Counters with room for as many samples as each has among the first `count`.
std::vector<Counter> empty_counters(const trace::Trace& trace, std::uint32_t count) {
  std::vector<Counter> counters(trace.lanes().size());
  std::vector<std::size_t> sizes(counters.size());
  trace::for_each(trace.samples(), [&](const trace::Sample& sample, std::uint32_t i) {
    if (i < count && sample.lane < sizes.size()) ++sizes[sample.lane];
  });
  for (std::size_t lane = 0; lane < counters.size(); ++lane) {
    make_room(counters[lane].samples, sizes[lane]);
    for (std::size_t block = Counter::kBlock; block <= sizes[lane]; block *= Counter::kStep)
      make_room(counters[lane].peaks.emplace_back(), sizes[lane] / block + 1);
  }
  return counters;
}

std::vector<Counter> counters_of(const trace::Trace& trace) {
  const std::uint32_t count = trace.samples().size();
  std::vector<Counter> counters = empty_counters(trace, count);
  std::vector<Nanos> last(counters.size());
  std::vector<bool> ordered(counters.size(), true);
  trace::for_each(trace.samples(), [&](const trace::Sample& sample, std::uint32_t i) {
    if (i >= count || sample.lane >= counters.size()) return;
    Counter& counter = counters[sample.lane];
    const std::size_t at = counter.samples.size();
    if (at > 0 && sample.time < last[sample.lane]) ordered[sample.lane] = false;
    last[sample.lane] = sample.time;
    counter.most = at == 0 ? sample.value : std::max(counter.most, sample.value);
    counter.least = std::min(counter.least, sample.value);
    add_to_blocks(counter, at, sample);
    counter.samples.push_back(i);
  });
  for (trace::LaneId lane = 0; lane < counters.size(); ++lane) {
    Counter& counter = counters[lane];
    if (!ordered[lane]) sort_samples(trace, counter);
  }
  return counters;
}

std::vector<bool> launching_lanes(const trace::Trace& trace, std::uint32_t spans) {
  std::vector<bool> launches(trace.lanes().size());
  for (std::uint32_t i = 0, n = trace.flows().size(); i < n; ++i) {
    const trace::Flow& flow = trace.flows()[i];
    if (flow.kind != trace::FlowKind::kLaunch || flow.from >= spans) continue;
    if (const trace::LaneId lane = trace.spans()[flow.from].lane; lane < launches.size())
      launches[lane] = true;
  }
  return launches;
}

}  // namespace

CategoryTimes times_of(const DrawRow& row, std::size_t first, std::size_t count) {
  CategoryTimes sums{};
  const auto take = [&](std::size_t from, std::size_t to) {
    for (std::size_t at = from; at < to; ++at)
      sums[static_cast<std::size_t>(row.categories[at])] += row.ends[at] - row.starts[at] + 1;
  };
  constexpr std::size_t kBlock = DrawRow::kTimesBlock;
  const std::size_t end = first + count, from = (first + kBlock - 1) / kBlock, to = end / kBlock;
  if (from >= to) {
    take(first, end);
    return sums;
  }
  for (std::size_t kind = 0; kind < sums.size(); ++kind)
    sums[kind] = row.times[to][kind] - row.times[from][kind];
  take(first, from * kBlock);
  take(to * kBlock, end);
  return sums;
}

Fold fold_of(const DrawRow& row, const std::vector<trace::SpanId>& spans, std::size_t first,
             std::size_t count) {
  return make_fold(row, spans, first, count, times_of(row, first, count));
}

DrawIndex build_draw_index(const trace::Trace& trace, const trace::TraceIndex& index) {
  DrawIndex draw;
  draw.rows.resize(index.lanes.size());
  std::vector<std::pair<const trace::Row*, DrawRow*>> rows;
  for (std::size_t lane = 0; lane < index.lanes.size(); ++lane) {
    draw.rows[lane].resize(index.lanes[lane].rows.size());
    for (std::size_t row = 0; row < draw.rows[lane].size(); ++row)
      rows.emplace_back(&index.lanes[lane].rows[row], &draw.rows[lane][row]);
  }
  // The counters and the longest rows first: what is left at the end is short.
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const auto& row) { return row.first->spans.size(); });
  const auto make = [&](std::size_t i) {
    if (i == 0)
      draw.counters = counters_of(trace);
    else
      *rows[i - 1].second = draw_row(trace, *rows[i - 1].first);
  };
  in_parallel(rows.size() + 1, make, index.span_count >= kWorthThreads);
  draw.launches = launching_lanes(trace, index.span_count);
  return draw;
}

}  // namespace trainscope::ui
