// What is found in a profiler's traces of loops that are known to copy, or to wait, too much.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "analysis/advice/what_if.h"
#include "analysis/causes/diagnosis.h"
#include "support/made_trace.h"

using namespace trainscope;
using analysis::Finding;
using analysis::Part;
using analysis::Run;
using trace::Category;
using trace::LaneKind;

namespace {

// A training loop on one stream, whose kernels take 40 ms a step. Times are in microseconds.
class Loop {
 public:
  void begin_step() { begun_ = host_; }
  void end_step() { add(marks_, "ProfilerStep#3", begun_, host_, Category::kAnnotation, 0); }

  // The host is held until the copy is done; where it is not, it goes on.
  void copy(Category direction, trace::Memory from, trace::Memory to, Nanos time, bool holds) {
    trace::Span work = span(stream_, "Memcpy", std::max(host_ + 10, gpu_ + 1), time, direction);
    trace::CopyDetail detail;
    detail.bytes = direction == Category::kCopyH2D ? time * 6000 : 4;  // 6 GB/s
    detail.from = from;
    detail.to = to;
    work.detail = trace().add_detail(detail);
    work.correlation = ++correlation_;
    gpu_ = (work.end() + 999) / 1000;
    trace::Span call = span(thread_, "cudaMemcpyAsync", host_, holds ? gpu_ + 4 - host_ : 6,
                            holds ? Category::kHeld : Category::kHostApi);
    call.cause = holds ? trace::Cause::kStaging : trace::Cause::kNothing;
    call.correlation = correlation_;
    const trace::SpanId id = trace().add_span(call);
    work.cause = trace::Cause::kLaunch;
    work.cause_span = id;
    trace().add_span(work);
    host_ = (call.end() + 999) / 1000;
  }
  void run_kernels() {
    for (int i = 0; i < 40; ++i) {
      const trace::SpanId call =
          add(thread_, "cudaLaunchKernel", host_, host_ + 10, Category::kHostApi, ++correlation_);
      trace::Span kernel =
          span(stream_, "gemm", std::max(host_ + 13, gpu_ + 1), 1000, Category::kKernel);
      kernel.correlation = correlation_;
      kernel.cause = trace::Cause::kLaunch;
      kernel.cause_span = call;
      trace().add_span(kernel);
      gpu_ = kernel.end() / 1000;
      host_ += 10;
    }
  }
  void synchronise() {
    add(thread_, "cudaStreamSynchronize", host_, gpu_ + 4, Category::kHeld, 0);
    host_ = gpu_ + 4;
  }
  void rest(Nanos time) { host_ += time; }

  // With an operator, so that it is known what the host did.
  Run run() {
    add(thread_, "aten::mm", 1, 2, Category::kHostWork, 0);
    return only_calls();
  }
  Run only_calls() {
    Run run;
    run.label = "A";
    run.trace = std::shared_ptr<const trace::Trace>(made_, &made_->trace);
    analysis::analyse(run);
    return run;
  }

 private:
  trace::Trace& trace() { return made_->trace; }
  trace::SpanId add(trace::LaneId lane, const char* name, Nanos start, Nanos end, Category category,
                    std::uint32_t correlation) {
    return made_->add(lane, name, start * kMicrosecond, end * kMicrosecond, category, correlation);
  }
  trace::Span span(trace::LaneId lane, const char* name, Nanos start, Nanos time,
                   Category category) {
    trace::Span one;
    one.lane = lane;
    one.name = trace().intern(name);
    one.start = start * kMicrosecond;
    one.duration = time * kMicrosecond;
    one.category = category;
    return one;
  }

  std::shared_ptr<test::MadeTrace> made_ =
      std::make_shared<test::MadeTrace>(trace::OriginKind::kImported);
  trace::LaneId marks_ = made_->lane(LaneKind::kSteps),
                thread_ = made_->lane(LaneKind::kHostThread),
                stream_ = made_->lane(LaneKind::kStream, 0);
  Nanos host_ = 0, gpu_ = 0, begun_ = 0;
  std::uint32_t correlation_ = 0;
};

struct Found {
  std::vector<Finding> findings;
  analysis::WhatIf asked;

