// What is found in a profiler's traces of loops that are known to copy, or to wait, too much.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/advice/what_if.h"
#include "analysis/causes/diagnosis.h"
#include "analysis/recorded_loop.h"

using namespace trainscope;
using analysis::Finding;
using analysis::Part;
using analysis::Run;
using test::Loop;
using trace::Category;

namespace {

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

namespace {

// Steps in which the host is for 30 ms where `rests` puts it, with the GPU done.
template <typename Rests>
Found found_of_resting(const Rests& rests) {
  Loop loop;
  for (int i = 0; i < kSteps; ++i) {
    loop.begin_step();
    const Nanos begun = loop.now();
    loop.run_kernels();
    loop.synchronise();
    rests(loop);
    loop.put_around("train.py(150): main", begun);
    loop.end_step();
  }
  loop.wait_elsewhere("<built-in method acquire of _thread.lock object>");
  return found_in(loop.run());
}

// No faster operators make that shorter.
void check_no_compiling(const Found& found, const Finding& idle) {
  CHECK(idle.share == Approx(30.0 / 70).epsilon(0.01));
  CHECK(idle.gain > 25e6);
  CHECK_THAT(idle.advice, !Catch::Contains("torch.compile"));
  CHECK((found.with("replay.host_speed=2") == 0 || found.with("replay.host_speed=2") > 69'000'000));
}

}  // namespace

TEST_CASE("a function of Python's in which the host is while the GPU waits is named") {
  const Found found = found_of_resting([](Loop& loop) {
    const Nanos begun = loop.now();
    loop.rest(10);
    loop.rest_in("<built-in method dumps of module object>", 30'000);
    loop.put_around("train.py(90): log_metrics", begun);
  });
  const Finding* idle = found.of(Part::kIdleLaunch);
  REQUIRE(idle);
  CHECK_THAT(idle->why, Catch::EndsWith("of it the host is in train.py(90): log_metrics"));
  CHECK_THAT(idle->advice, Catch::Contains("your program's own Python"));
  check_no_compiling(found, *idle);
}

TEST_CASE("of a function that has no file its caller is named, too") {
  const Found found =
      found_of_resting([](Loop& loop) { loop.rest_in("<built-in function sleep>", 30'000); });
  const Finding* idle = found.of(Part::kIdleLaunch);
  REQUIRE(idle);
  CHECK_THAT(idle->why, Catch::EndsWith("of it the host is in <built-in function sleep>, called by "
                                        "train.py(150): main"));
  check_no_compiling(found, *idle);
}

TEST_CASE("a mark of the program's in which the host is while the GPU waits is named") {
  Loop loop;
  for (int i = 0; i < kSteps; ++i) {
    loop.begin_step();
    loop.run_kernels();
    loop.synchronise();
    loop.rest_in("tokenize_on_the_fly", 30'000, Category::kAnnotation);
    loop.end_step();
  }
  const Found found = found_in(loop.run());
  const Finding* idle = found.of(Part::kIdleLaunch);
  REQUIRE(idle);
  CHECK_THAT(idle->why, Catch::Contains("of it the host is in tokenize_on_the_fly, and there in no "
                                        "call that was recorded"));
  CHECK_THAT(idle->advice,
             Catch::Contains("with_stack=True") && !Catch::Contains("record_function"));
  check_no_compiling(found, *idle);
}

TEST_CASE("a host that asks the driver for memory is not told to compile") {
  const Found found = found_of_resting([](Loop& loop) {
    for (int i = 0; i < 60; ++i) loop.rest_in("cudaMalloc", 500, Category::kHostApi);
  });
  const Finding* idle = found.of(Part::kIdleLaunch);
  REQUIRE(idle);
  CHECK_THAT(idle->why, Catch::Contains("of it the host is in cudaMalloc"));
  CHECK_THAT(idle->advice, Catch::Contains("ask the driver for memory"));
  check_no_compiling(found, *idle);
}
