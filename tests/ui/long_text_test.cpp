// Words twice as long in every panel.
#include <catch2/catch.hpp>

#include "ui/long_words.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

void check_words() {
  check_words_are_whole();
  check_words_are_apart();
}

}  // namespace

TEST_CASE("words twice as long are cut nowhere, and none lies on another") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  make_words_long(make_theme(ThemeMode::kDark, 1));
  driver->settle();
  check_words();
  for (const char* lesson :
       {"pinned-vs-pageable", "num-workers", "dp-vs-ddp", "amp-loss-scale", "waves-and-tails"}) {
    walk_to_result(*driver, lesson);
    INFO(lesson);
    check_words();
    for (const char* panel : {"copy-path", "code", "memory", "loss", "loss-scaling", "sm-array",
                              "gradient-flow", "roofline", "operations"}) {
      driver->app().show_panel(panel);
      driver->settle();
      INFO(panel);
      check_words();
    }
  }
}
