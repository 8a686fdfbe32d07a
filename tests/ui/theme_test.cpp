#include "ui/app/window/theme.h"

#include <catch2/catch.hpp>
#include <string>

#include "analysis/causes/part_category.h"
#include "base/error.h"
#include "report/page.h"
#include "report/words.h"
#include "support/color_vision.h"
#include "ui/panels/comparison/waterfall.h"

using namespace trainscope;
using namespace trainscope::trace;
using namespace trainscope::ui;

namespace {

constexpr auto& kModes = kThemeModes;
constexpr test::Deficiency kDeficiencies[] = {
    test::Deficiency::kProtanopia, test::Deficiency::kDeuteranopia, test::Deficiency::kTritanopia};

// The least distance between two categories that meet in one lane and are told apart by colour.
constexpr double kLeastDistance = 8;

// Half as much again as is asked of a screen: a beamer in daylight takes its share.
double least_contrast(ThemeMode mode) {
  return mode == ThemeMode::kProjector ? 7 : 4.5;
}

struct Pair {
  Category a, b;
};

// Categories that stand side by side in a lane. Host work and CUDA calls are told
// apart by the row they stand in, held spans by their hatch.
constexpr Pair kNeighbours[] = {
    {Category::kForward, Category::kBackward},    {Category::kBackward, Category::kOptimizer},
    {Category::kForward, Category::kOptimizer},   {Category::kForward, Category::kCollective},
    {Category::kBackward, Category::kCollective}, {Category::kForward, Category::kCopyH2D},
    {Category::kBackward, Category::kCopyH2D},    {Category::kOptimizer, Category::kCopyH2D},
    {Category::kCollective, Category::kCopyH2D},  {Category::kCopyH2D, Category::kCopyD2H},
    {Category::kStaging, Category::kHostWork},    {Category::kStaging, Category::kLoader},
    {Category::kStaging, Category::kCopyH2D},     {Category::kHostWork, Category::kLoader}};

// Of the report's style sheet: what follows a name's first mention, between it and the end.
std::string text_after(std::string_view name, std::string_view end) {
  const std::string_view style = report::page_style();
  const std::size_t at = style.find(name);
  if (at == style.npos) return "";
  const std::size_t from = at + name.size();
  return std::string(style.substr(from, style.find(end, from) - from));
}

// The colour of a variable such as "--red".
Color report_color(const std::string& variable) {
  const std::string hex = text_after("\n  " + variable + ": #", ";");
  REQUIRE(hex.size() == 6);
  return rgb(static_cast<std::uint32_t>(std::stoul(hex, nullptr, 16)));
}

}  // namespace

TEST_CASE("contrast and distance agree with known values") {
  CHECK(contrast(rgb(0x000000), rgb(0xFFFFFF)) == Approx(21));
  CHECK(contrast(rgb(0x777777), rgb(0xFFFFFF)) == Approx(4.48).margin(0.01));
  CHECK(distance(rgb(0x123456), rgb(0x123456)) == Approx(0));
  CHECK(distance(rgb(0x000000), rgb(0xFFFFFF)) == Approx(100).margin(0.1));
}

TEST_CASE("a colour-vision deficiency leaves greys alone and takes red from green") {
  for (const test::Deficiency deficiency : kDeficiencies) {
    const Color grey = test::seen_with(deficiency, rgb(0x808080));
    CHECK(distance(grey, rgb(0x808080)) < 1);
  }
  const Color red = rgb(0xC03030), green = rgb(0x4F7A20);
  const double seen = distance(test::seen_with(test::Deficiency::kDeuteranopia, red),
                               test::seen_with(test::Deficiency::kDeuteranopia, green));
  CHECK(seen < distance(red, green) / 2);
}

TEST_CASE("a label is readable on its bar in every category and theme") {
  for (const ThemeMode mode : kModes) {
    const Theme theme = make_theme(mode, 1);
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
      const CategoryStyle& style = theme.categories[i];
      INFO(name_of(static_cast<Category>(i)) << ", " << name_of(mode));
      CHECK(contrast(style.text, style.fill) >= least_contrast(mode));
      // A hatched label stands on its fill at 82 %, over the hatch.
      if (style.hatched)
        CHECK(contrast(style.text, mixed(style.line, style.fill, 0.82F)) >= least_contrast(mode));
    }
  }
}

TEST_CASE("text is readable on everything it is written on") {
  for (const ThemeMode mode : kModes) {
    const Theme theme = make_theme(mode, 1);
    const double least = least_contrast(mode);
    INFO(name_of(mode));
    for (const Color ground : {theme.panel, theme.head, theme.card, theme.lane_tone}) {
      for (const Color ink :
           {theme.text, theme.muted, theme.accent, theme.good, theme.bad, theme.warn,
            theme.staging_text, theme.copy_text, theme.collective_text})
        CHECK(contrast(ink, ground) >= least);
      CHECK(contrast(theme.faint, ground) >= (mode == ThemeMode::kProjector ? least : 4.4));
    }
    CHECK(contrast(theme.accent_text, theme.accent) >= least);
    CHECK(contrast(theme.accent_text, theme.accent_hovered) >= least);
    CHECK(contrast(theme.accent, theme.accent_soft) >= least);
    CHECK(contrast(theme.good, theme.good_soft) >= least);
    CHECK(contrast(theme.bad, theme.bad_soft) >= least);
    CHECK(contrast(theme.copy_text, theme.warn_soft) >= least);
  }
}

