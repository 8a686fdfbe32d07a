#include "report/written.h"

#include <catch2/catch.hpp>
#include <memory>

#include "report/runs.h"

using namespace trainscope;

TEST_CASE("a report of two runs that are of no lesson is called by both, and once where alike") {
  const auto run = [](const char* label, const char* file) {
    const trace::Origin origin{trace::OriginKind::kImported, file, "", 0};
    return std::make_shared<analysis::Run>(
        test::run_of(label, std::make_shared<trace::Trace>(origin)));
  };
  analysis::SavedRuns saved;
  saved.runs = {run("A", "before.json"), run("B", "after.json")};
  CHECK(report::report_input(saved).title == "before.json | after.json");
  saved.runs = {run("A", "before.json"), run("B", "before.json")};
  CHECK(report::report_input(saved).title == "before.json");
  saved.subject.title = "Pinned vs pageable memory";
  CHECK(report::report_input(saved).title == "Pinned vs pageable memory");
}
