#include "ui/app/theme.h"

#include <catch2/catch.hpp>
#include <string>

using namespace trainscope;
using namespace trainscope::trace;
using namespace trainscope::ui;

namespace {

constexpr ThemeMode kModes[] = {ThemeMode::kDark, ThemeMode::kLight};
constexpr Deficiency kDeficiencies[] = {Deficiency::kProtanopia, Deficiency::kDeuteranopia,
                                        Deficiency::kTritanopia};

// The least distance between two categories that meet in one lane and are told apart by colour.
constexpr double kLeastDistance = 8;

struct Pair {
  Category a, b;
};

// Categories that stand side by side in a lane. Host work and CUDA calls are told
// apart by the row they stand in, held spans by their hatch.
constexpr Pair kNeighbours[] = {
    {Category::kForward, Category::kBackward},   {Category::kBackward, Category::kOptimizer},
    {Category::kForward, Category::kCollective}, {Category::kBackward, Category::kCollective},
    {Category::kForward, Category::kCopyH2D},    {Category::kBackward, Category::kCopyH2D},
    {Category::kOptimizer, Category::kCopyH2D},  {Category::kCollective, Category::kCopyH2D},
    {Category::kCopyH2D, Category::kCopyD2H},    {Category::kStaging, Category::kHostWork},
    {Category::kStaging, Category::kLoader},     {Category::kStaging, Category::kCopyH2D},
    {Category::kHostWork, Category::kLoader}};

}  // namespace

TEST_CASE("contrast and distance agree with known values") {
  CHECK(contrast(rgb(0x000000), rgb(0xFFFFFF)) == Approx(21));
  CHECK(contrast(rgb(0x777777), rgb(0xFFFFFF)) == Approx(4.48).margin(0.01));
  CHECK(distance(rgb(0x123456), rgb(0x123456)) == Approx(0));
  CHECK(distance(rgb(0x000000), rgb(0xFFFFFF)) == Approx(100).margin(0.1));
}

TEST_CASE("a colour-vision deficiency leaves greys alone and takes red from green") {
  for (const Deficiency deficiency : kDeficiencies) {
    const Color grey = seen_with(deficiency, rgb(0x808080));
    CHECK(distance(grey, rgb(0x808080)) < 1);
  }
  const Color red = rgb(0xC03030), green = rgb(0x4F7A20);
  const double seen = distance(seen_with(Deficiency::kDeuteranopia, red),
                               seen_with(Deficiency::kDeuteranopia, green));
  CHECK(seen < distance(red, green) / 2);
}

TEST_CASE("a label is readable on its bar in every category and theme") {
  for (const ThemeMode mode : kModes) {
    const Theme theme = make_theme(mode, 1);
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
      const CategoryStyle& style = theme.categories[i];
      INFO(name_of(static_cast<Category>(i)) << (mode == ThemeMode::kDark ? ", dark" : ", light"));
      CHECK(contrast(style.text, style.fill) >= 4.5);
      // A hatched label stands on its fill at 82 %, over the hatch.
      if (style.hatched) CHECK(contrast(style.text, mixed(style.line, style.fill, 0.82F)) >= 4.5);
    }
  }
}

TEST_CASE("text is readable on everything it is written on") {
  for (const ThemeMode mode : kModes) {
    const Theme theme = make_theme(mode, 1);
    INFO((mode == ThemeMode::kDark ? "dark" : "light"));
    for (const Color ground : {theme.panel, theme.head, theme.card, theme.lane_tone}) {
      for (const Color ink :
           {theme.text, theme.muted, theme.accent, theme.good, theme.bad, theme.warn,
            theme.staging_text, theme.copy_text, theme.collective_text})
        CHECK(contrast(ink, ground) >= 4.5);
      CHECK(contrast(theme.faint, ground) >= 4.4);
    }
    CHECK(contrast(theme.accent_text, theme.accent) >= 4.5);
    CHECK(contrast(theme.accent_text, theme.accent_hovered) >= 4.5);
    CHECK(contrast(theme.accent, theme.accent_soft) >= 4.5);
    CHECK(contrast(theme.good, theme.good_soft) >= 4.5);
    CHECK(contrast(theme.bad, theme.bad_soft) >= 4.5);
  }
}

TEST_CASE("categories that meet in a lane stay apart under every colour-vision deficiency") {
  for (const ThemeMode mode : kModes) {
    const Theme theme = make_theme(mode, 1);
    for (const Pair& pair : kNeighbours) {
      const Color a = theme.of(pair.a).fill, b = theme.of(pair.b).fill;
      INFO(name_of(pair.a) << " and " << name_of(pair.b));
      CHECK(distance(a, b) >= kLeastDistance);
      for (const Deficiency deficiency : kDeficiencies)
        CHECK(distance(seen_with(deficiency, a), seen_with(deficiency, b)) >= kLeastDistance);
    }
  }
}

TEST_CASE("forward and optimizer, alike without blue cones, are told apart by their labels") {
  const Theme theme = make_theme(ThemeMode::kDark, 1);
  const Color forward = theme.of(Category::kForward).fill;
  const Color optimizer = theme.of(Category::kOptimizer).fill;
  CHECK(distance(forward, optimizer) >= kLeastDistance);
  for (const Deficiency deficiency : {Deficiency::kProtanopia, Deficiency::kDeuteranopia})
    CHECK(distance(seen_with(deficiency, forward), seen_with(deficiency, optimizer)) >=
          kLeastDistance);
  CHECK(name_of(Category::kForward) != name_of(Category::kOptimizer));
}

TEST_CASE("what waits is hatched, and nothing else is") {
  const Theme theme = make_theme(ThemeMode::kDark, 1);
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    const bool waits = category == Category::kHeld || category == Category::kSync;
    CHECK(theme.categories[i].hatched == waits);
  }
}

TEST_CASE("every length follows the display's scale") {
  const Sizes one = make_theme(ThemeMode::kDark, 1).size,
              two = make_theme(ThemeMode::kDark, 2).size;
  CHECK(two.text == Approx(2 * one.text));
  CHECK(two.lane == Approx(2 * one.lane));
  CHECK(two.border == Approx(2 * one.border));
  CHECK(make_theme(ThemeMode::kDark, 0.5F).size.border == 1);
}
