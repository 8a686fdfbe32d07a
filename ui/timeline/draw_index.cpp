#include "ui/timeline/draw_index.h"

#include <algorithm>

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
  return out;
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
  for (std::size_t lane = 0; lane < counters.size(); ++lane)
    if (!counters[lane].samples.empty() && trace.lanes()[lane].name.ends_with('%'))
      counters[lane].most = std::max(counters[lane].most, 100.0);
  for (Counter& counter : counters)
    std::stable_sort(counter.samples.begin(), counter.samples.end(), [&](auto a, auto b) {
      return trace.samples()[a].time < trace.samples()[b].time;
    });
  return counters;
}

}  // namespace

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
