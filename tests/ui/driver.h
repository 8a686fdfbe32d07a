// The application in a window off screen, driven by Dear ImGui's test engine: items are found and
// clicked by name.
#pragma once

#include <imgui.h>
#include <imgui_test_engine/imgui_te_context.h>
#include <imgui_test_engine/imgui_te_engine.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "support/skip.h"
#include "ui/app/window/application.h"

namespace trainscope::ui {

// A window off screen with the engine; what it shows is the subclass's.
class EngineDriver {
 public:
  EngineDriver(int width, int height)
      : engine_(ImGuiTestEngine_CreateContext()),
        window_(std::make_unique<Window>(options(width, height))) {
    ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine_);
    io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
    io.ConfigNoThrottle = true;
    io.ConfigLogToTTY = false;
    // What a person's click opens keeps the focus; the engine would give it back to what had it.
    io.ConfigRestoreFocusAfterTests = false;
    io.ConfigVerboseLevelOnError = ImGuiTestVerboseLevel_Info;
    ImGuiTestEngine_Start(engine_, ImGui::GetCurrentContext());
  }
  virtual ~EngineDriver() {
    ImGuiTestEngine_Stop(engine_);
    window_.reset();
    ImGuiTestEngine_DestroyContext(engine_);
  }
  EngineDriver(const EngineDriver&) = delete;
  EngineDriver& operator=(const EngineDriver&) = delete;

  Window& window() { return *window_; }

  void frame() {
    window_->wait();
    window_->begin_frame();
    draw();
    window_->end_frame();
    ImGuiTestEngine_PostSwap(engine_);
  }
  virtual void settle() {}

  // What a person does, as steps of the test engine. True when every step found its item.
  bool act(const std::function<void(ImGuiTestContext*)>& steps) {
    const std::string name = "act " + std::to_string(++acts_);
    ImGuiTest* test = ImGuiTestEngine_RegisterTest(engine_, "panels", name.c_str());
    test->TestFunc = steps;
    ImGuiTestEngine_QueueTest(engine_, test);
    for (int i = 0; i < 3000 && !ImGuiTestEngine_IsTestQueueEmpty(engine_); ++i) frame();
    const bool good = test->Output.Status == ImGuiTestStatus_Success;
    if (!good) std::fputs(test->Output.Log.Buffer.c_str(), stderr);
    settle();
    return good;
  }
  bool click(const std::string& item) {
    return act([&item](ImGuiTestContext* context) { context->ItemClick(item.c_str()); });
  }

 private:
  virtual void draw() = 0;

  static WindowOptions options(int width, int height) {
    WindowOptions options;
    options.width = width;
    options.height = height;
    options.scale = 1;
    options.off_screen = true;
    return options;
  }

  ImGuiTestEngine* engine_;
  std::unique_ptr<Window> window_;
  int acts_ = 0;
};

// Null where the machine cannot draw; then `why` says so.
template <typename Driven, typename... Arguments>
std::unique_ptr<Driven> open_driven(std::string& why, Arguments... arguments) {
  try {
    return std::make_unique<Driven>(arguments...);
  } catch (const MissingError& error) {
    why = error.what();
    return nullptr;
  }
}

class Driver : public EngineDriver {
 public:
  explicit Driver(int width = 1366, int height = 768,
                  analysis::GpuRuns::OpenDevice gpu = analysis::plugged_in_device)
      : EngineDriver(width, height),
        app_(std::make_unique<Application>(window(), ThemeMode::kDark, std::move(gpu))) {}

  Application& app() { return *app_; }
  Workspace& workspace() { return app_->workspace(); }
  void settle() override { app_->settle(); }

  // Opens a lesson and goes through it, skipping its questions, until the results are shown.
  void open_revealed(const char* lesson) {
    workspace().open_lesson(scenario::find_lesson(lesson));
    settle();
    LessonModel& model = *workspace().lesson();
    while (!model.progress.revealed()) {
      if (model.step().question && !model.progress.can_go_on()) model.progress.skip();
      if (model.step().kind == scenario::StepKind::kRun) {
        workspace().run_lesson();
        settle();
        REQUIRE(model.progress.revealed());
      } else {
        workspace().next_step();
      }
    }
    settle();
  }

 private:
  void draw() override { app_->draw(); }

  std::unique_ptr<Application> app_;
};

// Where pictures to look at are wanted: TRAINSCOPE_PICTURES=FOLDER.
inline std::optional<std::filesystem::path> pictures_folder() {
  const char* folder = std::getenv("TRAINSCOPE_PICTURES");
  if (!folder || !*folder) return std::nullopt;
  return folder;
}

// Keeps there what the window shows as NAME.png.
inline void keep_picture(EngineDriver& driver, const std::string& name) {
  if (const auto folder = pictures_folder())
    write_png(*folder / (name + ".png"), driver.window().capture());
}

}  // namespace trainscope::ui

// Skips the test where no window can be opened.
#define REQUIRE_ENGINE(driver, Driven, ...)                                                      \
  std::string why_not;                                                                           \
  const auto driver = ::trainscope::ui::open_driven<Driven>(why_not __VA_OPT__(, ) __VA_ARGS__); \
  if (!(driver)) TRAINSCOPE_SKIP(why_not)
#define REQUIRE_DRIVER(driver, ...) \
  REQUIRE_ENGINE(driver, ::trainscope::ui::Driver __VA_OPT__(, ) __VA_ARGS__)
