// Words and claims that a lesson of one's own brings along.
#include <catch2/catch.hpp>

#include "base/error.h"
#include "scenario/lesson.h"
#include "support/edited_lesson.h"

using namespace trainscope;
using Catch::Contains;
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
