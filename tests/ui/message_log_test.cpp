// The window's messages can be read again.
#include "ui/app/workspace/message_log.h"

#include <catch2/catch.hpp>

#include "ui/cut_text.h"
#include "ui/driver.h"

using namespace trainscope;
using namespace trainscope::ui;

TEST_CASE("each message is in the log once, and again when it comes again") {
  Workspace workspace([] {});
  MessageLog log;
  log.take(workspace);
  CHECK(log.messages().empty());
  for (int i = 0; i < 3; ++i) {
    workspace.notice = "There is no room.";
    for (int frame = 0; frame < 5; ++frame) log.take(workspace);
    workspace.notice.clear();
    log.take(workspace);
  }
  REQUIRE(log.messages().size() == 3);
  CHECK(log.messages().front().text == "There is no room.");
  CHECK(log.messages().front().time.size() == 8);
  CHECK(log.text().find("There is no room.\n") != std::string::npos);
}

TEST_CASE("why a side did not run is in the log, and the log can be copied") {
  REQUIRE_DRIVER(driver);
  driver->workspace().open_trace("/nowhere/trace.json");
  driver->settle();
  REQUIRE(driver->act([](ImGuiTestContext* context) { context->KeyPress(ImGuiKey_F8); }));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  std::string copied;
  REQUIRE(driver->act([&copied](ImGuiTestContext* context) {
    context->ItemClick("//What was said##sheet/Copy all");
    if (const char* text = ImGui::GetClipboardText()) copied = text;
  }));
  CHECK(copied.find("/nowhere/trace.json") != std::string::npos);
}
