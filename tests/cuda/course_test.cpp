// Which lessons a device can carry out: all, but for what no GPU does.

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "analysis/runs/measured_run.h"
#include "base/error.h"
#include "cuda/emulated_device.h"
#include "scenario/lesson.h"

using namespace trainscope;

TEST_CASE("both sides of every lesson can be measured, but for a CPU and for ranks that differ") {
  std::map<std::string, std::string> refused;
  test::EmulatedDevice device;
  for (const scenario::Lesson& lesson : scenario::all_lessons())
    for (const char* side : {"A", "B"}) try {
        analysis::require_measurable(lesson.side(side), device);
      } catch (const Error& error) {
        const std::string why = error.what();
        refused[lesson.id + ":" + side] = why.substr(0, why.find(';'));
      }
  const std::string differ =
      "ranks that differ (straggler.rank, uneven_batches) are only simulated";
  CHECK(refused ==
        std::map<std::string, std::string>{
            {"small-model-cpu-wins:A", "this run computes on the CPU and has nothing for a GPU"},
            {"straggler:B", differ},
            {"ddp-deadlock:B", differ}});
}
