// When FSDP's units are whole, read from a trace.
#include "analysis/causes/unit_times.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "analysis/runs/run.h"
#include "support/config.h"
#include "support/made_trace.h"
#include "trace/chrome_reader.h"
#include "trace/chrome_writer.h"

using namespace trainscope;
using namespace trainscope::analysis;
using trace::Category;

namespace {

constexpr std::size_t kBlocks = 12;

Run run_of(const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings{
      "workload=train",   "machine=h100-sxm-8",    "parallel.strategy=fsdp", "model.name=gpt2",
      "data.name=tokens", "parallel.world_size=4", "batch_size=2",           "steps=3"};
  settings.insert(settings.end(), more.begin(), more.end());
  return run_config("A", test::config_of(settings));
}

std::vector<const UnitVisit*> visits_of(const UnitStep& step, std::size_t unit) {
  std::vector<const UnitVisit*> visits;
  for (const UnitVisit& visit : step.visits)
    if (visit.unit == unit) visits.push_back(&visit);
  return visits;
}

void check_times(const UnitStep& step) {
  REQUIRE(!step.visits.empty());
  for (const UnitVisit& visit : step.visits) {
    INFO("unit " << visit.unit << " of the step at " << step.time.start);
    REQUIRE(visit.gather);
    CHECK(visit.whole.start == visit.gather->start);
    for (const auto& work : {visit.forward, visit.backward}) {
      if (!work) continue;
      CHECK(work->start >= visit.gather->end);
      CHECK(work->end <= visit.whole.end);
    }
    if (visit.scatter) {
      REQUIRE(visit.backward);
      CHECK(visit.scatter->start >= visit.backward->start);
      CHECK(visit.scatter->end <= step.time.end);
    }
    CHECK(step.time.start <= visit.whole.start);
    CHECK(step.time.end >= visit.whole.end);
  }
}

}  // namespace

TEST_CASE("each block is gathered for its forward and again for its backward, the root once") {
  const Run run = run_of();
  const UnitTimes times = unit_times(*run.trace);
  REQUIRE(times.units.size() == kBlocks + 1);
  CHECK(times.units.front() == "root");
  CHECK(times.units.back() == "block 12");
  REQUIRE(times.steps.size() == 3);
  CHECK(times.steps[0].number == 0);
  CHECK(times.steps[2].number == 2);
  for (const UnitStep& step : times.steps) {
    check_times(step);
    const auto root = visits_of(step, 0);
    REQUIRE(root.size() == 1);
    CHECK(root[0]->forward);
    CHECK(root[0]->backward);
    CHECK(root[0]->scatter);
    for (std::size_t block = 1; block <= kBlocks; ++block) {
      const auto visits = visits_of(step, block);
      REQUIRE(visits.size() == 2);
      CHECK(visits[0]->forward);
      CHECK_FALSE(visits[0]->backward);
      CHECK_FALSE(visits[0]->scatter);
      CHECK(visits[1]->backward);
      CHECK_FALSE(visits[1]->forward);
      CHECK(visits[1]->scatter);
      CHECK(visits[0]->whole.end <= visits[1]->backward->start);
      if (block == 1) continue;
      // Forward goes up the blocks, backward down.
      const auto before = visits_of(step, block - 1);
      CHECK(before[0]->forward->end <= visits[0]->forward->start);
      CHECK(visits[1]->backward->end <= before[1]->backward->start);
      // Of the blocks below, the next is asked for before this one is done.
      CHECK(before[1]->gather->start < visits[1]->backward->end);
    }
  }
}

TEST_CASE("a block that stays whole after its forward is gathered once") {
  const Run run = run_of({"fsdp.reshard_after_forward=false"});
  const UnitTimes times = unit_times(*run.trace);
  REQUIRE(times.steps.size() == 3);
  for (const UnitStep& step : times.steps) {
    check_times(step);
    for (std::size_t unit = 0; unit <= kBlocks; ++unit) {
      const auto visits = visits_of(step, unit);
      REQUIRE(visits.size() == 1);
      CHECK(visits[0]->forward);
      CHECK(visits[0]->backward);
    }
  }
}

