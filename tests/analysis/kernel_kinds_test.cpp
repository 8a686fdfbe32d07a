// What the simulator says of ResNet-50's kernels beside what a recorded trace has of them
// (tests/golden/imported.py counts it). some of src/sim/formulas.md were
// fitted to this very trace, so this guards the fit and is no prediction.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/runs/run.h"
#include "analysis/views/operations.h"
#include "base/files.h"
#include "support/config.h"

using namespace trainscope;
using namespace trainscope::analysis;

namespace {

std::string kind_of(const std::string& kernel) {
  const auto has = [&](const char* word) { return kernel.find(word) != std::string::npos; };
  if (kernel == "batch_norm") return "batch norm, forward";
  if (kernel == "batch_norm_backward") return "batch norm, backward";
  if (kernel == "nchwToNhwc" || kernel == "nhwcToNchw") return "tensors turned round";
  if (has("wgrad")) return "weight gradients";
  if (has("dgrad")) return "input gradients";
  return has("fprop") ? "convolutions, forward" : "";
}

}  // namespace

TEST_CASE("kernels of each kind take what those of a recorded ResNet-50 take, nearly") {
  std::ifstream file(home_folder() / "tests" / "golden" / "imported.json");
  const auto recorded = nlohmann::json::parse(file).at("ddp-a100-2ranks").at("kinds");
  REQUIRE(recorded.size() == 6);
  const Run run = run_config("A", test::config_of({"machine=a100-40-sxm-1", "model.name=resnet50",
                                                   "batch_size=32", "steps=3"}));
  std::map<std::string, double> simulated;  // ns a step
  for (const OperationRow& row : operation_rows(run.facts.measured))
    if (row.where == Operation::Where::kGpu) simulated[kind_of(row.name)] += row.a.total;
  double all = 0, all_recorded = 0;
  for (const auto& [kind, nanos] : recorded.items()) {
    CAPTURE(kind);
    const auto expected = nanos.get<double>();
    // Some windows of one pixel are turned round there that count as plain products here.
    CHECK(simulated[kind] ==
          Approx(expected).epsilon(kind == "tensors turned round" ? 0.25 : 0.15));
    all += simulated[kind];
    all_recorded += expected;
  }
  CHECK(all == Approx(all_recorded).epsilon(0.12));
}
