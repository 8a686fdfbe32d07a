#include "base/letters.h"

#include <catch2/catch.hpp>

using namespace trainscope;

TEST_CASE("capitals of English and German are the same as their small letters") {
  CHECK(lowered("NCCL All-Reduce 8x") == "nccl all-reduce 8x");
  CHECK(lowered("ÜBERLÄUFE, ÖDE Größe") == "überläufe, öde größe");
  CHECK(lowered("3 × 4 … “X”") == "3 × 4 … “x”");
  CHECK(lowered("Ā").size() == 2);  // U+0100, C4 80: none of those letters
  CHECK(lowered("Ā") == "Ā");
}

TEST_CASE("what ends in a letter does so in any alphabet, and not in a sign") {
  for (const char* text : {"a", "8", "ü", "größ", "Ω", "中"}) CHECK(ends_in_letter(text));
  for (const char* text : {"", " ", "pin_", "„", "«", "a—", "…", "×2 "})
    CHECK_FALSE(ends_in_letter(text));
}