TEST_CASE("a trace that was written and read tells of the same units") {
  const Run run = run_of();
  std::ostringstream text;
  trace::write_chrome_trace(*run.trace, text);
  const auto read = trace::read_chrome_trace("written.json", text.str());
  const UnitTimes own = unit_times(*run.trace), again = unit_times(*read);
  CHECK(again.units == own.units);
  REQUIRE(again.steps.size() == own.steps.size());
  for (std::size_t i = 0; i < own.steps.size(); ++i) {
    REQUIRE(again.steps[i].visits.size() == own.steps[i].visits.size());
    for (std::size_t k = 0; k < own.steps[i].visits.size(); ++k) {
      const UnitVisit &a = own.steps[i].visits[k], &b = again.steps[i].visits[k];
      CHECK(a.unit == b.unit);
      CHECK(a.forward.has_value() == b.forward.has_value());
      CHECK(a.backward.has_value() == b.backward.has_value());
      CHECK(a.whole.end - a.whole.start == b.whole.end - b.whole.start);
    }
  }
}

// The root's marks name nothing there, and modules have the names of their model.
TEST_CASE("marks of PyTorch are read, and what no unit launches is left to none") {
  test::MadeTrace made(trace::OriginKind::kImported);
  const trace::LaneId host = made.lane(trace::LaneKind::kHostThread);
  const trace::LaneId compute = made.lane(trace::LaneKind::kStream);
  const trace::LaneId nccl = made.lane(trace::LaneKind::kStream);
  const auto launch = [&](Nanos at, std::uint32_t id) {
    made.add(host, "cudaLaunchKernel", at, at + 1, Category::kHostApi, id);
  };
  launch(1, 1);
  made.add(compute, "early", 5, 8, Category::kForward, 1);
  made.add(host, "FSDP::all_gather", 10, 14, Category::kAnnotation);
  launch(12, 2);
  made.add(nccl, "AllGather", 20, 30, Category::kCollective, 2);
  made.add(host, "FSDP::all_gather_copy_out", 15, 18, Category::kAnnotation);
  launch(16, 3);
  made.add(compute, "copy", 30, 33, Category::kForward, 3);
  launch(19, 4);
  made.add(compute, "embedding", 33, 40, Category::kForward, 4);
  made.add(host, "FSDP::all_gather (layers.0)", 20, 24, Category::kAnnotation);
  launch(21, 5);
  made.add(nccl, "AllGather", 31, 39, Category::kCollective, 5);
  made.add(host, "FSDP::all_gather_copy_out (layers.0)", 25, 27, Category::kAnnotation);
  launch(28, 6);
  made.add(compute, "product", 40, 60, Category::kForward, 6);
  made.add(host, "FSDP::post_forward (layers.0)", 30, 31, Category::kAnnotation);
  launch(32, 7);
  made.add(compute, "head", 60, 70, Category::kForward, 7);
  const UnitTimes times = unit_times(made.trace);
  CHECK(times.units == std::vector<std::string>{"root", "layers.0"});
  REQUIRE(times.steps.size() == 1);
  REQUIRE(times.steps[0].visits.size() == 2);
  const UnitVisit &root = times.steps[0].visits[0], &layer = times.steps[0].visits[1];
  CHECK(root.gather->start == 20);
  CHECK(root.forward->start == 33);
  CHECK(root.forward->end == 70);
  CHECK(layer.gather->end == 39);
  CHECK(layer.forward->start == 40);
  CHECK(layer.forward->end == 60);
  CHECK_FALSE(layer.scatter);
  CHECK(times.steps[0].time.start == 20);
  CHECK(times.steps[0].time.end == 70);
  CHECK(&times.at(0) == &times.steps[0]);
}

TEST_CASE("a run without FSDP has no units") {
  const Run run = run_config("A", test::config_of({"workload=train", "steps=2"}));
  CHECK_FALSE(has_unit_marks(*run.trace));
  CHECK(unit_times(*run.trace).empty());
}
