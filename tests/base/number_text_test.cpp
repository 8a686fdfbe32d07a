#include "base/number_text.h"

#include <catch2/catch.hpp>

#include <string_view>

namespace trainscope {
namespace {

struct Read {
  double value = -1;
  std::size_t letters = 0;
  std::errc error{};
  bool operator==(const Read&) const = default;
};

Read scanned(std::string_view text) {
  Read read;
  const auto [end, error] = scan_number(text.data(), text.data() + text.size(), read.value);
  read.letters = static_cast<std::size_t>(end - text.data());
  read.error = error;
  return read;
}

Read as_by_the_library(std::string_view text) {
  Read read;
  const auto [end, error] = read_number(text.data(), text.data() + text.size(), read.value);
  read.letters = static_cast<std::size_t>(end - text.data());
  read.error = error;
  return read;
}

}  // namespace

TEST_CASE("a number is scanned to where the library reads it to, with the same value") {
  for (const char* text :
       {"0", "-0", "1.5", "-2.25x", ".5", "5.", "5.e2", "1e3", "1e", "1e+", "1E-3 ", "12GB", "0.1",
        "1.7976931348623157e308", "123456789012345678901234567890", "4 MiB", "1.2.3"}) {
    CAPTURE(text);
    CHECK(scanned(text) == as_by_the_library(text));
  }
}

TEST_CASE("what is no number, or too large for one, leaves the value") {
  for (const char* text : {"", "-", ".", "+1", " 1", "e3", "x", "1e999"}) {
    CAPTURE(text);
    CHECK(scanned(text) == as_by_the_library(text));
    CHECK(scanned(text).value == -1);
  }
}

TEST_CASE("what stands behind the end is not read") {
  const std::string_view text = "1234";
  CHECK(scanned(text.substr(0, 2)).value == 12);
}

}  // namespace trainscope
