#include "analysis/views/operation_spans.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/runs/run.h"
#include "analysis/steps/intervals.h"
#include "analysis/views/operations.h"
#include "base/files.h"
#include "support/made_trace.h"
#include "support/skip.h"
#include "support/traces.h"
#include "trace/chrome_reader.h"

using namespace trainscope;
using namespace trainscope::analysis;
using trace::Category;

namespace {

// A host's thread and a stream.
struct Made : test::MadeTrace {
  explicit Made(trace::OriginKind kind) : MadeTrace(kind) {}
  trace::LaneId host = lane(trace::LaneKind::kHostThread), stream = lane(trace::LaneKind::kStream);

  trace::SpanId call(Nanos start, Nanos end, Category category, std::uint32_t correlation = 0) {
    return add(host, "one", start, end, category, correlation);
  }
  trace::SpanId kernel(Nanos start, Nanos end, std::uint32_t correlation) {
    return add(stream, "one", start, end, Category::kKernel, correlation);
  }
  std::vector<CallUse> uses() const {
    Measured measured;
    measured.trace = &trace;
    return call_uses(measured, OperationSpans(measured));
  }
};

constexpr auto kSimulated = trace::OriginKind::kSimulated;
constexpr auto kImported = trace::OriginKind::kImported;

}  // namespace

TEST_CASE("kernels that a call launches are told from its copies") {
  Made made(kImported);
  const auto both = made.call(0, 100, Category::kHostWork);
  made.call(10, 20, Category::kHostApi, 1);
  made.call(30, 40, Category::kHostApi, 2);
  made.kernel(60, 160, 1);
  made.add(made.stream, "copy", 160, 210, Category::kCopyH2D, 2);
  const auto uses = made.uses();
  CHECK(uses[both].self_gpu == 150);
  CHECK(uses[both].self_kernels == 100);
}

TEST_CASE("what autograd's thread does is no time of the thread that waits for it") {
  Made made(kImported);
  const auto autograd = made.lane(trace::LaneKind::kHostThread);
  const auto wait =
      made.add(made.host, "<built-in method run_backward of torch._C._EngineBase object at 0x7f>",
               0, 100, Category::kHostWork);
  const auto first = made.add(autograd, "evaluate_function", 10, 40, Category::kHostWork);
  made.add(autograd, "cudaLaunchKernel", 20, 30, Category::kHostApi, 1);
  made.add(autograd, "evaluate_function", 60, 90, Category::kHostWork);
  made.kernel(50, 150, 1);
  const auto uses = made.uses();
  CHECK(uses[wait].self == 10 + 10);
  CHECK(uses[first].self == 20);
}

TEST_CASE("a call's own time is without the calls within it, its GPU time with theirs") {
  Made made(kSimulated);
  const auto launch = made.call(10, 20, Category::kHostApi, 1);  // not in the order of their starts
  const auto outer = made.call(0, 100, Category::kHostWork);
  const auto inner = made.call(30, 70, Category::kHostWork);
  const auto inner_launch = made.call(40, 50, Category::kHostApi, 2);
  const auto after = made.call(100, 130, Category::kHostWork);
  const auto kernel = made.kernel(60, 360, 1);
  made.kernel(360, 400, 2);
  made.kernel(400, 410, 2);  // of a graph, say
  const auto uses = made.uses();
  CHECK(uses[outer].self == 100 - 10 - 40);
  CHECK(uses[outer].gpu == 350);
  CHECK(uses[inner].self == 30);
  CHECK(uses[inner].gpu == 50);
  CHECK(uses[outer].self_gpu == 300);
  CHECK(uses[inner].self_gpu == 50);
  CHECK(uses[launch].self_gpu == 0);
  CHECK(uses[launch].self == 10);
  CHECK(uses[launch].gpu == 300);
  CHECK(uses[inner_launch].gpu == 50);
  CHECK(uses[after].self == 30);
  CHECK(uses[after].gpu == 0);
  CHECK(uses[kernel].self == 0);
  CHECK(uses[kernel].gpu == 0);
}

TEST_CASE("marks take no time from the calls around them, and waits only where they are calls") {
  for (const auto kind : {kSimulated, kImported}) {
    Made made(kind);
    const auto outer = made.call(0, 100, Category::kHostWork);
    made.call(10, 90, Category::kAnnotation);
    const auto copy = made.call(20, 60, Category::kHostApi, 3);
    const auto wait = made.call(30, 60, Category::kHeld, 3);
    made.kernel(40, 55, 3);
    const auto uses = made.uses();
    CHECK(uses[outer].self == 60);
    CHECK(uses[outer].gpu == 15);  // once, though two of its calls are joined to the kernel
    CHECK(uses[copy].self == (kind == kImported ? 10 : 40));
    CHECK(uses[copy].gpu == 15);
    CHECK(uses[wait].self == (kind == kImported ? 30 : 0));
    CHECK(uses[wait].gpu == 0);
    CHECK(uses[copy].held == (kind == kImported ? 0 : 30));
  }
}

