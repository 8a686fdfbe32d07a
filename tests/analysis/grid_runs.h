// What tests of groups of ranks in a mesh ask of their runs: those of tensors and of pipelines.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/advice/proposals.h"
#include "analysis/runs/run.h"

namespace trainscope::test {

// Name, start and duration of every span: what two runs alike share.
inline std::vector<std::tuple<std::string, Nanos, Nanos>> spans_of(const analysis::Run& run) {
  std::vector<std::tuple<std::string, Nanos, Nanos>> all;
  trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    all.emplace_back(run.trace->name(span), span.start, span.duration);
  });
  return all;
}

// Of the proposals for a run: "tensor.degree=8".
inline std::vector<std::string> settings_of(const analysis::Run& run) {
  std::vector<std::string> all;
  for (const analysis::Proposal& one : analysis::proposals(run)) all.push_back(one.settings);
  return all;
}

inline bool is_among(const std::vector<std::string>& all, const char* one) {
  return std::ranges::find(all, one) != all.end();
}

}  // namespace trainscope::test
