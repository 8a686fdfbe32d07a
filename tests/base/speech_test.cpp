#include "base/speech.h"

#include <catch2/catch.hpp>

using namespace trainscope;

TEST_CASE("a page's words are said in its language, and those that it lacks in English") {
  const Speech german{{{"Compare", "Vergleich"}, {".", ","}}};
  CHECK(german.say("Compare") == "Vergleich");
  CHECK(german.say("Memory") == "Memory");
  CHECK(german.number("5.4 ms") == "5,4 ms");
  CHECK(Speech().say("Compare") == "Compare");
  CHECK(Speech().number("5.4 ms") == "5.4 ms");
}
