// What the summary of one run says, and what can be done from it.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "base/units.h"
#include "ui/app/window/layout.h"
#include "ui/read_text.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// Once what was tried is told; what takes long comes later.
bool waits_for(Driver& driver, const std::string& words) {
  using Clock = std::chrono::steady_clock;
  for (const auto end = Clock::now() + std::chrono::seconds(60); Clock::now() < end;) {
    driver.settle();
    if (says(words, "Summary")) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

RunPointer small_training() {
  return run_of("A", {"workload=train", "model.name=mlp", "steps=4", "machine=h200-1"});
}

}  // namespace

TEST_CASE("what was tried stands a row a change, with its time and what it saves") {
  REQUIRE_DRIVER(driver, 1366, 2000);
  driver->workspace().open_runs({small_training()});
  REQUIRE(waits_for(*driver, "Tried (SIMULATED), instead of "));
  const auto findings = driver->app().deck().states.summary.findings;
  REQUIRE(findings);
  int rows = 0;
  for (const analysis::Finding& one : *findings)
    for (const analysis::Trial& trial : one.trials) {
      // Each word whole, on one line or several.
      CAPTURE(trial.settings);
      CHECK(says(trial.settings, "Summary"));
      const double saved = 100 * (trial.nanos / one.untried - 1);
      CHECK(says(format_nanos(trial.nanos), "Summary"));
      CHECK(says(fmt::format("{:+.0f} %", saved), "Summary"));
      ++rows;
    }
  CHECK(rows > 1);
  keep_picture(*driver, "summary-trials");
}

TEST_CASE("a name in a text is not broken after its dots") {
  REQUIRE_DRIVER(driver);
  const Theme theme = make_theme(ThemeMode::kDark, 1, driver->window().fonts());
  const std::string words = "aaaa compile.cuda_graph";
  const float size = theme.size.small;
  const float wide = text_size(theme.font.text, size, "aaaa compile.cuda").x;
  for (int i = 0; i < 3; ++i) {  // a window is measured in its first frames
    driver->window().begin_frame();
    ImGui::Begin("narrow");
    ImGui::BeginChild("##text", {wide, 200});
    text(theme.font.text, size, theme.text, words, true);
    ImGui::EndChild();
    ImGui::End();
    driver->window().end_frame();
  }
  float top = 1e9F, left = 1e9F, right = 0;  // of the first line
  std::vector<cut_text_detail::TextRun> runs;
  for (const ImDrawList* list : ImGui::GetDrawData()->CmdLists)
    if (std::string_view(list->_OwnerName).find("##text") != std::string_view::npos)
      for (const auto& run : cut_text_detail::runs_of(*list)) runs.push_back(run);
  REQUIRE(runs.size() > 1);
  for (const auto& run : runs) top = std::min(top, run.min.y), left = std::min(left, run.min.x);
  for (const auto& run : runs)
    if (run.min.y < top + size * 0.9F) right = std::max(right, run.max.x);
  CHECK(right - left < text_size(theme.font.text, size, "aaaa c").x);
}

TEST_CASE("the knobs of a run alone are a press away, and what asks for their panel opens them") {
  REQUIRE_DRIVER(driver);
  driver->workspace().open_runs({small_training()});
  driver->settle();
  REQUIRE(driver->click(std::string("//") + kSummaryPanel + "/**/Change knobs…"));
  CHECK(driver->app().attention().all_parameters);
  driver->app().attention().all_parameters = false;
  driver->settle();
  driver->app().run("layout.knobs");
  CHECK(driver->app().attention().all_parameters);
}