TEST_CASE("a call that waits is one, under its own name, whoever wrote the trace") {
  for (const auto kind : {kSimulated, kImported}) {
    Made made(kind);
    const auto sync = made.add(made.host, "cudaDeviceSynchronize", 10, 90, Category::kHeld);
    const auto copy = made.call(100, 160, Category::kHostApi);
    made.add(made.host, "held: staging", 120, 150, Category::kHeld);
    const auto uses = made.uses();
    CHECK(uses[sync].self == 80);
    CHECK(uses[sync].held == 0);
    CHECK(uses[copy].self == (kind == kImported ? 30 : 60));
  }
}

TEST_CASE("calls that overlap share no time, and what is launched after one is not its own") {
  Made made(kImported);
  const auto first = made.call(0, 50, Category::kHostWork);
  const auto within = made.call(10, 30, Category::kHostWork);
  const auto across = made.call(20, 45, Category::kHostWork);
  const auto last = made.call(48, 70, Category::kHostWork);
  const auto launch = made.call(55, 60, Category::kHostApi, 1);
  made.kernel(60, 160, 1);
  const auto uses = made.uses();
  CHECK(uses[first].self == 10 + 3);
  CHECK(uses[within].self == 10);
  CHECK(uses[across].self == 25);
  CHECK(uses[last].self == 17);
  CHECK(uses[launch].self == 5);
  CHECK(uses[first].gpu == 0);
  CHECK(uses[last].gpu == 100);
}

TEST_CASE("of each thread the calls' own times are what it is at work, and no kernel is lost") {
  for (const char* profile : {"pytorch-eager", "native"}) {
    program::Config config;
    for (const char* word : {"workload=train", "steps=4", "model.name=cnn", "loader.num_workers=2"})
      config.set_text(word);
    config.set_text(std::string("host.profile=") + profile);
    const Run run = run_config("A", config);
    const Measured& measured = run.facts.measured;
    const OperationSpans spans(measured);
    const auto uses = call_uses(measured, spans);
    std::map<trace::LaneId, std::pair<Nanos, std::vector<Interval>>> threads;
    Nanos outermost = 0, launched = 0;
    trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId id) {
      if (spans.is_gpu_work(span) && span.correlation != 0) launched += span.duration;
      if (!spans.is_host_call(span)) return;
      CHECK(uses[id].self >= 0);
      CHECK(uses[id].self <= span.duration);
      auto& [self, intervals] = threads[span.lane];
      self += uses[id].self;
      intervals.push_back({span.start, span.end()});
      if (span.category == Category::kHostApi) outermost += uses[id].gpu;
    });
    REQUIRE(threads.size() > 1);
    for (const auto& [lane, thread] : threads)
      CHECK(thread.first == IntervalSet(thread.second).length());
    CHECK(launched > 0);
    CHECK(outermost == launched);
  }
}

// What another walk over the file's own events counts: tests/golden/imported.py.
TEST_CASE("operators of a real trace take themselves and on the GPU what a plain walk says") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  std::ifstream file(home_folder() / "tests" / "golden" / "imported.json");
  const auto golden = nlohmann::json::parse(file).at("ddp-a100-2ranks").at("calls");
  REQUIRE(golden.size() >= 5);
  const auto trace =
      trace::read_chrome_trace(test::real_traces_folder() / "ddp-a100-2ranks.json.gz");
  Measured measured;
  measured.trace = trace.get();
  measured.window = {0, trace->end() + 1};
  const std::vector<Operation> all = operations(measured);
  for (const auto& [name, figures] : golden.items()) {
    INFO(name);
    const auto found = std::ranges::find(all, name, &Operation::name);
    REQUIRE(found != all.end());
    CHECK(found->durations.size() == figures.at("count").get<std::size_t>());
    const auto close = [](Nanos own, const nlohmann::json& theirs, double share) {
      return static_cast<double>(own) == Approx(theirs.get<double>()).epsilon(share);
    };
    CHECK(close(found->total, figures.at("total"), 1e-5));
    CHECK(close(found->self, figures.at("self"), 1e-3));
    CHECK(close(found->gpu, figures.at("gpu"), 1e-5));
  }
}
