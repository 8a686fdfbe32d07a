#include <memory>

#include "base/error.h"
#include "fuzz/after.h"
#include "fuzz/targets.h"
#include "trace/chrome_reader.h"
#include "trace/merge.h"

namespace {

using trainscope::trace::Trace;

// Another rank of whatever job it is.
std::unique_ptr<Trace> other_rank() {
  return trainscope::trace::read_chrome_trace("other.json", R"({"baseTimeNanoseconds": 1000,
      "traceEvents": [{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0,
      "tid": 7, "ts": 5, "dur": 9, "args": {"Collective name": "allreduce"}}]})");
}

void merge_with(const Trace& trace) {
  const auto other = other_rank();
  trainscope::trace::Merging merging;
  merging.further = {0, 1};
  for (const Trace* second : {&trace, static_cast<const Trace*>(other.get())}) {
    const auto merged = trainscope::trace::merge_ranks({&trace, second}, merging);
    trainscope::fuzz::promise(
        merged->spans().size() >= trace.spans().size() + second->spans().size(),
        "ranks that are merged keep all their spans");
  }
  trainscope::trace::merge_ranks({other.get(), &trace}, merging);
}

}  // namespace

void trainscope::fuzz::trace(std::string_view bytes) {
  trace::ReadOptions options;
  options.max_bytes = 1 << 20;
  auto run = std::make_shared<analysis::Run>();
  try {
    run->trace = trace::read_chrome_trace("fuzz.json", bytes, options);
  } catch (const Error& error) {
    return check_sentence(error.what());
  }
  merge_with(*run->trace);
  run->label += 'A';
  analysis::analyse(*run);
  analysis::SavedRuns saved;
  saved.runs = {run};
  use(saved);
}
