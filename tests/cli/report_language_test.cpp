// The language of a report: that of its lesson, else the one that is asked for.
#include <catch2/catch.hpp>

#include "cli/program.h"

using namespace trainscope::test;
using Catch::Contains;

namespace {

// What the command writes with --html.
std::string report_of(const std::string& arguments) {
  const Folder folder;
  const std::string file = folder.file("r.html");
  const Result ran = run(arguments + " --html " + file);
  INFO(arguments << "\n" << ran.err);
  CHECK(ran.code == 0);
  return read(file);
}

void is_german(const std::string& html) {
  CHECK_THAT(html, Contains("<html lang=\"de\">") && Contains(">Zeitachsen</h2>") &&
                       Contains(">Anmerkungen</h2>") && !Contains(">Timelines</h2>"));
}

void is_english(const std::string& html) {
  CHECK_THAT(html, Contains("<html lang=\"en\">") && Contains(">Timelines</h2>") &&
                       Contains(">Notes</h2>"));
}

}  // namespace

TEST_CASE("a report of a lesson is in the lesson's language, saved and opened too") {
  is_english(report_of("run pinned-vs-pageable"));
  is_english(report_of("run pinned-vs-pageable --lang en"));
  const Folder folder;
  const std::string html =
      saved_and_opened("run pinned-vs-pageable --lang de", folder.file("de.tsrun"));
  is_german(html);
  CHECK_THAT(html, Contains("Gepinnter und auslagerbarer Speicher") &&
                       Contains(">Vergleich</h2>") && Contains(" so schnell</p>") &&
                       Contains("<strong>19,") && Contains("<dt>Rechner</dt>"));
}

TEST_CASE("a report of runs without a lesson is in the language that is asked for") {
  const Folder folder;
  const std::string trace = folder.file("t.json"), saved = folder.file("t.tsrun");
  const std::string copies = "run --set workload=copy";
  is_german(report_of(copies + " --lang de --trace " + trace + " --save " + saved));
  is_english(report_of(copies));
  is_german(report_of("import " + trace + " --lang de"));
  is_english(report_of("import " + trace));
  is_german(report_of("compare " + trace + " " + trace + " --lang de"));
  is_english(report_of("compare " + trace + " " + trace));
  is_german(report_of("run " + saved));
  is_english(report_of("run " + saved + " --lang en"));
}

TEST_CASE("a report's language that there is not is refused before anything is read") {
  for (const char* command : {"import none.json", "compare a.tsrun b.tsrun", "run a.tsrun"})
    refuses(std::string(command) + " --lang xx", 2, "there are en, de");
}
