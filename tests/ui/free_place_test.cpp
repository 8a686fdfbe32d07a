// Where words of a chart may stand: on no line and on no other words.
#include "ui/panels/charts/free_place.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "ui/panels/charts/line_flags.h"

using namespace trainscope::ui;

TEST_CASE("a line is in a box where a part of it is") {
  const Box box{{10, 10}, {20, 20}};
  CHECK(crosses(box, {0, 0}, {30, 30}));
  CHECK(crosses(box, {12, 12}, {13, 13}));
  CHECK(crosses(box, {0, 15}, {30, 15}));
  CHECK_FALSE(crosses(box, {0, 25}, {30, 25}));
  CHECK_FALSE(crosses(box, {0, 12}, {12, 0}));
  CHECK_FALSE(crosses(box, {0, 0}, {9, 9}));
}

TEST_CASE("words stand beside their point where no line goes") {
  ChartGround ground;
  ground.room = {{0, 0}, {200, 100}};
  ground.lines = {{{0, 90}, {100, 50}}, {{100, 50}, {200, 40}}, {{0, 90}, {200, 0}}};
  const auto place = free_place(ground, {100, 50}, {24, 12}, 6);
  REQUIRE(place);
  for (const auto& [from, to] : ground.lines) CHECK_FALSE(crosses(*place, from, to));
  ground.taken = {*place};
  const auto other = free_place(ground, {100, 50}, {24, 12}, 6);
  REQUIRE(other);
  CHECK_FALSE(overlaps(*place, *other));
}

TEST_CASE("where no place is free there are no words") {
  ChartGround ground;
  ground.room = {{0, 0}, {50, 50}};
  CHECK_FALSE(free_place(ground, {25, 25}, {60, 12}, 6));
  ground.taken = {{{0, 0}, {50, 50}}};
  CHECK_FALSE(free_place(ground, {25, 25}, {20, 12}, 6));
}

TEST_CASE("flags of two lines are on neither line, nor on each other, nor on a curve") {
  const Box chart{{0, 0}, {400, 100}};
  const std::vector<Box> curve = {{{0, 0}, {400, 30}}};
  for (const auto& lines : {std::vector<float>{100, 104},
                            {104, 100},
                            {0, 3},
                            {400, 398},
                            {200, 300},
                            {5, 390},
                            {100, 100.5F}}) {
    CAPTURE(lines);
    const std::vector<Box> flags = place_flags(chart, lines, {16, 17}, curve);
    REQUIRE(flags.size() == 2);
    CHECK_FALSE(overlaps(flags[0], flags[1]));
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(std::min(std::abs(flags[i].min.x - lines[i]), std::abs(flags[i].max.x - lines[i])) <=
            1);
      const bool at_edge = lines[i] < 16 || lines[i] > 384;  // there a flag has one side only
      CHECK((at_edge || lines[1 - i] <= flags[i].min.x || lines[1 - i] >= flags[i].max.x));
      CHECK_FALSE(overlaps(flags[i], curve.front()));
      CHECK(flags[i].min.x >= chart.min.x);
      CHECK(flags[i].max.x <= chart.max.x);
    }
  }
}

TEST_CASE("a flag without a free place still stands at its line") {
  const Box chart{{0, 0}, {100, 40}};
  const auto flags = place_flags(chart, {50}, {16, 17}, {chart});
  REQUIRE(flags.size() == 1);
  CHECK(flags[0].min.x == 50);
  CHECK(flags[0].max.y <= chart.max.y);
}
