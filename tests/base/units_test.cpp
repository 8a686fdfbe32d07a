#include "base/units.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace trainscope;

TEST_CASE("a number of bytes is read with binary and decimal units") {
  CHECK(parse_bytes("4096") == 4096);
  CHECK(parse_bytes("64 MiB") == 64 * 1024 * 1024);
  CHECK(parse_bytes("64MiB") == 64 * 1024 * 1024);
  CHECK(parse_bytes("1.5 KiB") == 1536);
  CHECK(parse_bytes("10 GB") == 10'000'000'000);
  CHECK(parse_bytes("1e9") == 1'000'000'000);
  CHECK(parse_bytes("1e18") == 1'000'000'000'000'000'000);
  CHECK(parse_bytes("0") == 0);
}

TEST_CASE("what is no whole number of bytes is refused") {
  for (const char* text : {"", " ", "MiB", "many", "0.5", "1.0001 KiB", "64 MiBs", "64 MiB x",
                           "nan", "inf", "1e19", "1e400", "4 EiB", "1,000", "--1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_bytes(text).has_value());
  }
}

TEST_CASE("a negative number of bytes never becomes a positive one") {
  CHECK(parse_bytes("-1").value_or(-1) < 0);
  CHECK(parse_bytes("-64 MiB").value_or(-1) < 0);
  CHECK_FALSE(parse_bytes("-1e19").has_value());
}

TEST_CASE("a unit has the factor to its base unit, and an unknown one has none") {
  CHECK(unit_factor("GB/s") == 1e9);
  CHECK(unit_factor("MiB") == 1048576);
  CHECK(unit_factor("us") == 1000);
  CHECK(unit_factor("TFLOP/s") == 1e12);
  CHECK(unit_factor("GHz") == 1e9);
  CHECK(unit_factor("%") == 0.01);
  CHECK(unit_factor("") == 1);
  for (const char* unit : {"Gb/s", "gb", "parsec", " GB", "GB ", "us\n"}) {
    CAPTURE(unit);
    CHECK_FALSE(unit_factor(unit).has_value());
  }
}

TEST_CASE("a time is written with three digits in the unit that fits, and zeros are digits") {
  CHECK(format_nanos(0) == "0 ns");
  CHECK(format_nanos(7) == "7 ns");
  CHECK(format_nanos(1'300) == "1.30 us");
  CHECK(format_nanos(5'312'345) == "5.31 ms");
  CHECK(format_nanos(36'060'000) == "36.1 ms");
  CHECK(format_nanos(999'960) == "1.00 ms");
  CHECK(format_nanos(1'000'000) == "1 ms");
  CHECK(format_nanos(49'020'000) == "49.0 ms");
  CHECK(format_nanos(61e9) == "61 s");
  CHECK(format_nanos(-2'500) == "-2.50 us");
}

TEST_CASE("bytes are written in binary units and rates in decimal ones") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(64 * 1048576.0) == "64 MiB");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes(1537) == "1.50 KiB");
  CHECK(format_rate(55.43e9) == "55.4 GB/s");
  CHECK(format_rate(4.8e12) == "4.8 TB/s");
}

TEST_CASE("a count and a share are written without a unit") {
  CHECK(format_count(27'200) == "27.2 k");
  CHECK(format_count(999) == "999");
  CHECK(format_count(999.6) == "1,000");
  CHECK(format_count(-1'890) == "-1,890");
  CHECK(format_count(9'999) == "9,999");
  CHECK(format_count(9'999.6) == "10.0 k");
  CHECK(format_count(10'000) == "10 k");
  CHECK(format_count(0.72) == "0.72");
  CHECK(format_value(0.72, "%") == "72 %");
  CHECK(format_value(0.07, "%") == "7 %");
  CHECK(format_value(0.07001, "%") == "7.00 %");
  CHECK(format_value(2.5e6, "ns") == "2.50 ms");
  CHECK(format_value(989e12, "FLOP/s") == "989 TFLOP/s");
  CHECK(format_value(1'379e12, "FLOP/s") == "1,379 TFLOP/s");
  CHECK(format_value(-12'345'678e12, "FLOP/s") == "-12,345,678 TFLOP/s");
  CHECK(format_value(12, "samples/s") == "12 samples/s");
  CHECK(format_value(2'380.4, "samples/s") == "2,380 samples/s");
  CHECK(format_value(2'380, "FLOP/s") == "2.38 kFLOP/s");
}

TEST_CASE("what is small is written in a smaller unit, and never with a power of ten") {
  CHECK(in_smaller_unit(0.0033, "ms") == "3.3 us");
  CHECK(in_smaller_unit(0.00005, "ms") == "50 ns");
  CHECK(in_smaller_unit(-0.002, "s") == "-2 ms");
  CHECK_FALSE(in_smaller_unit(0.5, "ms"));
  CHECK_FALSE(in_smaller_unit(0, "ms"));
  CHECK_FALSE(in_smaller_unit(0.0033, "samples/s"));
  CHECK(format_value(0.00005, "ms") == "50 ns");
  CHECK(format_value(4.66e-7, "%") == "0.000047 %");
  CHECK(format_value(-1e-7, "%") == "-0.00001 %");
  CHECK(format_value(0.0000466, "%") == "0.00466 %");
}

TEST_CASE("numbers that are none are written all the same") {
  for (const double value :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
        std::numeric_limits<double>::max(), -0.0}) {
    CHECK_FALSE(format_nanos(value).empty());
    CHECK_FALSE(format_bytes(value).empty());
    CHECK_FALSE(format_value(value, "%").empty());
  }
}

TEST_CASE("a factor keeps its digits; a long power of two is written as one") {
  CHECK(format_factor(1) == "1");
  CHECK(format_factor(655) == "655");
  CHECK(format_factor(65536) == "65536");
  CHECK(format_factor(0x1p32) == "2^32");
  CHECK(format_factor(3e9) == "3 G");
  CHECK(format_factor(0.5) == "0.5");
}
