#include "base/speech.h"

#include <catch2/catch.hpp>

using namespace trainscope;

TEST_CASE("a page's words are said in its language, and those that it lacks in English") {
  const Speech german{{{"Compare", "Vergleich"}, {".", ","}}};
  CHECK(german.say("Compare") == "Vergleich");
  CHECK(german.say("Memory") == "Memory");
  CHECK(german.number("5.4 ms") == "5,4 ms");
  CHECK(german.number("1/18,200 of 1.5") == "1/18.200 of 1,5");
  CHECK(german.number("1,230,000") == "1.230.000");
  CHECK(german.number("[1,2]") == "[1,2]");
  CHECK(Speech().say("Compare") == "Compare");
  CHECK(Speech().number("5.4 ms") == "5.4 ms");
}

TEST_CASE("a name's numbers stay where its words have them, and its parts are said one by one") {
  const Speech german{{{"stream {}", "Stream {}"},
                       {"link GPU {} to GPU {}", "GPU {} nach GPU {}"},
                       {"H2D copy engine", "Kopiereinheit H2D"},
                       {"rank {}", "Rang {}"}}};
  CHECK(german.say_name("stream 7") == "Stream 7");
  CHECK(german.say_name("link GPU 0 to GPU 12") == "GPU 0 nach GPU 12");
  CHECK(german.say_name("H2D copy engine") == "Kopiereinheit H2D");
  CHECK(german.say_name("stream 24, NCCL, rank 3") == "Stream 24, NCCL, Rang 3");
  CHECK(german.say_name("stream 7. rank 3, NCCL") == "Stream 7. Rang 3, NCCL");
  CHECK(german.say_name("thread 5 (python)") == "thread 5 (python)");
  CHECK(german.say_name("") == "");
  CHECK(Speech().say_name("stream 7") == "stream 7");
}

TEST_CASE("a sentence has its places filled in") {
  const Speech german{{{"{} of {}", "{} von {}"}}};
  CHECK(told(german, "{} of {}", 1, "2 ms") == "1 von 2 ms");
  CHECK(told({}, "{} of {}", 1, "2 ms") == "1 of 2 ms");
}
