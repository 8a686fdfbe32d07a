// A run as words, to be compared with another.
#pragma once

#include <string>
#include <vector>

#include "analysis/runs/run.h"

namespace trainscope::test {

// All that a run shows, as words.
inline std::vector<std::string> shown(const program::Config& config) {
  const analysis::Run run = analysis::run_config("A", config);
  std::vector<std::string> words;
  for (trace::LaneId id = 0; id < run.trace->lanes().size(); ++id)
    words.push_back(run.trace->lanes()[id].name);
  for (trace::SpanId id = 0; id < run.trace->spans().size(); ++id) {
    const trace::Span& span = run.trace->spans()[id];
    words.push_back(std::string(run.trace->name(span)) + " " + std::to_string(span.lane) + " " +
                    std::to_string(span.start) + " " + std::to_string(span.duration));
  }
  for (std::uint32_t id = 0; id < run.trace->samples().size(); ++id) {
    const trace::Sample& sample = run.trace->samples()[id];
    words.push_back(std::to_string(sample.lane) + " " + std::to_string(sample.time) + " " +
                    std::to_string(sample.value));
  }
  for (const analysis::MetricValue& one : run.metrics)
    words.push_back(one.metric->name + " " + std::to_string(one.value));
  return words;
}

}  // namespace trainscope::test
