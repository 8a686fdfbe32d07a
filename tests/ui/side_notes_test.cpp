// What is to be read with care, and of which side.
#include "ui/panels/timelines/side_notes.h"

#include <catch2/catch.hpp>

using namespace trainscope::ui;

TEST_CASE("a caveat names its side, and stands once where both have it") {
  const auto alone = care_notes({{"A", "It wraps."}});
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].title == "Read with care");
  CHECK(alone[0].sentence == "It wraps.");

  const auto one = care_notes({{"A", ""}, {"B", "It wraps."}});
  REQUIRE(one.size() == 1);
  CHECK(one[0].title == "Side B: read with care");

  const auto two = care_notes({{"A", "It is short."}, {"B", "It wraps."}});
  REQUIRE(two.size() == 2);
  CHECK(two[0].title == "Side A: read with care");
  CHECK(two[1].sentence == "It wraps.");

  const auto same = care_notes({{"A", "It wraps."}, {"B", "It wraps."}});
  REQUIRE(same.size() == 1);
  CHECK(same[0].title == "Both sides: read with care");
  CHECK(care_notes({{"A", ""}, {"B", ""}}).empty());
}
