// The sheets over the window: what they share.
#include <catch2/catch.hpp>

#include "ui/driver.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

bool any_sheet() {
  return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

}  // namespace

TEST_CASE("every sheet has a mark that closes it") {
  REQUIRE_DRIVER(driver, 1600, 900);
  driver->open_revealed("waves-and-tails");
  const std::pair<const char*, const char*> sheets[] = {{"help.show", "Keys and actions"},
                                                        {"file.export", "Export"},
                                                        {"lesson.notes", "The lecturer's notes"},
                                                        {"file.open", "Open"},
                                                        {"log.show", "What was said"}};
  for (const auto& [action, name] : sheets) {
    INFO(action);
    driver->app().run(action);
    driver->settle();
    CHECK(any_sheet());
    CHECK(driver->click("//" + std::string(name) + "##sheet/##close"));
    CHECK_FALSE(any_sheet());
  }
}