  const Finding* of(Part part) const {
    const auto found = std::ranges::find(findings, part, &Finding::part);
    return found == findings.end() ? nullptr : &*found;
  }
  Nanos with(const char* setting) const {
    const auto found = std::ranges::find(asked.changes, setting, analysis::text_of);
    return found == asked.changes.end() ? 0 : found->time;
  }
};

Found found_in(const Run& run) {
  const auto asked = analysis::what_if(run);
  REQUIRE(asked);
  return {analysis::diagnose(run, {}, &*asked), *asked};
}

constexpr int kSteps = 4;

}  // namespace

TEST_CASE("copies from pageable memory with nothing beside them are found, and pinned ones tried") {
  Loop loop;
  for (int i = 0; i < kSteps; ++i) {
    loop.begin_step();
    loop.copy(Category::kCopyH2D, trace::Memory::kPageable, trace::Memory::kDevice, 25'000, true);
    loop.run_kernels();
    loop.end_step();
  }
  const Found found = found_in(loop.run());
  const Finding* copies = found.of(Part::kExposedCopy);
  REQUIRE(copies);
  CHECK(copies->share == Approx(25.0 / 65).epsilon(0.01));
  CHECK_THAT(copies->advice, Catch::Contains("pinned memory"));
  CHECK_THAT(copies->advice, Catch::Contains("Copies come from pinned memory"));
  // 150 MB over the link in some milliseconds, with the host free.
  CHECK(found.with("replay.non_blocking=true") > 40'000'000);
  CHECK(found.with("replay.non_blocking=true") < 50'000'000);
  for (const Finding& finding : found.findings)
    CHECK_THAT(finding.why, !Catch::Contains("no waiting"));
}

TEST_CASE("pinned copies are advised a stream of their own, and no pinned memory") {
  Loop loop;
  for (int i = 0; i < kSteps; ++i) {
    loop.begin_step();
    loop.copy(Category::kCopyH2D, trace::Memory::kPinned, trace::Memory::kDevice, 6'000, false);
    loop.run_kernels();
    loop.end_step();
  }
  const Found found = found_in(loop.run());
  const Finding* copies = found.of(Part::kExposedCopy);
  REQUIRE(copies);
  CHECK_THAT(copies->advice, Catch::Contains("a stream of their own"));
  CHECK_THAT(copies->advice, !Catch::Contains("pinned memory"));
}

// Replays make copies between host and GPU faster, and none within it.
TEST_CASE("exposed copies that no replay makes shorter are told all the same") {
  Loop loop;
  for (int i = 0; i < kSteps; ++i) {
    loop.begin_step();
    loop.copy(Category::kCopyD2D, trace::Memory::kDevice, trace::Memory::kDevice, 4'000, false);
    loop.run_kernels();
    loop.end_step();
  }
  const Found found = found_in(loop.run());
  const Finding* copies = found.of(Part::kExposedCopy);
  REQUIRE(copies);
  CHECK_THAT(copies->advice, !Catch::Contains("Replayed"));
}

TEST_CASE("what the host does behind .item() is idle time that no .item() would save") {
  Loop loop;
  for (int i = 0; i < kSteps; ++i) {
    loop.begin_step();
    loop.rest(5'000);
    loop.run_kernels();
    loop.copy(Category::kCopyD2H, trace::Memory::kDevice, trace::Memory::kPinned, 2, false);
    loop.synchronise();
    loop.end_step();
  }
  const Found found = found_in(loop.run());
  const Finding* idle = found.of(Part::kIdleLaunch);
  REQUIRE(idle);
  CHECK(idle->share == Approx(5.0 / 45).epsilon(0.05));
  CHECK(idle->gain > 0);
  CHECK_THAT(idle->advice, Catch::Contains(".item()"));
  const Finding* kernels = found.of(Part::kCompute);
  REQUIRE(kernels);
  CHECK_THAT(kernels->why, !Catch::Contains("no waiting"));
}

TEST_CASE("a trace without operators is advised to have them, and not to compile") {
  Loop loop;
  for (int i = 0; i < kSteps; ++i) {
    loop.begin_step();
    loop.rest(50'000);
    loop.run_kernels();
    loop.synchronise();
    loop.end_step();
  }
  const Found found = found_in(loop.only_calls());
  const Finding* idle = found.of(Part::kIdleLaunch);
  REQUIRE(idle);
  CHECK_THAT(idle->advice, Catch::Contains("ProfilerActivity.CPU"));
  for (const Finding& one : found.findings)
    CHECK_THAT(one.advice, !Catch::Contains("torch.compile") && !Catch::Contains("with_stack"));
  for (const analysis::Altered& one : found.asked.changes)
    CHECK(one.words.find("torch.compile") == std::string::npos);
}
