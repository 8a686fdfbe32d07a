// What A and B are drawn to, where they stand beside one another.
#include <catch2/catch.hpp>

#include "ui/panels/charts/number_line.h"
#include "ui/panels/charts/scaling_plot.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

analysis::ScalingState with_bin(int power, double share) {
  analysis::ScalingState state;
  state.before.bins[static_cast<std::size_t>(power - trace::Magnitudes::kLeast)] = share;
  state.after = state.before;
  return state;
}

}  // namespace

TEST_CASE("number lines beside one another have one scale: that of the tallest and the widest") {
  LineScale scale;
  scale.include(with_bin(-10, 0.25));
  CHECK(scale.most == 0.25);
  CHECK(scale.from == -34);
  CHECK(scale.to == 20);
  scale.include(with_bin(-40, 0.125));
  scale.include(with_bin(25, 0.5));
  CHECK(scale.most == 0.5);
  CHECK(scale.from == -40);
  CHECK(scale.to == 26);
}

TEST_CASE("scaling curves beside one another have one scale, with room for the ideal of each") {
  ScalingRange range;
  range.include({{{1, 100}, {2, 190}, {4, 300}}, 4});
  CHECK(range.gpus == 4);
  CHECK(range.samples_per_s == 400);
  range.include({{{1, 150}, {2, 200}}, 2});
  CHECK(range.gpus == 4);
  CHECK(range.samples_per_s == 400);
  range.include({{{1, 50}, {16, 900}}, 16});
  CHECK(range.gpus == 16);
  CHECK(range.samples_per_s == 900);
}
