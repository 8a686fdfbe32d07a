#include "base/csv.h"

#include <catch2/catch.hpp>

using namespace trainscope;

TEST_CASE("a field with commas, quotes or line ends is quoted") {
  std::string text;
  add_csv_line(text, {"name", "a, b", "say \"so\"", "two\nlines", ""});
  CHECK(text == "name,\"a, b\",\"say \"\"so\"\"\",\"two\nlines\",\r\n");
}
