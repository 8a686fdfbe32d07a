// Words and claims that a lesson of one's own brings along.
#include <catch2/catch.hpp>

#include "analysis/runs/run.h"
#include "base/error.h"
#include "scenario/lesson.h"
#include "support/edited_lesson.h"

using namespace trainscope;
using Catch::Contains;
using test::Edit;
using test::Edited;

namespace {

Edited of_its_own() {
  return Edited({{"claim = \"C1\"", "claim = \"my-1\""},
                 {"terms = [\"pageable\",", "terms = [\"link budget\", \"pageable\","}});
}

void write_beside(const Edited& lesson, const char* name, const char* text) {
  write_file(lesson.file().parent_path() / name, text);
}

std::string fault_of(const Edited& lesson) {
  try {
    scenario::load_lesson(lesson.file());
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a lesson's terms and claim are those of the files beside it, then the shipped ones") {
  const Edited edited = of_its_own();
  write_beside(edited, "glossary.toml",
               "[\"link budget\"]\ntext = \"What may be sent.\"\nalso = [\"budget\"]\n"
               "[pinned]\ntext = \"Held fast.\"\n");
  write_beside(edited, "claims.toml", "my-1 = \"Twice the link, half the step\"\n");
  const scenario::Lesson lesson = scenario::load_lesson(edited.file());
  CHECK(lesson.heard == "Twice the link, half the step");
  REQUIRE(lesson.glossary.size() == 5);
  CHECK(lesson.glossary[0].text == "What may be sent.");
  CHECK(lesson.glossary[0].also == std::vector<std::string>{"budget"});
  CHECK(lesson.glossary[1].name == "pageable");
  CHECK_THAT(lesson.glossary[1].text, Contains("memory"));
  CHECK(lesson.glossary[2].text == "Held fast.");
  // And the two are no lessons of their folder.
  const scenario::Shelf shelf = scenario::readable_lessons({}, {{edited.file().parent_path()}, {}});
  CHECK(shelf.unreadable.empty());
  for (const scenario::Lesson& one : shelf.lessons)
    CHECK((one.id != "glossary" && one.id != "claims"));
}

TEST_CASE("a lesson's machines may be files of one's own, from the lesson's folder") {
  const Edited edited(std::vector<Edit>{
      {"machine = \"h200-1\"", "machine = \"mine.toml\"\nmachines = [\"mine.toml\", \"t4-1\"]"}});
  CHECK_THAT(fault_of(edited),
             Contains(".toml:13:") && Contains("mine.toml: there is no such file"));
  write_beside(edited, "mine.toml", "id = \"mine\"\nbase = \"t4-1\"\nname = \"a card of mine\"\n");
  const scenario::Lesson lesson = scenario::load_lesson(edited.file());
  const std::string file = (edited.file().parent_path() / "mine.toml").string();
  CHECK(lesson.side("A").word("machine") == file);
  CHECK(lesson.machines == std::vector<std::string>{file, "t4-1"});
  CHECK(analysis::run_config("A", lesson.side("A")).machine->id == "mine");
}

TEST_CASE("a machine that there is not is told where it is named, and once") {
  const Edited edited(
      std::vector<Edit>{{"machine = \"h200-1\"", "machine = \"h201-1\"\nmachines = [\"t4-1\"]"}});
  std::vector<std::string> faults;
  scenario::load_lesson(edited.file(), faults);
  REQUIRE(faults.size() == 1);
  CHECK_THAT(faults[0], Contains(".toml:12:11: there is no machine h201-1 (did you mean"));
}

TEST_CASE("a term and a claim that neither file has are refused, with the nearest of both") {
  const Edited edited = of_its_own();
  CHECK_THAT(fault_of(edited),
             Contains("there is no claim my-1 in a claims.toml beside the lesson"));
  write_beside(edited, "claims.toml", "my-1 = \"Twice the link, half the step\"\n");
  write_beside(edited, "glossary.toml", "[\"link budgets\"]\ntext = \"What may be sent.\"\n");
  CHECK_THAT(fault_of(edited),
             Contains("there is no term link budget in a glossary.toml beside the lesson") &&
                 Contains("(did you mean link budgets?)"));
  write_beside(edited, "glossary.toml", "[\"link budget\"]\ntekst = \"What may be sent.\"\n");
  CHECK_THAT(fault_of(edited), Contains("glossary.toml:2:") && Contains("did you mean text?"));
}
