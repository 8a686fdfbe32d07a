// Steps of a profiler's traces whose GPU was behind its host, or had nothing to do, as it began.
#include "analysis/steps/launched_work.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "analysis/advice/what_if.h"
#include "analysis/caveats/step_caveat.h"
#include "analysis/runs/run.h"
#include "analysis/steps/measured.h"
#include "analysis/steps/step_facts.h"
#include "support/made_trace.h"

using namespace trainscope;
using test::MadeTrace;
using trace::Category;
using trace::LaneKind;

namespace {

// A host that launches the kernels of its steps, and a GPU that takes them one after another.
class Recorded {
 public:
  Recorded()
      : made_(trace::OriginKind::kImported),
        marks_(made_.lane(LaneKind::kSteps)),
        thread_(made_.lane(LaneKind::kHostThread)),
        stream_(made_.lane(LaneKind::kStream, 0)) {}

  // Launched before the profiler began to record, or after it ended.
  void run_unrecorded(const char* name, Nanos duration) {
    made_.add(stream_, name, gpu_, gpu_ + duration, Category::kKernel, ++correlation_);
    gpu_ += duration;
  }
  // Its mark, in which the host first loads for `loads`, then launches and is busy until `length`.
  void step(Nanos loads, Nanos length, const std::vector<Nanos>& kernels) {
    const Nanos start = host_;
    made_.add(marks_, "ProfilerStep#3", start, start + length, Category::kAnnotation);
    if (loads > 0) made_.add(thread_, "enumerate", start, start + loads, Category::kLoader);
    host_ += loads;
    for (const Nanos duration : kernels) {
      ++correlation_;
      made_.add(thread_, "cudaLaunchKernel", host_, host_ + 1, Category::kHostApi, correlation_);
      gpu_ = std::max(gpu_, host_ + 1);
      made_.add(stream_, "gemm", gpu_, gpu_ + duration, Category::kKernel, correlation_);
      host_ += 1;
      gpu_ += duration;
    }
    host_ = start + length;
  }
  const trace::Trace& trace() const { return made_.trace; }
  analysis::Measured measured() const { return analysis::measure(made_.trace, nullptr, nullptr); }

 private:
  MadeTrace made_;
  trace::LaneId marks_, thread_, stream_;
  Nanos host_ = 0, gpu_ = 0;
  std::uint32_t correlation_ = 0;
};

Nanos step_of(const analysis::Measured& measured) {
  return (measured.window.end - measured.window.start) / measured.per();
}

}  // namespace

TEST_CASE("steps of a GPU that lags behind its host take as long however many are recorded") {
  for (const int steps : {2, 5, 10}) {
    Recorded recorded;
    for (int i = 0; i < 4; ++i) recorded.run_unrecorded("gemm", 5000);
    for (int i = 0; i < steps; ++i) recorded.step(0, 10'000, {5000, 5000});
    CAPTURE(steps);
    const analysis::Measured measured = recorded.measured();
    CHECK(measured.steps == steps);
    CHECK(step_of(measured) == 10'000);
    CHECK(measured.window.start == 20'000);
    CHECK(measured.kernels.length() == steps * 10'000);
    for (const analysis::StepWindow& step : analysis::step_windows(recorded.trace()))
      CHECK(step.window.end - step.window.start == 10'000);
  }
}

TEST_CASE("work that is launched behind the last step does not hide that of earlier ones") {
  Recorded recorded;
  for (int i = 0; i < 4; ++i) recorded.run_unrecorded("gemm", 5000);
  for (int i = 0; i < 3; ++i) recorded.step(0, 10'000, {5000, 5000});
  recorded.run_unrecorded("gemm", 5000);
  const analysis::Measured measured = recorded.measured();
  CHECK(measured.window.start == 20'000);
  CHECK(measured.window.end == 50'000);
}

TEST_CASE("how many kernels were launched before the recording is said") {
  Recorded one, several, none;
  one.run_unrecorded("gemm", 5000);
  for (int i = 0; i < 7; ++i) several.run_unrecorded("gemm", 5000);
  for (Recorded* recorded : {&one, &several, &none}) recorded->step(0, 10'000, {9000});
  CHECK(analysis::step_caveat(one.measured()).starts_with("1 kernel at its beginning"));
  CHECK(analysis::step_caveat(several.measured()).starts_with("7 kernels at its beginning"));
  CHECK(analysis::step_caveat(none.measured()).empty());
}

TEST_CASE("kernels whose calls are never recorded are of the steps that they are in") {
  MadeTrace made(trace::OriginKind::kImported);
  const auto marks = made.lane(LaneKind::kSteps), thread = made.lane(LaneKind::kHostThread),
             stream = made.lane(LaneKind::kStream, 0);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Nanos start = 1000 * i;
    made.add(marks, "ProfilerStep#3", start, start + 1000, Category::kAnnotation);
    made.add(stream, "triton_poi", start + 100, start + 400, Category::kKernel, 100 + i);
    made.add(thread, "cudaLaunchKernel", start + 10, start + 20, Category::kHostApi, 1 + i);
    made.add(stream, "gemm", start + 400, start + 900, Category::kKernel, 1 + i);
  }
  CHECK(analysis::LaunchedWork(made.trace, {0}).of(0).earlier().empty());
  CHECK(analysis::measure(made.trace, nullptr, nullptr).window.start == 0);
}

TEST_CASE("a first step that begins with an idle GPU is left out where the others do not") {
  Recorded recorded;  // the loader's 30 us are hidden under the GPU's 40
  for (int i = 0; i < 5; ++i) recorded.step(30'000, 30'010, {20'000, 20'000});
  const analysis::Measured measured = recorded.measured();
  CHECK(measured.first_step == 1);
  CHECK(measured.steps == 4);
  CHECK(step_of(measured) == 40'000);
  CHECK(analysis::step_caveat(measured).starts_with("The first step is left out"));
}

TEST_CASE("a first step is measured where all begin with an idle GPU, or hardly differ, or two") {
  Recorded idle, alike, two;
  for (int i = 0; i < 5; ++i) idle.step(30'000, 80'000, {20'000, 20'000});
  for (int i = 0; i < 5; ++i) alike.step(2'000, 2'010, {20'000, 20'000});
  for (int i = 0; i < 2; ++i) two.step(30'000, 30'010, {20'000, 20'000});
  for (const Recorded* recorded : {&idle, &alike, &two}) {
    CHECK(recorded->measured().first_step == 0);
    CHECK(analysis::step_caveat(recorded->measured()).empty());
  }
}
