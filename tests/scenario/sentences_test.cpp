// What is left of a text of which some numbers are not known.
#include "scenario/sentences.h"

#include <catch2/catch.hpp>

using trainscope::scenario::without_blanks;
using trainscope::scenario::without_keys;

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

TEST_CASE("keys in brackets are left out, other brackets stay") {
  CHECK(without_keys("The **path** (Shift+P) goes on.") == "The **path** goes on.");
  CHECK(without_keys("It is\n(Ctrl+Shift+.). Open it (F5)") == "It is. Open it");
  CHECK(without_keys("A sum (n+1) of `f(x)`, (FSDP+TP) (F)") ==
        "A sum (n+1) of `f(x)`, (FSDP+TP) (F)");
  CHECK(without_keys("(A + B) (a+b").find("(A + B) (a+b") == 0);
  CHECK(without_keys("{ratio(A.time.step, B.time.step)} (FP16)") ==
        "{ratio(A.time.step, B.time.step)} (FP16)");
}
