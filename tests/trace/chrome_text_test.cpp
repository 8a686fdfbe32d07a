#include "trace/chrome_text.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

using namespace trainscope;
using namespace trainscope::trace::chrome;

namespace {

std::string microseconds(Nanos time) {
  std::string text;
  append_microseconds(text, time);
  return text;
}

std::string in_quotes(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

}  // namespace

TEST_CASE("a time that is written is read back to the nanosecond") {
  CHECK(microseconds(0) == "0.000");
  CHECK(microseconds(7) == "0.007");
  CHECK(microseconds(1'712'000'000'000'000'001) == "1712000000000000.001");
  CHECK(microseconds(-1'500) == "-1.500");
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const Nanos time = static_cast<Nanos>(random() >> (3 + i % 60)) * (i % 2 == 0 ? 1 : -1);
    Nanos back = 1;
    REQUIRE(read_microseconds(microseconds(time), back) == TimeText::kGood);
    REQUIRE(back == time);
  }
}

TEST_CASE("times of other forms are read exactly, or refused") {
  const auto read = [](std::string_view token) {
    Nanos time = -1;
    CHECK(read_microseconds(token, time) == TimeText::kGood);
    return time;
  };
  CHECK(read("5") == 5'000);
  CHECK(read("5.0004") == 5'000);
  CHECK(read("5.0005") == 5'001);
  CHECK(read("1e3") == 1'000'000);
  CHECK(read("1.5E-3") == 2);  // one and a half nanoseconds
  CHECK(read("0.0000000000000000000000001") == 0);
  CHECK(read("1e-999999999999") == 0);
  CHECK(read("0e999999999999") == 0);
  CHECK(read("1000000000000000.0000000000000000000000000") == 1'000'000'000'000'000'000);
  CHECK(read("\"12.5\"") == 12'500);
  Nanos time = 0;
  for (const char* token : {"", "null", "\"\""})
    CHECK(read_microseconds(token, time) == TimeText::kMissing);
  for (const char* token :
       {"true", "-", ".5", "1.2.3", "1e", "1e+", "0x10", "[", "{", "NaN", "1 2"})
    CHECK(read_microseconds(token, time) == TimeText::kNotANumber);
  for (const char* token : {"1e16", "-1e300", "9223372036854775807", "1e99999999999999999999"})
    CHECK(read_microseconds(token, time) == TimeText::kTooLarge);
}

TEST_CASE("whole numbers are read from numbers and strings") {
  CHECK(integer_of("17") == 17);
  CHECK(integer_of("\"-3\"") == -3);
  CHECK(integer_of("2.75") == 2);
  CHECK(integer_of("1e3") == 1000);
  CHECK(integer_of("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  for (const char* token : {"", "null", "x", "1e400", "99999999999999999999", "\"12 apples\""})
    CHECK_FALSE(integer_of(token).has_value());
}

TEST_CASE("text is quoted as JSON and comes back from its token") {
  const std::string nasty("a\"b\\c/\n\r\t\b\f\x01\x1f\x7f \xC3\xA9 \xF0\x9F\x9A\x80 \0!", 25);
  CHECK(text_of(in_quotes(nasty)) == nasty);
  CHECK(in_quotes("\xC3\x28") == "\"\xEF\xBF\xBD(\"");
  CHECK(text_of("\"\\u00e9\\ud83d\\ude80\\/\"") == "\xC3\xA9\xF0\x9F\x9A\x80/");
  for (const char* lone : {"\"\\ud83d\"", "\"\\ude80\"", "\"\\ud83d\\u0041\"", "\"\\uZZZZ\""})
    CHECK(is_utf8(text_of(lone)));
}

TEST_CASE("bytes of any kind have a text from which they come back") {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  CHECK(is_utf8(bytes_as_text(bytes)));
  CHECK(bytes_from_text(bytes_as_text(bytes)) == bytes);
  CHECK(bytes_from_text("\xE4\xB8\x96") == "\xE4\xB8\x96");  // no bytes give this
}

TEST_CASE("the first byte that is not UTF-8 is found") {
  CHECK(first_bad_utf8("abc") == 3);
  CHECK(first_bad_utf8("ab\xC3\xA9\xFFz") == 4);
  CHECK(first_bad_utf8("ab\xE4\xB8") == 2);
}
