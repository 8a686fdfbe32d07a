// Both executors beside each other: the simulator, and the device that the emulator stands in for.

#include "analysis/runs/validation.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "cuda/emulated_device.h"
#include "report/measurements_json.h"

using namespace trainscope;

namespace {

analysis::ValidationProgram program_of(const std::string& name,
                                       const std::vector<std::string>& settings) {
  analysis::ValidationProgram one{name, {}};
  one.config.set_text("host.profile=native");
  one.config.set_text("machine=t4-1");
  for (const std::string& setting : settings) one.config.set_text(setting);
  return one;
}

std::vector<analysis::ValidationProgram> small_programs() {
  return {program_of("pinned", {"workload=copy", "copy.memory=pinned", "copy.bytes=4194304",
                                "copy.count=5", "transfer.non_blocking=true"}),
          program_of("pageable", {"workload=copy", "copy.memory=pageable", "copy.bytes=67108864",
                                  "copy.count=3", "transfer.non_blocking=true"}),
          program_of("launches",
                     {"workload=launch", "launch.count=50", "steps=4", "launch.kernel_ns=5000"}),
          program_of("graph", {"workload=launch", "launch.count=50", "steps=4",
                               "launch.kernel_ns=5000", "launch.graph=true"}),
          program_of("training", {"workload=train", "model.name=mlp", "data.name=spirals",
                                  "model.inputs=2", "steps=4"})};
}

test::EmulatedOptions with_costs(const machine::Machine& machine) {
  test::EmulatedOptions options;
  options.costs = &machine;
  return options;
}

analysis::ValidationRow row(const std::string& program, const char* metric, double simulated,
                            double measured) {
  analysis::ValidationRow one{program, &analysis::find_metric(metric), simulated, measured, {}};
  if (measured != 0) one.error = (simulated - measured) / measured;
  return one;
}

}  // namespace

TEST_CASE("on a device that costs what the machine says, simulated and measured are close") {
  const machine::Machine machine = machine::load_machine("t4-1");
  test::EmulatedDevice device(with_costs(machine));
  const auto all = analysis::validate_executors(device, small_programs(), "");
  CHECK(all.left_out.empty());
  int close = 0, losses = 0;
  for (const analysis::ValidationRow& one : all.rows) {
    INFO(one.program << ", " << one.metric->name << ": simulated " << one.simulated << ", measured "
                     << one.measured);
    const std::string& name = one.metric->name;
    const bool of_copies = one.program == "pinned" || one.program == "pageable";
    const bool of_launches = one.program == "launches" || one.program == "graph";
    if ((of_copies && (name == "time.h2d" || name == "bandwidth.h2d")) ||
        (of_launches && name == "time.step")) {
      REQUIRE(one.error);
      CHECK(std::abs(*one.error) < 0.05);
      ++close;
    }
    if (name != "loss.final") continue;
    REQUIRE(one.error);
    CHECK(std::abs(*one.error) < 1e-3);
    ++losses;
  }
  CHECK(close == 2 * 2 + 2);
  CHECK(losses > 0);
  const auto programs = small_programs();
  for (const auto& program : programs)
    CHECK(std::any_of(all.rows.begin(), all.rows.end(), [&](const analysis::ValidationRow& one) {
      return one.program == program.name && one.error;
    }));
}

TEST_CASE("what tracing costs is not the simulator's error, and the page says how much it is") {
  const machine::Machine machine = machine::load_machine("t4-1");
  auto programs = small_programs();
  programs = {programs[2]};  // launches
  test::EmulatedOptions options = with_costs(machine);
  const auto step_of = [&](Nanos traced_gap) {
    options.traced_gap = traced_gap;
    test::EmulatedDevice device(options);
    const auto all = analysis::validate_executors(device, programs, "");
    REQUIRE(all.tracing.size() == 1);
    CHECK((all.tracing[0].second > 0.3) == (traced_gap > 0));
    CHECK_THAT(analysis::validation_page(all), Catch::Contains("| program | traced it takes |"));
    const auto step = std::ranges::find_if(all.rows, [](const analysis::ValidationRow& one) {
      return one.metric->name == "time.step";
    });
    REQUIRE(step != all.rows.end());
    return step->measured;
  };
  CHECK(step_of(4000) == Approx(step_of(0)).epsilon(0.1));
}

