// Values that are codes are said in words.
#include "ui/app/views/knob_words.h"

#include <catch2/catch.hpp>

#include "ui/panels/timelines/timelines.h"
#include "ui/runs.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

TEST_CASE("a value that is a code is shown as what it means") {
  const auto shown = [](const char* name, const program::Value& value) {
    return shown_value(program::find_knob(name), value);
  };
  CHECK(shown("straggler.rank", std::int64_t{-1}) == "none");
  CHECK(shown("straggler.rank", std::int64_t{3}) == "3");
  CHECK(shown("power_limit", 0.0) == "as delivered");
  CHECK(shown("power_limit", 300.0) == "300 W");
  CHECK(shown("batch_size", std::int64_t{0}) == "0");
  for (const program::Knob& knob : program::knobs()) {
    const std::string word = word_of(knob, knob.initial);
    CAPTURE(knob.name, word);
    CHECK(word.size() < 25);
    CHECK(word.find(':') == std::string::npos);
  }
}

TEST_CASE("a side's heading says what its codes mean") {
  REQUIRE_DRIVER(driver);
  walk_to_result(*driver, "straggler");
  const TimelineInput input = timeline_input(driver->workspace(), driver->app().attention());
  REQUIRE(input.sides.size() == 2);
  CHECK(input.sides[0].config == "straggler.rank=-1 (none)");
}
