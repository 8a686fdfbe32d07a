#include "base/csv.h"

#include <catch2/catch.hpp>

#include "base/error.h"

using namespace trainscope;

TEST_CASE("a field with commas, quotes or line ends is quoted") {
  std::string text;
  add_csv_line(text, {"name", "a, b", "say \"so\"", "two\nlines", ""});
  CHECK(text == "name,\"a, b\",\"say \"\"so\"\"\",\"two\nlines\",\r\n");
}

TEST_CASE("a field that a spreadsheet would carry out is text, and a number stays one") {
  std::string text;
  add_csv_line(text,
               {"=1+1", "+49 30 12", "-Ada", "@SUM(A1)", "\t=1", "\r=1", "=HYPERLINK(\"x\")"});
  CHECK(text == "'=1+1,'+49 30 12,'-Ada,'@SUM(A1),'\t=1,\"'\r=1\",\"'=HYPERLINK(\"\"x\"\")\"\r\n");
  text.clear();
  add_csv_line(text, {"-1.5", "-2e-07", "-17", "a=b", "", "ada@x.org"});
  CHECK(text == "-1.5,-2e-07,-17,a=b,,ada@x.org\r\n");
  text.clear();
  add_csv_line(text, {"-2+3", "-"});
  CHECK(text == "'-2+3,'-\r\n");
}

TEST_CASE("lines of CSV come back as they were written, and blank ones are passed over") {
  std::string text;
  add_csv_line(text, {"name", "a, b", "say \"so\"", "two\nlines", ""});
  add_csv_line(text, {"Ada", "1", "2", "3", "4"});
  const std::vector<CsvLine> lines = parse_csv("\xEF\xBB\xBF" + text + "\r\n,,\r\nEve");
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].fields ==
        std::vector<std::string>{"name", "a, b", "say \"so\"", "two\nlines", ""});
  CHECK(lines[1].number == 3);  // the first has a line end in it
  CHECK(lines[2].fields == std::vector<std::string>{"Eve"});
  CHECK(lines[2].number == 6);
}

TEST_CASE("CSV of a spreadsheet that writes semicolons or tabs is read by them") {
  const std::vector<std::string> row{"Lovelace, Ada", "7"};
  CHECK(parse_csv("name;id\nLovelace, Ada; 7\n").at(1).fields == row);
  CHECK(parse_csv("name\tid\n\"Lovelace, Ada\" \t7").at(1).fields == row);
  CHECK(parse_csv("").empty());
  CHECK_THROWS_AS(parse_csv("name,id\n\"Ada,1\n"), InputError);
}