TEST_CASE("a program that a device cannot carry out is named and left out, the others are there") {
  test::EmulatedDevice device;
  auto programs = small_programs();
  programs.resize(1);
  programs.insert(programs.begin(),
                  program_of("a model that there is none of",
                             {"workload=train", "model.name=gpt-mini", "model.heads=3"}));
  programs.push_back(program_of("an FP64 kernel", {"workload=kernel", "kernel.type=fp64"}));
  const auto all = analysis::validate_executors(device, programs, "");
  REQUIRE(all.left_out.size() == 2);
  CHECK_THAT(all.left_out.front(), Catch::Contains("cannot be split among 3 heads"));
  CHECK_THAT(all.left_out.back(), Catch::Contains("an FP64 kernel: "));
  CHECK_FALSE(all.rows.empty());
  CHECK_THROWS_WITH(analysis::validate_executors(device, {programs.back()}, ""),
                    Catch::Contains("nothing was measured"));
}

TEST_CASE("a device that is lost ends a validation, and what was measured before is kept") {
  test::EmulatedOptions options;
  options.lost_at = 150;  // among the launches
  test::EmulatedDevice device(options);
  const auto all = analysis::validate_executors(device, small_programs(), "");
  CHECK_FALSE(all.rows.empty());
  REQUIRE(all.left_out.size() == 2);  // and no other was tried
  CHECK_THAT(all.left_out.front(),
             Catch::Contains("launches: ") && Catch::Contains("an emulated illegal address"));
  CHECK(all.left_out.back() == "graph and what comes after: the GPU was lost before");
}

TEST_CASE("errors have a sign, a mean and a worst; nothing measured is no error") {
  const std::vector<double> errors{0.1, -0.3, 0.05};
  const analysis::ErrorSummary sum = analysis::summarise_errors(errors);
  CHECK(sum.count == 3);
  CHECK(sum.mean == Approx(-0.05));
  CHECK(sum.mean_size == Approx(0.15));
  CHECK(sum.worst == -0.3);
  const std::vector<analysis::ValidationRow> rows{
      row("a", "time.step", 12, 10), row("b", "time.step", 9, 10), row("a", "host.blocked", 3, 0)};
  CHECK(analysis::errors_of(rows, nullptr).size() == 2);
  CHECK(analysis::errors_of(rows, &analysis::find_metric("host.blocked")).empty());
  CHECK(analysis::metrics_of(rows).size() == 2);
}

TEST_CASE("a validation says where what is simulated is not the GPU that is measured") {
  const machine::Machine machine = machine::load_machine("t4-1");
  test::EmulatedOptions options = with_costs(machine);
  options.name = "Tesla T4";
  test::EmulatedDevice device(options);
  auto programs = small_programs();
  programs.resize(1);
  CHECK(analysis::validate_executors(device, programs, "").caveat.empty());
  const auto other = analysis::validate_executors(device, programs, "h200-1");
  CHECK_THAT(other.caveat, Catch::Contains("is not the GPU that was measured"));
  CHECK_THAT(analysis::validation_page(other), Catch::Contains(other.caveat));
}

TEST_CASE("the page that is kept names device, machine, each number, its error, and the means") {
  analysis::Validation validation;
  validation.machine = "1 x T4";
  validation.origin = "Emulated GPU, 2026-11-22";
  validation.rows = {row("copies", "time.step", 12e6, 10e6), row("copies", "host.blocked", 3e6, 0)};
  validation.left_out = {"training: why"};
  const std::string page = analysis::validation_page(validation);
  CHECK_THAT(page, Catch::Contains("Measured: Emulated GPU, 2026-11-22."));
  CHECK_THAT(page, Catch::Contains("Simulated: 1 x T4"));
  CHECK_THAT(page, Catch::Contains("| copies | time.step | 12 ms | 10 ms | +20.0 % |"));
  CHECK_THAT(page, Catch::Contains("| copies | host.blocked | 3 ms | 0 ns |  |"));
  CHECK_THAT(page, Catch::Contains("| all | 1 | 20.0 % | +20.0 % | +20.0 % |"));
  CHECK_THAT(page, Catch::Contains("- training: why"));
  const std::string json = report::measured_validation_json(validation);
  CHECK_THAT(json, Catch::Contains("\"metric\": \"all\",\n      \"checks\": 1"));
}

TEST_CASE("what is validated on a device can be built, and is called by different names") {
  const auto programs = analysis::validation_programs();
  CHECK(programs.size() > 12);
  std::set<std::string> names;
  for (const auto& program : programs) {
    CHECK(names.insert(program.name).second);
    CHECK(program.config.word("host.profile") == "native");
  }
}
