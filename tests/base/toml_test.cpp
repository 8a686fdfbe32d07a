#include "base/toml.h"

#include <catch2/catch.hpp>

#include "base/temporary_folder.h"

using namespace trainscope;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

std::string repeated(std::string_view piece, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece;
  return text;
}

// The sentence with which a text is refused; "" when it is not.
std::string refusal(std::string_view text) {
  try {
    parse_toml(text, "my.toml");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a mistake in a file is named with line and column") {
  CHECK_THAT(refusal("a = 1\nb = = 2\n"), Contains("my.toml:2:5: "));
  CHECK_THAT(refusal("a = 1\na = 2\n"), Contains("my.toml:2:"));
  CHECK_THAT(refusal("text = \"without an end"), Contains("my.toml:1:"));
}

TEST_CASE("a node knows its place") {
  const toml::table table = parse_toml("a = 1\n[part]\n  b = 2\n", "my.toml");
  CHECK(describe(place_of(*table.at_path("part.b").node(), "my.toml")) == "my.toml:3:7: ");
  CHECK_THROWS_WITH(fail_at(*table.get("a"), "my.toml", "a is wrong"), "my.toml:1:5: a is wrong");
}

TEST_CASE("an unknown key is named with its place and the nearest right name") {
  const toml::table table = parse_toml("lanes = 16\n\n  lnaes = 8\n", "my.toml");
  CHECK_THROWS_WITH(refuse_unknown_keys(table, {"lanes", "generation"}, "my.toml", "[pcie]"),
                    "my.toml:3:3: [pcie] has no key lnaes (did you mean lanes?)");
  CHECK_THROWS_WITH(refuse_unknown_keys(table, {"width", "generation"}, "my.toml", "[pcie]"),
                    "my.toml:1:1: [pcie] has no key lanes; its keys are width, generation");
  CHECK_NOTHROW(refuse_unknown_keys(table, {"lanes", "lnaes"}, "my.toml", "[pcie]"));
}

TEST_CASE("a key with a hundred thousand dots is refused before it is parsed") {
  CHECK_THAT(refusal("a" + repeated(".a", 100'000) + " = 1"),
             Equals("my.toml:1: this is nested too deeply to be read"));
  CHECK_THAT(refusal("x = 1\n[a" + repeated(".a", 100'000) + "]"),
             Equals("my.toml:2: this is nested too deeply to be read"));
  CHECK(refusal("a" + repeated(".a", 16) + " = 1").empty());
}

TEST_CASE("a hundred thousand brackets are refused before they are parsed") {
  CHECK_THAT(refusal(repeated("[", 100'000)),
             Equals("my.toml:1: this is nested too deeply to be read"));
  CHECK_THAT(refusal("x = " + repeated("[", 100'000)), Contains("nested too deeply"));
  CHECK_THAT(refusal("x = " + repeated("{a=", 100'000)), Contains("nested too deeply"));
  CHECK_THAT(refusal("x = " + repeated("[\n", 100'000)), Contains("nested too deeply"));
  CHECK(refusal("x = " + repeated("[", 60) + repeated("]", 60)).empty());
}

TEST_CASE("bytes that are no TOML are refused politely") {
  for (const std::string& text :
       {std::string("[\x03"), std::string("[[\x03"), std::string("[:"),
        std::string("\xef\xbb\xbe\x03"), std::string("\xc3\xa9"), std::string("\xff\xfe"),
        std::string("a\0b = 1", 7), std::string("a = \x03"), std::string("a = \"\x7f"),
        std::string("a."), std::string("["), std::string("a = \"\\uD800\""),
        std::string("\xef\xbb\xbf\x03")}) {
    CAPTURE(text);
    CHECK_THAT(refusal(text), Contains("my.toml:"));
  }
}

TEST_CASE("an empty file and a byte order mark are no mistakes") {
  CHECK(refusal("").empty());
  CHECK(refusal("\xef\xbb\xbf"
                "a = 1")
            .empty());
  CHECK(refusal("a = \"\xc3\xa9\" # \xc3\xa9\r\n").empty());
}

TEST_CASE("a file of more than a mebibyte is refused") {
  const std::string large = "#" + std::string(1 << 20, 'x');
  CHECK_THAT(refusal(large), Contains("1 MiB"));
  const test::TemporaryFolder folder;
  CHECK_THROWS_AS(read_toml(folder.write("large.toml", large)), InputError);
}

TEST_CASE("a file is named by its path in what it is refused for") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("bad.toml", "a = ");
  CHECK_THROWS_WITH(read_toml(file), Contains(file.string() + ":1:"));
  CHECK_THROWS_WITH(read_toml(folder.path() / "none.toml"), Contains("there is no such file"));
}
