// What a run does where one epoch ends and the next begins, as `for epoch in ...: for x, y in
// loader` does it.
#include <catch2/catch.hpp>

#include "training/training_run.h"

using namespace trainscope;
using test::Settings;
using test::TrainingRun;
using test::with;

namespace {

// Three batches an epoch of 10,000 samples, and two epochs.
const Settings kTwoEpochs{
    "data.name=digits",    "model.hidden=16",      "batch_size=3000",      "steps=6",
    "loop.evaluate=false", "loader.num_workers=2", "loader.sample_ms=0.01"};

std::vector<trace::Span> spans_named(const TrainingRun& run, const std::string& name) {
  const trace::Trace& trace = run.trace();
  std::vector<trace::Span> found;
  for (std::uint32_t i = 0, count = trace.spans().size(); i < count; ++i)
    if (trace.name(trace.spans()[i].name) == name) found.push_back(trace.spans()[i]);
  return found;
}

trace::Span span_named(const TrainingRun& run, const std::string& name) {
  const std::vector<trace::Span> found = spans_named(run, name);
  REQUIRE(found.size() == 1);
  return found.front();
}

}  // namespace

TEST_CASE("no batch is loaded before the epoch that it belongs to begins") {
  TrainingRun run(kTwoEpochs);
  run.finish();
  const Nanos second = span_named(run, "ProfilerStep#3").start;
  for (const char* name : {"load batch 3", "load batch 4", "load batch 5"}) {
    INFO(name);
    CHECK(span_named(run, name).start >= second);
  }
  CHECK(span_named(run, "load batch 2").start < second);
  // Each epoch's first batch is worker 0's.
  CHECK(span_named(run, "load batch 3").lane == span_named(run, "load batch 0").lane);
}

TEST_CASE("workers start anew with each epoch, unless they are persistent") {
  TrainingRun run(kTwoEpochs);
  run.finish();
  CHECK(spans_named(run, "start worker").size() == 4);
  TrainingRun kept(with(kTwoEpochs, {"loader.persistent_workers=true"}));
  kept.finish();
  CHECK(spans_named(kept, "start worker").size() == 2);
  CHECK(kept.metric("time.total") < run.metric("time.total"));
}

TEST_CASE("prefetching stops at an epoch's end, and trains on the same batches") {
  const Settings prefetching = with(kTwoEpochs, {"transfer.prefetch=true"});
  TrainingRun run(prefetching), plain(kTwoEpochs);
  CHECK(run.finish().losses() == plain.finish().losses());
  const Nanos last_begins = span_named(run, "ProfilerStep#2").start;
  const Nanos second = span_named(run, "ProfilerStep#3").start;
  const Nanos third = span_named(run, "ProfilerStep#4").start;
  int in_last = 0, in_first = 0;
  for (const trace::Span& call : spans_named(run, "next(loader)")) {
    in_last += call.start >= last_begins && call.start < second;
    in_first += call.start >= second && call.start < third;
  }
  CHECK(in_last == 0);
  CHECK(in_first == 2);
}
