// What the lessons about rings and trees claim.

#include <catch2/catch.hpp>
#include <string>

#include "scenario/lesson.h"
#include "support/lesson_runs.h"

using namespace trainscope;
using analysis::Run;
using scenario::Lesson;
using test::on_every_machine;
using test::run_side;
using test::value;

TEST_CASE("ring-all-reduce: twice the GPUs send a sixth more over each link, at the same rate") {
  on_every_machine("ring-all-reduce", [](const Run& four, const Run& eight) {
    CHECK(value(eight, "comm.exposed") ==
          Approx(1.75 / 1.5 * value(four, "comm.exposed")).epsilon(0.05));
    CHECK(value(eight, "bandwidth.bus") == Approx(value(four, "bandwidth.bus")).epsilon(0.05));
  });
  const Lesson lesson = scenario::find_lesson("ring-all-reduce");
  for (const std::string& machine : lesson.machines) {
    const double four = value(run_side(lesson, "A", machine), "comm.exposed");
    for (const char* half : {"collective.op=reduce_scatter", "collective.ranks=2"})
      CHECK(value(run_side(lesson, "B", machine, {half}), "comm.exposed") < 0.67 * four);
  }
  // A smaller buffer is no answer.
  const Run four = run_side(lesson, "A", "h100-sxm-8");
  const auto done = [&](const char* change) {
    return test::reached(test::step_of(lesson, "vary"), four,
                         run_side(lesson, "B", "h100-sxm-8", {change}));
  };
  CHECK(done("collective.ranks=2"));
  CHECK_FALSE(done("collective.bytes=100000000"));
}

TEST_CASE("ring-vs-tree: the tree is quicker with little, the ring with much") {
  on_every_machine("ring-vs-tree", [](const Run& ring, const Run& tree) {
    CHECK(value(tree, "comm.exposed") < 0.95 * value(ring, "comm.exposed"));
  });
  const Lesson lesson = scenario::find_lesson("ring-vs-tree");
  for (const std::string& machine : lesson.machines) {
    const auto with = [&](const char* side, const char* bytes) {
      return value(run_side(lesson, side, machine, {bytes}), "comm.exposed");
    };
    CHECK(with("A", "collective.bytes=1048576") < with("B", "collective.bytes=1048576"));
  }
}
