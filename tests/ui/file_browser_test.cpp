// Opening files: what a folder shows, what was opened lately, and the sheet by keyboard alone.
#include "ui/app/files/file_browser.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "analysis/metrics/rank_metrics.h"
#include "analysis/runs/run.h"
#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "support/foreign_ranks.h"
#include "trace/chrome_writer.h"
#include "ui/app/files/recent_files.h"
#include "ui/cut_text.h"
#include "ui/driver.h"

using namespace trainscope;
using namespace trainscope::ui;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

// A folder with what can be opened and what cannot.
struct Folder {
  Folder() : path(fs::temp_directory_path() / ("trainscope-open-" + std::to_string(::getpid()))) {
    fs::remove_all(path);
    fs::create_directories(path / "inner");
    fs::create_directories(path / ".hidden");
    for (const char* name :
         {"b.json", "A.tsrun", "c.json.gz", "notes.txt", ".secret.json", "inner/deep.json"})
      write_file(path / name, "{}");
    fs::copy_file(home_folder() / "scenarios" / "pinned-vs-pageable.toml",
                  path / "pinned-vs-pageable.toml");
    write_file(path / "config.toml", "workload = \"copy\"\ncopy.count = 2\n");
    path = fs::canonical(path);
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

std::vector<std::string> names_of(const std::vector<BrowserRow>& rows) {
  std::vector<std::string> names;
  for (const BrowserRow& row : rows) names.push_back(row.name);
  return names;
}

bool key(Driver& driver, ImGuiKey which) {
  return driver.act([which](ImGuiTestContext* context) { context->KeyPress(which); });
}

}  // namespace

TEST_CASE("a folder shows folders first, then what can be opened, and nothing that is hidden") {
  const Folder folder;
  const auto rows = read_folder(folder.path);
  CHECK(names_of(rows) == std::vector<std::string>{"inner", "A.tsrun", "b.json", "c.json.gz",
                                                   "config.toml", "pinned-vs-pageable.toml"});
  CHECK(rows[0].size.empty());
  CHECK(rows[2].size == "2 B");
  CHECK(rows[2].detail == "trace");
  CHECK(rows[2].changed.size() == std::string("2026-03-14 09:26").size());
  CHECK_THROWS_WITH(read_folder(folder.path / "nowhere"), Contains("no such folder"));
}

TEST_CASE("typing narrows, Enter enters, and going up stands on the folder one came from") {
  const Folder folder;
  FileBrowser browser;
  browser.open(folder.path, {});
  browser.narrow("JSON");
  CHECK(names_of(browser.rows()) == std::vector<std::string>{"b.json", "c.json.gz"});
  browser.move(1);
  CHECK(browser.confirm() == folder.path / "c.json.gz");
  browser.narrow("inn");
  CHECK(browser.confirm().empty());
  CHECK(browser.folder() == folder.path / "inner");
  CHECK(browser.words().empty());
  CHECK(names_of(browser.rows()) == std::vector<std::string>{"..", "deep.json"});
  CHECK(browser.confirm().empty());  // the folder above
  CHECK(browser.folder() == folder.path);
  CHECK(browser.rows()[browser.chosen()].name == "inner");
  browser.move(-2);
  CHECK(browser.rows()[browser.chosen()].name == "pinned-vs-pageable.toml");
}

TEST_CASE("several traces in a folder can be opened as the ranks of one run") {
  const Folder folder;
  FileBrowser browser;
  browser.open(folder.path, {});
  CHECK(names_of(browser.rows()) ==
        std::vector<std::string>{"..", "inner", "All 2 traces here as one run", "A.tsrun", "b.json",
                                 "c.json.gz", "config.toml", "pinned-vs-pageable.toml"});
  browser.narrow("as one");
  CHECK(browser.confirm() == folder.path);
  browser.enter(folder.path / "inner");
  CHECK(names_of(browser.rows()) == std::vector<std::string>{"..", "deep.json"});
  // Opened lately, the folder is opened again; typed, it is walked into.
  browser.open(folder.path / "inner", {folder.path});
  CHECK_FALSE(browser.rows()[0].gone);
  CHECK(browser.rows()[0].size.empty());
  CHECK(browser.confirm() == folder.path);
  browser.narrow(folder.path.string());
  CHECK(browser.confirm().empty());
  CHECK(browser.folder() == folder.path);
}

TEST_CASE("a path that is typed is meant as it stands, and a wrong one is said in place") {
  const Folder folder;
  FileBrowser browser;
  browser.open(folder.path, {});
  browser.narrow((folder.path / "inner" / "deep.json").string());
  CHECK(browser.confirm() == folder.path / "inner" / "deep.json");
  browser.narrow("/nowhere/at/all.json");
  CHECK(browser.confirm().empty());
  CHECK_THAT(browser.error(), Contains("/nowhere/at/all.json: there is no such file"));
  CHECK(browser.folder() == folder.path);
  browser.narrow("b");
  CHECK(browser.error().empty());
}

TEST_CASE("what was opened lately comes back the next time, latest first, each once") {
  const Folder folder;
  RecentFiles recent(folder.path);
  for (int i = 0; i < 20; ++i) recent.add(folder.path / (std::to_string(i) + ".json"));
  recent.add(folder.path / "inner" / ".." / "15.json");
  RecentFiles back(folder.path);
  REQUIRE(back.files().size() == RecentFiles::kMost);
  CHECK(back.files()[0] == folder.path / "15.json");
  CHECK(back.files()[1] == folder.path / "19.json");
  back.drop(folder.path / "19.json");
  CHECK(RecentFiles(folder.path).files()[1] == folder.path / "18.json");
  RecentFiles nowhere;
  nowhere.add(folder.path / "b.json");
  CHECK(nowhere.files().size() == 1);
}

TEST_CASE("a recent file that is gone is said to be, and is forgotten when asked") {
  const Folder folder;
  FileBrowser browser;
  browser.open(folder.path, {folder.path / "gone.json", folder.path / "b.json"});
  REQUIRE(browser.rows()[0].kind == BrowserRow::Kind::kRecent);
  CHECK(browser.rows()[0].gone);
  CHECK_FALSE(browser.rows()[1].gone);
  CHECK(browser.confirm().empty());
  CHECK_THAT(browser.error(), Contains("gone.json: this file is gone"));
  browser.drop(folder.path / "gone.json");
  CHECK(browser.error().empty());
  CHECK(browser.rows()[0].name == "b.json");
}

TEST_CASE("a lesson is found and opened by keys alone, and stands among what was opened") {
  REQUIRE_DRIVER(driver, 1280, 720);
  const Folder folder;
  driver->settle();
  driver->app().files().keep_recent_in(folder.path / ".hidden");
  driver->app().files().recent().add(folder.path / "inner" / "deep.json");
  REQUIRE(driver->act(
      [](ImGuiTestContext* context) { context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_O); }));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  REQUIRE(key(*driver, ImGuiKey_Backspace));  // from inner to the folder above
  REQUIRE(driver->act([](ImGuiTestContext* context) { context->KeyChars("pinned"); }));
  REQUIRE(key(*driver, ImGuiKey_Enter));
  REQUIRE(driver->workspace().lesson());
  CHECK(driver->workspace().lesson()->lesson.file == folder.path / "pinned-vs-pageable.toml");
  CHECK(driver->app().files().recent().files().front() == folder.path / "pinned-vs-pageable.toml");
  driver->app().run("lesson.shelf");
  driver->settle();
  driver->app().open_palette();
  driver->settle();
  REQUIRE(driver->act(
      [](ImGuiTestContext* context) { context->KeyChars("Open pinned-vs-pageable.toml"); }));
  REQUIRE(key(*driver, ImGuiKey_Enter));
  CHECK(driver->workspace().lesson());
}

