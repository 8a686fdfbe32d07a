// What is open can be written to a file from the window.
#include "ui/app/files/export.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "analysis/runs/run_file.h"
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

TEST_CASE("the exported report speaks the language of the lessons") {
  REQUIRE_DRIVER(driver);
  const test::TemporaryFolder folder;
  driver->open_revealed("pinned-vs-pageable");
  write_export(driver->workspace(), in(folder, "en.html"));
  CHECK_THAT(read_file(in(folder, "en.html"), kMost), Contains(">Timelines</h2>"));
  driver->workspace().set_language("de");
  driver->settle();
  write_export(driver->workspace(), in(folder, "de.html"));
  CHECK_THAT(read_file(in(folder, "de.html"), kMost),
             Contains("<html lang=\"de\">") && Contains(">Zeitachsen</h2>"));
}

TEST_CASE("a lesson is exported as a handout and as a sheet to work on, whatever was turned") {
  REQUIRE_DRIVER(driver);
  const test::TemporaryFolder folder;
  driver->open_revealed("pinned-vs-pageable");
  write_export(driver->workspace(), in(folder, "a.handout.html"));
  const std::string handout = read_file(in(folder, "a.handout.html"), kMost);
  CHECK_THAT(handout, Contains("Pinned vs pageable memory") && Contains("class=\"right\""));
  driver->workspace().set_knob(0, "copy.count", std::int64_t{9});
  driver->settle();
  CHECK(write_export(driver->workspace(), in(folder, "a.students.html")) ==
        "The handout is in " + in(folder, "a.students.html") + ".");
  const std::string sheet = read_file(in(folder, "a.students.html"), kMost);
  CHECK_THAT(sheet, !Contains("class=\"right\""));
  CHECK_THAT(sheet, Contains("The same bytes cross the same link"));
  write_export(driver->workspace(), in(folder, "b.handout.html"));
  CHECK(read_file(in(folder, "b.handout.html"), kMost) == handout);
}

TEST_CASE("an export is of what was open when it was asked for, and may be carried out elsewhere") {
  REQUIRE_DRIVER(driver);
  const test::TemporaryFolder folder;
  driver->open_revealed("pinned-vs-pageable");
  const std::string handout = in(folder, "a.handout.html"), runs = in(folder, "a.tsrun");
  const std::vector<ExportWork> works = {export_work(driver->workspace(), handout),
                                         export_work(driver->workspace(), runs)};
  driver->workspace().open_lesson(scenario::find_lesson("time-it-right"));
  driver->settle();
  for (const ExportWork& work : works) CHECK(work([] { return true; }).files.empty());
  CHECK_FALSE(is_there(handout));
  CHECK_FALSE(is_there(runs));
  std::vector<Written> written(works.size());
  std::thread elsewhere([&] {
    for (std::size_t i = 0; i < works.size(); ++i) written[i] = works[i]([] { return false; });
  });
  elsewhere.join();
  CHECK(written[0].files == std::vector<std::filesystem::path>{handout});
  CHECK(written[0].sentence == "The handout is in " + handout + ".");
  CHECK_THAT(read_file(handout, kMost),
             Contains("Pinned vs pageable memory") && Contains("class=\"answer solution\""));
  CHECK(analysis::open_runs(runs).subject.lesson == "pinned-vs-pageable");
}

TEST_CASE("the window goes on while a handout's solutions are carried out") {
  REQUIRE_DRIVER(driver, 1280, 720);
  const test::TemporaryFolder folder;
  driver->open_revealed("time-to-a-loss");
  const std::string file = in(folder, "a.handout.html");
  driver->workspace().notice.clear();
  bool drawn_meanwhile = false, refused = false;
  const auto ask = [&](ImGuiTestContext* context) {
    context->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_E);
    context->KeyCharsReplace(file.c_str());
    context->KeyPress(ImGuiKey_Enter);
  };
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    ask(context);
    drawn_meanwhile = driver->workspace().notice.empty() && !is_there(file);
    ask(context);
    refused =
        driver->workspace().notice == file + " is still being written; wait for it, or cancel it.";
  }));
  CHECK(drawn_meanwhile);
  CHECK(refused);
  // The driver lets it end.
  CHECK(driver->workspace().notice == "The handout is in " + file + ".");
  CHECK_THAT(read_file(file, kMost), Contains("class=\"answer solution\""));
}

TEST_CASE("the answers to a lesson are exported as they are handed in") {
  REQUIRE_DRIVER(driver);
  const test::TemporaryFolder folder;
  CHECK_THROWS_WITH(write_export(driver->workspace(), in(folder, "x.answers.json")),
                    Contains("none is open"));
  driver->workspace().record.set_student("Ada");
  driver->open_revealed("pinned-vs-pageable");
  write_export(driver->workspace(), in(folder, "a.answers.json"));
  const std::string text = read_file(in(folder, "a.answers.json"), kMost);
  const scenario::Answers answers = scenario::parse_answers(text, "a.answers.json");
  CHECK(answers.lesson == "pinned-vs-pageable");
  CHECK(answers.student == "Ada");
  CHECK(export_kind_of("a.answers.json")->name == "Answers");
  CHECK(export_kind_of("a.json")->name == "Traces");
}

TEST_CASE("the export sheet's arrows choose what is written, and the name follows") {
  REQUIRE_DRIVER(driver, 1280, 720);
  const test::TemporaryFolder folder;
  driver->open_revealed("pinned-vs-pageable");
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    context->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_E);
    context->KeyCharsReplace(in(folder, "x.html").c_str());
    context->KeyPress(ImGuiKey_DownArrow);
  }));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  REQUIRE(driver->act([](ImGuiTestContext* context) { context->KeyPress(ImGuiKey_Enter); }));
  CHECK(driver->workspace().notice == "The handout is in " + in(folder, "x.handout.html") + ".");
  CHECK(with_ending("a.json.gz", *export_kind_of("b.csv")) == "a.csv");
  CHECK(with_ending("a", *export_kind_of("b.tsrun")) == "a.tsrun");
  CHECK(with_ending("a.students.html", *export_kind_of("b.html")) == "a.html");
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
