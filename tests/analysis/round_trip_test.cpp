// What chunks on streams bring: round trips as the simulator carries them out.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <vector>

#include "analysis/runs/run.h"
#include "host/interpreter.h"
#include "sim/simulation.h"
#include "support/built_program.h"
#include "support/metric_value.h"

using namespace trainscope;
using test::config_of;
using test::Settings;
using test::value;
using trace::Category;
using trace::LaneKind;

namespace {

const Settings kLab{"workload=copy",       "copy.direction=round_trip",
                    "copy.bytes=67108864", "transfer.non_blocking=true",
                    "copy.memory=pinned",  "copy.flops=4096",
                    "host.profile=native", "steps=3"};

analysis::Run lab(const Settings& more) {
  return analysis::run_config("A", config_of(test::with(kLab, more)));
}

double step(const Settings& more) {
  return value(lab(more), "time.step");
}

const std::vector<std::string> kPinned{"h200-1", "t4-1", "a100-sxm-1", "laptop-1"};

}  // namespace

TEST_CASE("one chunk on one stream takes its copies and its kernel one after another") {
  for (const std::string& machine : kPinned) {
    CAPTURE(machine);
    const analysis::Run run = lab({"machine=" + machine});
    const double parts = value(run, "time.h2d") + value(run, "time.d2h") +
                         value(run, "gpu.util") * value(run, "time.step");
    CHECK(value(run, "time.step") == Approx(parts).epsilon(0.03));
    CHECK(value(run, "overlap.copy_compute") == 0);
  }
}

TEST_CASE("chunks of one stream never overlap, however many there are") {
  for (const char* order : {"copy.order=depth_first", "copy.order=breadth_first"}) {
    const analysis::Run run = lab({"copy.chunks=8", order});
    CHECK(value(run, "overlap.copy_compute") == 0);
    CHECK(value(run, "time.step") >= step({}));
  }
}

TEST_CASE("streams bring copies and kernels together, down to the longest engine and the ends") {
  for (const std::string& machine : kPinned) {
    CAPTURE(machine);
    const std::string on = "machine=" + machine;
    const analysis::Run whole = lab({on});
    const double longest = value(whole, "time.longest_engine");
    double before = value(whole, "time.step");
    for (const int chunks : {2, 4, 8, 16}) {
      CAPTURE(chunks);
      const std::string count = std::to_string(chunks);
      const analysis::Run run = lab({on, "copy.chunks=" + count, "copy.streams=" + count});
      const double time = value(run, "time.step");
      CHECK(time < before);
      CHECK(time >= longest);
      // Filled by one chunk's copy and emptied by another's, when nothing else is at work.
      const double ends = (value(whole, "time.step") - longest) / chunks;
      CHECK(time < 1.1 * (longest + ends) + 100e3);
      CHECK(value(run, "overlap.copy_compute") > 0.4);
      before = time;
    }
  }
}

TEST_CASE("with an engine for each direction both orders of issue take as long") {
  const Settings four{"copy.chunks=4", "copy.streams=4"};
  const double depth = step(four);
  CHECK(step(test::with(four, {"copy.order=breadth_first"})) == Approx(depth).epsilon(0.02));
}

TEST_CASE("with one copy engine the copies of both directions take turns, in any order of issue") {
  machine::Machine machine = machine::load_machine("h200-1");
  machine.gpu.copy_engines = 1;
  for (const char* order : {"copy.order=depth_first", "copy.order=breadth_first"}) {
    const program::Program program =
        test::program_of(test::with(kLab, {"steps=1", "copy.chunks=4", "copy.streams=4", order}));
    trace::Trace trace{trace::Origin{}};
    sim::Simulation simulation(program, machine, "native", trace);
    simulation.finish();
    std::vector<trace::Span> copies;
    trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
      if (trace.lanes()[span.lane].kind == LaneKind::kCopyEngine) copies.push_back(span);
    });
    REQUIRE(copies.size() == 8);
    std::ranges::sort(copies, {}, &trace::Span::start);
    for (std::size_t i = 1; i < copies.size(); ++i) CHECK(copies[i].start >= copies[i - 1].end());
  }
}

TEST_CASE("pageable memory leaves streams nothing to bring") {
  const Settings pageable{"copy.memory=pageable"};
  const double whole = step(pageable);
  const analysis::Run run = lab(test::with(pageable, {"copy.chunks=4", "copy.streams=4"}));
  CHECK(value(run, "time.step") > 0.95 * whole);
  CHECK(value(run, "overlap.copy_compute") < 0.1);
}

TEST_CASE("a step of a round trip moves its bytes up once and down once") {
  for (const char* memory : {"copy.memory=pinned", "copy.memory=pageable"}) {
    const analysis::Run run = lab({"copy.chunks=5", "copy.streams=3", memory, "steps=1"});
    std::map<Category, std::int64_t> bytes;
    trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
      if (run.trace->lanes()[span.lane].kind != LaneKind::kStream) return;
      const auto* detail = run.trace->detail(span);
      if (const auto* copy = detail ? std::get_if<trace::CopyDetail>(detail) : nullptr)
        bytes[span.category] += copy->bytes;
    });
    CHECK(bytes[Category::kCopyH2D] == 67108864);
    CHECK(bytes[Category::kCopyD2H] == 67108864);
  }
}

TEST_CASE("breadth first holds every chunk on the GPU at once, depth first two a stream") {
  const Settings eight{"copy.chunks=8", "copy.streams=2"};
  const double depth = value(lab(eight), "memory.peak_allocated");
  const double breadth =
      value(lab(test::with(eight, {"copy.order=breadth_first"})), "memory.peak_allocated");
  CHECK(depth < 0.25 * breadth);
  CHECK(breadth >= 2 * 67108864);
}

TEST_CASE("on streams or not, what comes back is bit for bit twice what went up") {
  std::vector<float> first;
  for (const Settings& how :
       {Settings{},
        {"copy.chunks=7", "copy.streams=3"},
        {"copy.chunks=4", "copy.streams=4", "copy.order=breadth_first", "steps=2"}}) {
    const program::Program program = test::program_of(
        test::with(kLab, test::with({"copy.flops=1", "copy.bytes=40000", "steps=1"}, how)));
    host::Interpreter numbers(program);
    trace::Trace trace{trace::Origin{}};
    sim::Simulation simulation(program, machine::load_machine("h200-1"), "native", trace, &numbers);
    simulation.finish();
    constexpr program::Index kH = 0, kOut = 1;
    const host::Results h = numbers.values(kH), out = numbers.values(kOut);
    REQUIRE(out.size() == 10000);
    REQUIRE(h[0] != 0);
    for (std::size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == 2 * h[i]);
    if (first.empty()) first.assign(out.begin(), out.end());
    CHECK(std::ranges::equal(out, first));
  }
}
