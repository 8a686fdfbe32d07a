#include "ui/timeline/draw_index.h"

#include <algorithm>
#include <utility>

namespace trainscope::ui {
namespace {

DrawRow draw_row(const trace::Trace& trace, const trace::Row& row) {
  DrawRow out;
  out.starts.reserve(row.spans.size());
  out.ends.reserve(row.spans.size());
  out.categories.reserve(row.spans.size());
  for (const trace::SpanId id : row.spans) {
    const trace::Span& span = trace.spans()[id];
    out.starts.push_back(span.start);
    out.ends.push_back(span.end());
    out.categories.push_back(span.category);
  }
  out.times.reserve(row.spans.size() / DrawRow::kBlock + 1);
  CategoryTimes so_far{};
  for (std::size_t at = 0; at <= out.starts.size(); ++at) {
    if (at % DrawRow::kBlock == 0) out.times.push_back(so_far);
    if (at == out.starts.size()) break;
    so_far[static_cast<std::size_t>(out.categories[at])] += out.ends[at] - out.starts[at] + 1;
  }
  return out;
}

void add_blocks(const trace::Trace& trace, Counter& counter) {
  const auto& samples = counter.samples;
  for (std::size_t at = 0; at < samples.size(); ++at) {
    const trace::Sample& sample = trace.samples()[samples[at]];
    if (at % Counter::kBlock == 0) {
      counter.times.push_back(sample.time);
      counter.peaks.push_back(sample.value);
    } else {
      counter.peaks.back() = std::max(counter.peaks.back(), sample.value);
    }
  }
}

std::vector<Counter> counters_of(const trace::Trace& trace) {
  std::vector<Counter> counters(trace.lanes().size());
  for (std::uint32_t i = 0, count = trace.samples().size(); i < count; ++i) {
    const trace::Sample& sample = trace.samples()[i];
    if (sample.lane >= counters.size()) continue;
    Counter& counter = counters[sample.lane];
    counter.most = counter.samples.empty() ? sample.value : std::max(counter.most, sample.value);
    counter.least = std::min(counter.least, sample.value);
    counter.samples.push_back(i);
  }
  // Shares are of 100, whatever they reached.
  for (trace::LaneId lane = 0; lane < trace.lanes().size(); ++lane)
    if (!counters[lane].samples.empty() && trace.lanes()[lane].name.ends_with('%'))
      counters[lane].most = std::max(counters[lane].most, 100.0);
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
    return trace.samples()[a].time < trace.samples()[b].time;
  };
  for (Counter& counter : counters) {
    auto& samples = counter.samples;
    // Almost always they were written in order.
    if (!std::is_sorted(samples.begin(), samples.end(), earlier))
      std::stable_sort(samples.begin(), samples.end(), earlier);
    add_blocks(trace, counter);
  }
  return counters;
}

}  // namespace

CategoryTimes times_of(const DrawRow& row, std::size_t first, std::size_t count) {
  CategoryTimes sums{};
  const auto take = [&](std::size_t from, std::size_t to) {
    for (std::size_t at = from; at < to; ++at)
      sums[static_cast<std::size_t>(row.categories[at])] += row.ends[at] - row.starts[at] + 1;
  };
  const std::size_t end = first + count;
  const std::size_t from = (first + DrawRow::kBlock - 1) / DrawRow::kBlock;
  const std::size_t to = end / DrawRow::kBlock;
  if (from >= to) {
    take(first, end);
    return sums;
  }
  for (std::size_t kind = 0; kind < sums.size(); ++kind)
    sums[kind] = row.times[to][kind] - row.times[from][kind];
  take(first, from * DrawRow::kBlock);
  take(to * DrawRow::kBlock, end);
  return sums;
}

namespace {

// What a colour needs, for thousands of folds a frame: of many spans the whole blocks among them,
// of some a few runs of neighbours, which lie together in memory.
CategoryTimes estimated_times(const DrawRow& row, std::size_t first, std::size_t count) {
  constexpr std::size_t kRuns = 4, kRun = 4;
  const std::size_t from = (first + DrawRow::kBlock - 1) / DrawRow::kBlock;
  const std::size_t to = (first + count) / DrawRow::kBlock;
  CategoryTimes sums{};
  if (from < to) {
    for (std::size_t kind = 0; kind < sums.size(); ++kind)
      sums[kind] = row.times[to][kind] - row.times[from][kind];
    return sums;
  }
  const auto take = [&](std::size_t begin, std::size_t taken) {
    for (std::size_t at = begin; at < begin + taken; ++at)
      sums[static_cast<std::size_t>(row.categories[at])] += row.ends[at] - row.starts[at] + 1;
  };
  if (count <= kRuns * kRun) {
    take(first, count);
  } else {
    for (std::size_t i = 0; i < kRuns; ++i) take(first + i * (count - kRun) / (kRuns - 1), kRun);
  }
  return sums;
}

}  // namespace

std::array<CategoryShare, 3> mixture_of(const DrawRow& row, std::size_t first, std::size_t count) {
  const CategoryTimes times = estimated_times(row, first, count);
  Nanos sum = 0, most[3] = {};
  std::array<CategoryShare, 3> mixture{};
  for (std::size_t kind = 0; kind < times.size(); ++kind) {
    Nanos time = times[kind];
    if (time == 0) continue;
    sum += time;
    auto category = static_cast<trace::Category>(kind);
    for (std::size_t i = 0; i < mixture.size(); ++i) {
      if (time <= most[i]) continue;
      std::swap(time, most[i]);
      std::swap(category, mixture[i].category);
    }
  }
  for (std::size_t i = 0; i < mixture.size(); ++i)
    mixture[i].share = static_cast<float>(static_cast<double>(most[i]) /
                                          static_cast<double>(std::max<Nanos>(sum, 1)));
  return mixture;
}

DrawIndex build_draw_index(const trace::Trace& trace, const trace::TraceIndex& index) {
  DrawIndex draw;
  draw.rows.resize(index.lanes.size());
  for (std::size_t lane = 0; lane < index.lanes.size(); ++lane)
    for (const trace::Row& row : index.lanes[lane].rows)
      draw.rows[lane].push_back(draw_row(trace, row));
  draw.counters = counters_of(trace);
  return draw;
}

}  // namespace trainscope::ui
