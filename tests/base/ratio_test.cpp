#include "base/ratio.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace trainscope;

TEST_CASE("a ratio has three digits, and what is far below 1 is a fraction") {
  CHECK(format_ratio(1) == "1.00");
  CHECK(format_ratio(1.386) == "1.39");
  CHECK(format_ratio(9.996) == "10.0");
  CHECK(format_ratio(24.21) == "24.2");
  CHECK(format_ratio(154.4) == "154");
  CHECK(format_ratio(999.7) == "1,000");
  CHECK(format_ratio(18'182) == "18,200");
  CHECK(format_ratio(1'234'567) == "1,230,000");
  CHECK(format_ratio(0.18) == "0.18");
  CHECK(format_ratio(0.0432) == "0.043");
  CHECK(format_ratio(0.0055) == "1/182");
  CHECK(format_ratio(5.5e-5) == "1/18,200");
  CHECK(format_ratio(-5.5e-5) == "-1/18,200");
}

TEST_CASE("a ratio of nothing, or one that is no number, is written all the same") {
  CHECK(format_ratio(0) == "0");
  CHECK(format_ratio(-0.0) == "0");
  CHECK(format_ratio(std::numeric_limits<double>::infinity()) == "-");
  CHECK(format_ratio(std::numeric_limits<double>::quiet_NaN()) == "-");
  CHECK(format_ratio(3.2e20) == "3.2e+20");
}
