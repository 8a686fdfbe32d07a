// The points of a class, as a learning platform takes them.

#include "scenario/gradebook.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "base/error.h"

using namespace trainscope;
using namespace trainscope::scenario;
using Catch::Contains;

namespace {

Grade graded(const std::string& file, const std::string& student, const std::string& lesson,
             int points, int written = 0) {
  Grade grade;
  grade.file = file;
  grade.student = student;
  grade.lesson = lesson;
  grade.written += std::chrono::hours(written);
  for (int i = 0; i < 3; ++i) {
    Mark mark;
    mark.mark = i < points ? MarkKind::kRight : MarkKind::kWrong;
    grade.marks.push_back(mark);
  }
  return grade;
}

Roster three() {
  return parse_roster("Name,ID,email\nAda Lovelace,17,ada@x.org\nBob,4,b@x.org\nEve,5,\n", "r.csv");
}

std::string refusal(const std::string& text) {
  try {
    parse_roster(text, "r.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a gradebook has a row a student of the roster and a column a lesson") {
  const Roster roster = three();
  const Gradebook book = gradebook_of(
      {graded("a1.json", "ada lovelace ", "sdpa", 2), graded("b.json", "Bob", "fuse-it", 0),
       graded("a2.json", "Ada Lovelace", "fuse-it", 3)},
      &roster);
  CHECK(gradebook_csv(book) ==
        "name,id,email,fuse-it,sdpa,total\r\n"
        "Ada Lovelace,17,ada@x.org,3,2,5\r\n"
        "Bob,4,b@x.org,0,,0\r\n"
        "Eve,5,,,,\r\n");
  REQUIRE(book.told.size() == 1);
  CHECK(book.told[0] == "1 of 3 students have no file: Eve");
}

TEST_CASE("a name that is not on the roster, and a file without one, are told and in no row") {
  const Roster roster = three();
  const Gradebook book = gradebook_of(
      {graded("a.json", "Ada Lovelase", "sdpa", 2), graded("n.json", "  ", "sdpa", 1)}, &roster);
  CHECK_THAT(gradebook_csv(book), !Contains("Lovelase") && Contains("Eve,5,,\r\n"));
  REQUIRE(book.told.size() == 3);
  CHECK_THAT(book.told[0], Contains("a.json: Ada Lovelase is not on the roster") &&
                               Contains("did you mean Ada Lovelace?"));
  CHECK_THAT(book.told[1], Contains("n.json: has no name"));
  CHECK_THAT(book.told[2], Contains("3 of 3 students"));
}

TEST_CASE("of two files of a student for a lesson the later one counts, and that is told") {
  const Grade early = graded("early.json", "Bob", "sdpa", 3, 1),
              late = graded("late.json", "bob", "sdpa", 1, 2);
  for (const auto& grades : {std::vector{early, late}, std::vector{late, early}}) {
    const Gradebook book = gradebook_of(grades, nullptr);
    REQUIRE(book.rows.size() == 1);
    CHECK(book.rows[0].points.at("sdpa") == 1);
    REQUIRE(book.told.size() == 1);
    CHECK_THAT(book.told[0], Contains("has two files for sdpa: late.json, the later one, counts, "
                                      "and early.json does not"));
  }
}

TEST_CASE("without a roster a gradebook has those who handed in, by name") {
  const Gradebook book = gradebook_of(
      {graded("e.json", "Eve", "sdpa", 1), graded("a.json", "ada", "sdpa", 2)}, nullptr);
  CHECK(gradebook_csv(book) == "name,sdpa,total\r\nada,2,2\r\nEve,1,1\r\n");
  CHECK(book.told.empty());
}

TEST_CASE("a name that is a formula is a name in the gradebook") {
  const Gradebook book = gradebook_of({graded("e.json", "=cmd|'/C calc'!A0", "sdpa", 1)}, nullptr);
  CHECK(gradebook_csv(book) == "name,sdpa,total\r\n'=cmd|'/C calc'!A0,1,1\r\n");
}

TEST_CASE("what is no roster is refused with its line") {
  CHECK_THAT(refusal(""), Contains("r.csv:1: has no column name"));
  CHECK_THAT(refusal("name,matriculation\nAda,1\n"), Contains("r.csv:1: has no column id"));
  CHECK_THAT(refusal("name,id\n"), Contains("there is no student"));
  CHECK_THAT(refusal("name,id\nAda,1\nBob,\n"), Contains("r.csv:3: Bob has no id"));
  CHECK_THAT(refusal("name,id\nAda,1\n ADA,2\n"), Contains("r.csv:3: ADA stands in it twice"));
  CHECK_THAT(refusal("name,id\nAda,1\nBob,1\n"), Contains("has the id 1, as has Ada"));
  CHECK_THAT(refusal("name,id\n,1\n"), Contains("r.csv:2: there is no name"));
  CHECK_THAT(refusal("name,id\n\"Ada,1\n"), Contains("r.csv: line 2 has a quote"));
  CHECK(refusal("id;email;name\n1;a@x;Ada\n") == "no error");
}