TEST_CASE("the badge of where a run comes from is readable, and each has its colour") {
  using trace::OriginKind;
  for (const ThemeMode mode : kModes) {
    const Theme theme = make_theme(mode, 1);
    for (const OriginKind kind :
         {OriginKind::kSimulated, OriginKind::kMeasured, OriginKind::kImported})
      CHECK(contrast(theme.of_origin(kind), theme.tint(theme.of_origin(kind))) >=
            least_contrast(mode));
    CHECK(contrast(theme.of_origin(OriginKind::kSimulated), theme.accent) == Approx(1));
    CHECK(theme.of_origin(OriginKind::kImported).r != theme.accent.r);
  }
}

TEST_CASE("for a projector every bar stands out from what it lies on") {
  const Theme theme = make_theme(ThemeMode::kProjector, 1);
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    const CategoryStyle& style = theme.categories[i];
    INFO(name_of(static_cast<Category>(i)));
    // A pale bar by its edge; where there is room for a line alone, by that.
    CHECK((style.edged || style.hatched));
    for (const Color ground : {theme.panel, theme.lane_tone})
      CHECK(contrast(style.line, ground) >= 3);
  }
}

TEST_CASE("for a projector nothing is written below 18 pixels") {
  const Theme theme = make_theme(ThemeMode::kProjector, 1);
  for (const float size : {theme.size.text, theme.size.small, theme.size.label, theme.size.mono,
                           theme.size.heading, theme.size.figure})
    CHECK(size >= 18);
  CHECK(theme.size.border >= 1.5F);
  CHECK(make_theme(ThemeMode::kProjector, 2).size.label >= 36);
}

TEST_CASE("a room sees the same on a projector of any resolution") {
  CHECK(scale_in_a_room(1920, 1080) == 1);
  CHECK(scale_in_a_room(3840, 2160) == 2);
  CHECK(scale_in_a_room(2880, 1620) == 1.5F);
  CHECK(scale_in_a_room(3840, 1080) == 1);  // two beside one another
  CHECK(scale_in_a_room(1366, 768) == 1);   // what is read from afar is not made smaller
  CHECK(scale_in_a_room(1930, 1086) == 1);  // no letters are drawn anew for a few pixels
}

TEST_CASE("categories that meet in a lane stay apart under every colour-vision deficiency") {
  for (const ThemeMode mode : kModes) {
    const Theme theme = make_theme(mode, 1);
    for (const Pair& pair : kNeighbours) {
      const Color a = theme.of(pair.a).fill, b = theme.of(pair.b).fill;
      INFO(name_of(pair.a) << " and " << name_of(pair.b));
      CHECK(distance(a, b) >= kLeastDistance);
      for (const test::Deficiency deficiency : kDeficiencies)
        CHECK(distance(test::seen_with(deficiency, a), test::seen_with(deficiency, b)) >=
              kLeastDistance);
    }
  }
}

TEST_CASE("a part of time has one colour, in the window and in the report") {
  for (const ThemeMode mode : {ThemeMode::kDark, ThemeMode::kLight})
    for (std::size_t i = 0; i < analysis::kPartCount; ++i) {
      const auto part = static_cast<analysis::Part>(i);
      INFO(analysis::name_of(part));
      const std::string kind = report::slug(name_of(analysis::category_of(part)));
      const std::string variable = text_after(".p-" + kind + " {", ";");
      const std::size_t from = variable.find("var("), to = variable.find(')');
      REQUIRE((from != variable.npos && to != variable.npos));
      CHECK(part_style(make_theme(mode, 1), part).fill ==
            report_color(variable.substr(from + 4, to - from - 4)));
    }
}

TEST_CASE("what waits is hatched, and nothing else is") {
  for (const ThemeMode mode : kModes) {
    const Theme theme = make_theme(mode, 1);
    for (std::size_t i = 0; i < kCategoryCount; ++i) {
      const auto category = static_cast<Category>(i);
      const bool waits = category == Category::kHeld || category == Category::kSync;
      CHECK(theme.categories[i].hatched == waits);
    }
  }
}

TEST_CASE("a theme is called by its name, and a slip is answered with the nearest one") {
  for (const ThemeMode mode : kModes) CHECK(theme_named(std::string(name_of(mode))) == mode);
  try {
    theme_named("projektor");
    FAIL("a theme that is none");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("did you mean projector?") != std::string::npos);
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