TEST_CASE("what is wrong with a file is said on the sheet, which stays") {
  REQUIRE_DRIVER(driver, 1280, 720);
  const Folder folder;
  write_file(folder.path / "inner" / "broken.toml", "format = 1\nid = 3\n");
  driver->app().files().recent().add(folder.path / "inner" / "deep.json");
  driver->settle();
  driver->app().run("file.open");
  driver->settle();
  REQUIRE(driver->act([](ImGuiTestContext* context) { context->KeyChars("broken"); }));
  REQUIRE(key(*driver, ImGuiKey_Enter));
  CHECK(driver->workspace().screen() == Screen::kShelf);
  CHECK(ImGui::IsPopupOpen("Open##sheet",
                           ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
}

TEST_CASE("every kind of file that is dropped opens as what it is, or says what to do") {
  REQUIRE_DRIVER(driver);
  const Folder folder;
  Application& app = driver->app();
  driver->settle();
  const fs::path machine = home_folder() / "assets" / "machines" / "t4-1.toml";
  CHECK_THROWS_WITH(app.files().open(machine), Contains("open a lesson first"));
  CHECK_THROWS_WITH(app.files().open(folder.path / "notes.txt"), Contains("nothing to open"));
  CHECK_THROWS_WITH(app.files().open(folder.path / "none.json"), Contains("no such file"));
  CHECK_THROWS_WITH(app.files().open(home_folder() / "scenarios" / "pinned-vs-pageable.de.toml"),
                    Contains("is a translation"));
  app.files().open(folder.path / "config.toml");
  driver->settle();
  CHECK(driver->workspace().sides()[0].config.whole("copy.count") == 2);
  REQUIRE(driver->workspace().sides()[0].run);
  app.files().open(machine);
  driver->settle();
  CHECK(driver->workspace().sides()[0].config.word("machine") == machine.string());
  CHECK(driver->workspace().sides()[0].run->machine->gpu.name.find("T4") != std::string::npos);
}

TEST_CASE("a folder of ranks that is dropped opens as one run") {
  REQUIRE_DRIVER(driver);
  const test::TemporaryFolder folder;
  program::Config config;
  for (const char* setting :
       {"machine=dgx1-v100-8", "model.name=resnet18", "batch_size=8", "steps=3",
        "parallel.strategy=ddp", "parallel.world_size=2", "straggler.rank=1", "straggler.factor=2"})
    config.set_text(setting);
  trace::write_chrome_folder(*analysis::run_config("A", config).trace, folder.path() / "own", {},
                             ".json");
  test::write_foreign_ranks(folder.path() / "own", folder.path() / "job", {0, 500});
  driver->settle();
  driver->app().files().open_dropped({folder.path() / "job"});
  driver->settle();
  REQUIRE(driver->workspace().current_sides().size() == 1);
  const analysis::Run& run = *driver->workspace().sides()[0].run;
  CHECK(run.trace->origin().subject == "job");
  CHECK(analysis::rank_count(run) == 2);
  CHECK(run.ranks.size() == 2);
  CHECK(driver->app().files().recent().files().front() == folder.path() / "job");
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  keep_picture(*driver, "a-job");
  driver->app().files().open_dropped({folder.path()});
  driver->settle();
  CHECK_THAT(driver->workspace().notice + driver->workspace().sides()[0].error,
             Contains("this folder holds no trace"));
}

TEST_CASE("saved runs are read beside the window, and what was open stays where they cannot be") {
  REQUIRE_DRIVER(driver);
  const test::TemporaryFolder folder;
  program::Config config;
  config.set_text("workload=copy");
  analysis::SavedRuns saved;
  saved.runs = {std::make_shared<const analysis::Run>(analysis::run_config("A", config))};
  analysis::save_runs(saved, folder.path() / "a.tsrun");
  driver->settle();
  driver->app().files().open(folder.path() / "a.tsrun");
  CHECK(driver->workspace().screen() == Screen::kShelf);  // no frame has been drawn since
  driver->settle();
  REQUIRE(driver->workspace().screen() != Screen::kShelf);
  REQUIRE(driver->workspace().sides().size() == 1);
  const RunPointer first = driver->workspace().sides()[0].run;
  REQUIRE(first);
  const auto damaged = folder.write("b.tsrun", "no run at all");
  driver->app().files().open(damaged);
  driver->settle();
  CHECK(driver->workspace().notice.find(damaged.string()) != std::string::npos);
  CHECK(driver->workspace().sides()[0].run == first);
}
