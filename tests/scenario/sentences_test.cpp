// What is left of a text of which some numbers are not known.
#include "scenario/sentences.h"

#include <catch2/catch.hpp>

using trainscope::scenario::without_blanks;

TEST_CASE("a sentence with a blank goes, the others stay") {
  CHECK(without_blanks("It takes ____ now. Nothing waits.") == "Nothing waits.");
  CHECK(without_blanks("Why? It takes ____ now.\nNothing waits.") == "Why? Nothing waits.");
  CHECK(without_blanks("All of it is ____.").empty());
  CHECK(without_blanks("").empty());
  CHECK(without_blanks("No full stop") == "No full stop");
}

TEST_CASE("a full stop within code, or before a small letter, ends no sentence") {
  CHECK(without_blanks("A `nn. Module` of ____ stays. B.") == "B.");
  CHECK(without_blanks("Some, e.g. two of ____, wait. Most do not.") == "Most do not.");
  CHECK(without_blanks("It is **late.** It takes ____.") == "It is **late.**");
}

TEST_CASE("paragraphs stay apart") {
  CHECK(without_blanks("One.\n\nTwo takes ____. Three.") == "One.\n\nThree.");
  CHECK(without_blanks("One takes ____.\n\nTwo.") == "Two.");
}
