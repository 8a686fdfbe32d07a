#include "base/percent.h"

#include <catch2/catch.hpp>

#include "base/error.h"

namespace trainscope {

using Catch::Contains;

TEST_CASE("bytes that stand as %XX are read, and what is no such byte is told") {
  CHECK(percent_decoded("a%20b%2Bc", "the link") == "a b+c");
  CHECK(percent_decoded("%C3%BC", "the link") == "ü");
  CHECK_THROWS_WITH(percent_decoded("50%", "the link"),
                    "the link has \"%\", where % and two hexadecimal digits are meant");
  CHECK_THROWS_WITH(percent_decoded("%4x", "the link"), Contains("has \"%4x\""));
  CHECK_THROWS_WITH(percent_decoded("a%00", "the link"), Contains("stands for no letter"));
}

TEST_CASE("a file that a desktop hands over as an address is the file itself") {
  CHECK(file_named("my%20run.tsrun") == "my%20run.tsrun");
  CHECK(file_named("file:///home/ada/my%20run.tsrun") == "/home/ada/my run.tsrun");
  CHECK(file_named("file://localhost/tmp/run.tsrun") == "/tmp/run.tsrun");
  CHECK_THROWS_WITH(file_named("file://ada/run.tsrun"), Contains("of another machine"));
  CHECK_THROWS_WITH(file_named("file://localhosts/run.tsrun"), Contains("of another machine"));
  CHECK_THROWS_AS(file_named("file:///tmp/%"), InputError);
}

}  // namespace trainscope
