// Notes belong to the run they were written on, whichever side shows it.
#include "ui/app/workspace/notebook.h"

#include <catch2/catch.hpp>
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

TEST_CASE("a note is on every run of the same config and on no other") {
  const RunPointer first = run_of("A", {"workload=copy", "copy.memory=pinned"});
  const RunPointer again = run_of("B", {"workload=copy", "copy.memory=pinned"});
  const RunPointer other = run_of("A", {"workload=copy", "copy.memory=pageable"});
  Notebook notebook;
  REQUIRE(notebook.add(*first, {0, 10, 20, "one"}) == 0U);
  REQUIRE(notebook.add(*first, {0, 5, 20, "before it"}) == 0U);
  CHECK(notebook.of(*again).size() == 2);
  CHECK(notebook.of(*again)[1].text == "one");
  CHECK(notebook.of(*other).empty());
  // A run from elsewhere is another one, whatever its config.
  analysis::Run measured = *first;
  const auto trace = std::make_shared<trace::Trace>(
      trace::Origin{trace::OriginKind::kMeasured, "a device", "", 0});
  measured.trace = trace;
  CHECK(notebook.of(measured).empty());
}

TEST_CASE("a note without words is none, one that is emptied goes, one that is changed stays one") {
  const RunPointer run = run_of("A", {"workload=copy"});
  Notebook notebook;
  CHECK_FALSE(notebook.add(*run, {0, 0, 1, "  \n "}));
  CHECK_FALSE(notebook.add(*run, {9999, 0, 1, "no such lane"}));
  REQUIRE(notebook.add(*run, {0, 0, 1, " spaced out\n"}) == 0U);
  CHECK(notebook.of(*run)[0].text == "spaced out");
  CHECK(notebook.add(*run, {0, 0, 1, "spaced out"}) == 0U);
  CHECK(notebook.of(*run).size() == 1);
  CHECK(notebook.change(*run, 0, "better") == 0U);
  CHECK(notebook.of(*run)[0].text == "better");
  CHECK_FALSE(notebook.change(*run, 0, ""));
  CHECK(notebook.of(*run).empty());
  notebook.remove(*run, 3);
  // Cut at a whole letter.
  const std::string umlauts = [] {
    std::string text = "x";
    while (text.size() <= analysis::kLongestNote) text += "ü";
    return text;
  }();
  REQUIRE(notebook.add(*run, {0, 0, 1, umlauts}));
  CHECK(notebook.of(*run)[0].text.size() == analysis::kLongestNote - 1);
}

TEST_CASE("notes come with a run that is opened and go with one that is saved") {
  auto run = std::make_shared<analysis::Run>(*run_of("A", {"workload=copy"}));
  run->notes = {{0, 0, 1, "from the file"}};
  Notebook notebook;
  CHECK(notebook.with_notes(run_of("A", {"workload=copy", "copy.count=2"}))->notes.empty());
  notebook.add(*run, {0, 5, 6, "from before"});
  notebook.take_over(*run);
  notebook.take_over(*run);
  const RunPointer saved = notebook.with_notes(run);
  REQUIRE(saved->notes.size() == 2);
  CHECK(saved->notes[0].text == "from the file");
  CHECK(saved->notes[1].text == "from before");
  CHECK(notebook.with_notes(saved) == saved);
  CHECK(run->notes.size() == 1);
}
