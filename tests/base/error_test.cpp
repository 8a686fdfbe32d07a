#include "base/error.h"

#include <catch2/catch.hpp>

#include "base/named.h"

using namespace trainscope;

TEST_CASE("an error is one line, whatever the text of others in it") {
  CHECK(std::string(InputError("a\nb\tc\x1b[2J\x7f").what()) == "a\\nb\\tc\\x1b[2J\\x7f");
  CHECK(std::string(InputError("größer …").what()) == "größer …");
  CHECK(std::string(InputError("a\u009b2J").what()) == "a\\x9b2J");
}

TEST_CASE("an error keeps the beginning and the end of a text that is far too long") {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "ü";
  const std::string sentence = InputError("begin " + text + " end").what();
  CHECK(sentence.size() < 2100);
  CHECK_THAT(sentence, Catch::StartsWith("begin ü") && Catch::EndsWith("ü end"));
  CHECK_THAT(sentence, Catch::Contains("ü … ü"));
}

TEST_CASE("a sentence has the name of what it is about in front, once") {
  CHECK(named("t", "the batch is empty") == "t: the batch is empty");
  CHECK(named("t", "t: the batch is empty") == "t: the batch is empty");
  CHECK(named("t", "t:3:8: the batch is empty") == "t:3:8: the batch is empty");
  CHECK(named("", "the batch is empty") == "the batch is empty");
}
