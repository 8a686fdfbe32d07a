// The table of operations through the window: sorted and chosen by clicks, saved as CSV.
#include <catch2/catch.hpp>

#include <filesystem>
#include <set>

#include "base/files.h"
#include "ui/app/window/layout.h"
#include "ui/cut_text.h"
#include "ui/panels/charts/operations.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

void open_pair(Driver& driver) {
  driver.workspace().open_runs(
      {run_of("A", {"workload=train", "steps=3"}),
       run_of("B", {"workload=train", "steps=3", "precision=fp16", "batch_size=256"})});
  driver.settle();
  driver.app().run("layout.operations");
  driver.settle();
}

}  // namespace

TEST_CASE("a click on a column's title sorts the operations, a second one turns them") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  open_pair(*driver);
  const OperationsPanel& panel = driver->app().deck().states.operations;
  REQUIRE(panel.rows.size() > 5);
  CHECK(panel.order == analysis::OperationOrder::kDifference);
  REQUIRE(driver->click("//Operations##pair/**/operation"));
  for (std::size_t i = 1; i < panel.rows.size(); ++i)
    CHECK(panel.rows[i - 1].shown <= panel.rows[i].shown);
  REQUIRE(driver->click("//Operations##pair/**/A total"));
  const double first = std::max(panel.rows.front().a.total, panel.rows.front().b.total);
  REQUIRE(driver->click("//Operations##pair/**/A total"));
  CHECK(std::max(panel.rows.back().a.total, panel.rows.back().b.total) == first);
  REQUIRE(driver->click("//Operations##pair/**/B - A"));
  CHECK(panel.order == analysis::OperationOrder::kDifference);
  const auto of_host = [](const analysis::OperationRow& row) {
    return row.where == analysis::Operation::Where::kHost;
  };
  const auto call = std::find_if(panel.rows.begin(), panel.rows.end(), of_host);
  REQUIRE(call != panel.rows.end());
  REQUIRE(driver->click("//Operations##pair/**/host"));
  REQUIRE(driver->click("//Operations##pair/**/" + call->name));
  CHECK(panel.chosen == call->name);
  CHECK(panel.chosen_where == analysis::Operation::Where::kHost);
}

TEST_CASE("one run has its operations too, once they are asked for") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->workspace().open_runs({run_of("A", {"workload=train", "steps=3"})});
  driver->settle();
  CHECK_FALSE(driver->app().deck().shown.single_operations);
  driver->app().run("layout.operations");
  driver->settle();
  const ImGuiWindow* window = ImGui::FindWindowByName(kSingleOperationsPanel);
  REQUIRE(window);
  CHECK(window->WasActive);
  const OperationsPanel& panel = driver->app().deck().states.operations;
  REQUIRE(panel.rows.size() > 5);
  for (std::size_t i = 1; i < panel.rows.size(); ++i)
    CHECK(panel.rows[i - 1].a.total >= panel.rows[i].a.total);
  REQUIRE(driver->click("//Operations##single/**/count"));
  CHECK(panel.order == analysis::OperationOrder::kCount);
  CHECK_FALSE(driver->app().can("compare.save_operations"));
  for (const CutLetter& cut : cut_text(*ImGui::GetDrawData()))
    FAIL_CHECK(cut.window << " at " << cut.min.x << ", " << cut.min.y);
}

TEST_CASE("the operations are saved as CSV where a person says") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  open_pair(*driver);
  const auto file = std::filesystem::temp_directory_path() / "trainscope-operations.csv";
  std::filesystem::remove(file);
  driver->app().run("compare.save_operations");
  driver->settle();
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    context->ItemInputValue("//Save the operations##sheet/##path", file.string().c_str());
  }));
  const std::string text = read_file(file, 1 << 20);
  CHECK(text.starts_with("operation,where,category,A count/step"));
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  CHECK(lines == driver->app().deck().states.operations.rows.size() + 1);
  std::filesystem::remove(file);
}

TEST_CASE("nothing of the operations' words is cut, in any theme and size") {
  for (const auto& [width, height] :
       {std::pair{1280, 720}, std::pair{1920, 1080}, std::pair{3840, 2160}})
    for (const ThemeMode mode : kThemeModes) {
      REQUIRE_DRIVER(driver, width, height);
      driver->app().set_theme(mode);
      open_pair(*driver);
      CAPTURE(width, name_of(mode));
      const ImGuiWindow* window = ImGui::FindWindowByName(kOperationsPanel);
      REQUIRE(window);
      CHECK(window->WasActive);
      CHECK(letters(*ImGui::GetDrawData()) > 300);
      for (const CutLetter& cut : cut_text(*ImGui::GetDrawData()))
        FAIL_CHECK(cut.window << " at " << cut.min.x << ", " << cut.min.y);
    }
}

TEST_CASE("of the host's calls, one run's table says what they take themselves and on the GPU") {
  for (const auto& [width, height] : {std::pair{1366, 768}, std::pair{1920, 1080}}) {
    REQUIRE_DRIVER(driver, width, height);
    driver->workspace().open_runs({run_of("A", {"workload=train", "steps=3"})});
    driver->settle();
    driver->app().run("layout.operations");
    driver->settle();
    REQUIRE(driver->click("//Operations##single/**/host"));
    REQUIRE(driver->click("//Operations##single/**/self"));
    const OperationsPanel& panel = driver->app().deck().states.operations;
    CHECK(panel.order == analysis::OperationOrder::kSelf);
    for (std::size_t i = 1; i < panel.rows.size(); ++i)
      CHECK(panel.rows[i - 1].a.self >= panel.rows[i].a.self);
    REQUIRE(driver->click("//Operations##single/**/on GPU"));
    CHECK(panel.order == analysis::OperationOrder::kGpu);
    const auto& first = panel.rows.front();
    CHECK(first.where == analysis::Operation::Where::kHost);
    CHECK(first.a.gpu > 0);
    // The GPU's rows have no such column to be sorted by.
    REQUIRE(driver->click("//Operations##single/**/GPU"));
    CHECK(panel.order == analysis::OperationOrder::kTotal);
    for (const CutLetter& cut : cut_text(*ImGui::GetDrawData()))
      FAIL_CHECK(cut.window << " at " << cut.min.x << ", " << cut.min.y);
  }
}

TEST_CASE("no two operations read the same, however narrow their column is") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->workspace().open_runs(
      {run_of("A", {"workload=train", "steps=3", "parallel.strategy=fsdp", "parallel.world_size=4",
                    "machine=h100-sxm-8", "clip_grad_norm=1"}),
       run_of("B", {"workload=train", "steps=3", "parallel.strategy=ddp", "parallel.world_size=4",
                    "machine=h100-sxm-8"})});
  driver->settle();
  driver->app().run("layout.operations");
  driver->settle();
  keep_picture(*driver, "operations apart");
  const auto& names = driver->app().deck().states.operations.names.by_name;
  REQUIRE(names.size() > 5);
  std::set<std::string> seen;
  std::size_t cut = 0;
  for (const auto& [name, words] : names) {
    CAPTURE(name, words);
    CHECK(seen.insert(words).second);
    cut += words != name;
  }
  CHECK(cut > 1);
}
