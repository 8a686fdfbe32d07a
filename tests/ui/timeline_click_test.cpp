// Spans are found and clicked by name through Dear ImGui's test engine, as any control is.
#include <imgui_test_engine/imgui_te_context.h>
#include <imgui_test_engine/imgui_te_engine.h>

#include <catch2/catch.hpp>

#include "ui/stage.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// The engine outlives the window's context and stops before it.
struct Engine {
  Engine() : engine(ImGuiTestEngine_CreateContext()) {
    ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine);
    io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
    io.ConfigNoThrottle = true;
    io.ConfigLogToTTY = false;
  }
  ~Engine() { ImGuiTestEngine_DestroyContext(engine); }
  ImGuiTestEngine* engine;
};

}  // namespace

TEST_CASE("the test engine clicks a span by its name") {
  Engine tests;
  const auto stage = Stage::open();
  if (!stage) TRAINSCOPE_SKIP(Stage::reason());
  const auto a = three_spans(), b = three_spans();
  stage->input.sides = {side_of(*a), side_of(*b)};
  ImGuiTestEngine_Start(tests.engine, ImGui::GetCurrentContext());
  ImGuiTest* test = IM_REGISTER_TEST(tests.engine, "timeline", "click a span");
  test->TestFunc = [](ImGuiTestContext* context) {
    context->SetRef("stage/timeline");
    // The bar is drawn, the timeline itself is what the mouse is over.
    context->ItemClick("B/span 2", 0, ImGuiTestOpFlags_NoCheckHoveredId);
  };
  ImGuiTestEngine_QueueTest(tests.engine, test);
  for (int i = 0; i < 2000 && !ImGuiTestEngine_IsTestQueueEmpty(tests.engine); ++i) {
    stage->frame();
    ImGuiTestEngine_PostSwap(tests.engine);
  }
  CHECK(test->Output.Status == ImGuiTestStatus_Success);
  CHECK(stage->state.selected == SpanRef{Side::kB, 2});
  ImGuiTestEngine_Stop(tests.engine);
}
