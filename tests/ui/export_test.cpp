// What is open can be written to a file from the window.
#include "ui/app/export.h"

#include <catch2/catch.hpp>

#include "analysis/run_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "ui/cut_text.h"
#include "ui/driver.h"

using namespace trainscope;
using namespace trainscope::ui;
using Catch::Matchers::Contains;

namespace {

std::string in(const test::TemporaryFolder& folder, const char* name) {
  return (folder.path() / name).string();
}

constexpr std::size_t kMost = 50'000'000;

}  // namespace

TEST_CASE("a lesson's runs are exported as a report, traces, metrics and runs") {
  REQUIRE_DRIVER(driver);
  const test::TemporaryFolder folder;
  driver->open_revealed("pinned-vs-pageable");
  const Workspace& workspace = driver->workspace();
  CHECK(write_export(workspace, in(folder, "a.html")) ==
        "The report is in " + in(folder, "a.html") + ".");
  CHECK_THAT(read_file(in(folder, "a.html"), kMost), Contains("Pinned vs pageable memory"));
  write_export(workspace, in(folder, "t.json"));
  for (const char* file : {"t.A.json", "t.B.json"})
    CHECK_THAT(read_file(in(folder, file), kMost), Contains("\"traceEvents\""));
  write_export(workspace, in(folder, "m.csv"));
  const std::string csv = read_file(in(folder, "m.csv"), kMost);
  CHECK(csv.starts_with("metric,unit,A,B"));
  CHECK_THAT(csv, Contains("time.total,ns,"));
  write_export(workspace, in(folder, "r.tsrun"));
  const analysis::SavedRuns back = analysis::open_runs(in(folder, "r.tsrun"));
  REQUIRE(back.runs.size() == 2);
  CHECK(back.subject.lesson == "pinned-vs-pageable");
  CHECK(back.runs[1]->trace->end() == workspace.sides()[1].run->trace->end());
}

TEST_CASE("what cannot be exported is refused with a sentence, and the window goes on") {
  REQUIRE_DRIVER(driver);
  const test::TemporaryFolder folder;
  driver->workspace().open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver->settle();
  CHECK_THROWS_WITH(write_export(driver->workspace(), in(folder, "a.html")),
                    Contains("let the runs end first"));
  driver->open_revealed("pinned-vs-pageable");
  CHECK_THROWS_WITH(write_export(driver->workspace(), in(folder, "a.doc")), Contains(".tsrun"));
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_E);
  }));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->ItemInputValue("//Export##sheet/##path", "/proc/none/a.html");
  }));
  CHECK(driver->workspace().notice.find("/proc/none/a.html") != std::string::npos);
}
