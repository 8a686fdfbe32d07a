// What the window asks of a browser: the canvas of the page, its clipboard, its files.

#include <GLFW/glfw3.h>
#include <emscripten/proxying.h>
#include <emscripten/threading.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>

#include <cstdlib>

#include "base/error.h"
#include "ui/app/window/opengl.h"
#include "ui/app/window/page.h"
#include "ui/app/window/window.h"

namespace trainscope::ui {
namespace {

constexpr const char* kCanvas = "#canvas";

// What was pasted last, or copied here; Dear ImGui keeps no string that is given to it.
const char* pasted(ImGuiContext*) {
  static std::string text;
  char* const letters = page_pasted();
  text = letters;
  std::free(letters);
  return text.c_str();
}

}  // namespace

void Window::open(const WindowOptions& options) {
  if (!glfwInit()) throw MissingError("The browser's page cannot be drawn on.");
  glfwWindowHint(GLFW_CLIENT_API, GLFW_OPENGL_ES_API);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  window_ =
      glfwCreateWindow(options.width, options.height, options.title.c_str(), nullptr, nullptr);
  if (!window_)
    throw MissingError(
        "The browser gives this page no WebGL 2: turn on graphics acceleration in its settings, "
        "or use a newer one.");
  glfwMakeContextCurrent(window_);
  take_events();
}

// The page wakes the window after whatever is done to it: GLFW has put that into ImGui's queue.
void Window::join_platform() {
  ImGui_ImplGlfw_InstallEmscriptenCallbacks(window_, kCanvas);
  ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) { page_copy(text); };
  platform.Platform_GetClipboardTextFn = pasted;
  ImGui::GetIO().ConfigMacOSXBehaviors = page_is_on_a_mac();
  page_listen([](void* window) { static_cast<Window*>(window)->turn(); }, this);
  page_take_files(
      [](void* window, const char* file, bool more) {
        auto* const self = static_cast<Window*>(window);
        self->dropped_files_.emplace_back(file);
        if (!more) self->wake();
      },
      this);
}

void Window::turn() {
  if (turn_) turn_();
}

// A page waits for nothing: it is called.
bool Window::wait() {
  return frame_due();
}

void Window::wake() {
  scheduler_.wake();
  emscripten_proxy_async(
      emscripten_proxy_get_system_queue(), emscripten_main_runtime_thread_id(),
      [](void* window) { static_cast<Window*>(window)->turn(); }, this);
}

// The browser's own key does it.
void Window::set_full_screen(bool) {}

bool Window::full_screen() const {
  return false;
}

bool Window::pick_files() {
  page_choose_files();
  return true;
}

}  // namespace trainscope::ui
