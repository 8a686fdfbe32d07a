// What the window asks of a desktop.

#include <GLFW/glfw3.h>
#include <imgui.h>

#include "base/error.h"
#include "base/platform.h"
#include "ui/app/window/opengl.h"
#include "ui/app/window/window.h"
#include "ui/app/window/window_size.h"

namespace trainscope::ui {
namespace {

// What GLFW last complained of, in brackets; empty when it said nothing.
std::string glfw_reason() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text ? std::string(" (") + text + ")" : std::string();
}

MissingError no_display() {
  return MissingError("There is no display to open a window on" + glfw_reason() +
                      ": start it in a graphical session, or use the command line, which writes "
                      "pictures and tables without a display.");
}

MissingError no_opengl(bool off_screen) {
  if (off_screen && !platform::kAlwaysHasDisplay)
    return MissingError("Pictures need OSMesa, which does not start here" + glfw_reason() +
                        ": install libosmesa6.");
  return MissingError("The display offers no OpenGL 3.3" + glfw_reason() +
                      ": install the graphics driver" +
                      (platform::kAlwaysHasDisplay ? " of the maker of the graphics card."
                                                   : ", or libgl1-mesa-dri for software drawing."));
}

// Off screen: by OSMesa where there may be no display, else in a window that is not shown.
bool draws_without_display(bool off_screen) {
  return off_screen && !platform::kAlwaysHasDisplay;
}

void set_window_hints(bool off_screen) {
  glfwDefaultWindowHints();
  if (draws_without_display(off_screen)) {
    glfwWindowHint(GLFW_CONTEXT_CREATION_API, GLFW_OSMESA_CONTEXT_API);
  } else {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, off_screen ? GLFW_FALSE : GLFW_TRUE);
    glfwWindowHint(GLFW_VISIBLE, off_screen ? GLFW_FALSE : GLFW_TRUE);
    // With a frame it would be no larger than the screen.
    glfwWindowHint(GLFW_DECORATED, off_screen ? GLFW_FALSE : GLFW_TRUE);
  }
  // Else ImGui would ask what nobody sees for a mouse it has not.
  glfwWindowHint(GLFW_FOCUSED, off_screen ? GLFW_FALSE : GLFW_TRUE);
}

// Only where a unit of the screen is a pixel is a window's size multiplied (GLFW_SCALE_TO_MONITOR).
bool multiplies_sizes() {
  return glfwGetPlatform() == GLFW_PLATFORM_X11 || glfwGetPlatform() == GLFW_PLATFORM_WIN32;
}

// Off screen there is no screen that it could be too large for.
WindowSize size_to_open(const WindowOptions& options) {
  GLFWmonitor* monitor = options.off_screen ? nullptr : glfwGetPrimaryMonitor();
  ScreenRoom screen;
  if (monitor) {
    glfwGetMonitorWorkarea(monitor, nullptr, nullptr, &screen.width, &screen.height);
    if (multiplies_sizes()) glfwGetMonitorContentScale(monitor, &screen.scale, nullptr);
  }
  if (screen.width <= 0 || screen.height <= 0) return {options.width, options.height};
  return size_on(screen, options.width, options.height);
}

}  // namespace

void Window::open(const WindowOptions& options) {
  glfwInitHint(GLFW_PLATFORM,
               draws_without_display(off_screen_) ? GLFW_PLATFORM_NULL : GLFW_ANY_PLATFORM);
  if (!glfwInit()) throw no_display();
  set_window_hints(off_screen_);
  const WindowSize size = size_to_open(options);
  if (size.whole) glfwWindowHint(GLFW_MAXIMIZED, GLFW_TRUE);
  window_ = glfwCreateWindow(size.width, size.height, options.title.c_str(), nullptr, nullptr);
  if (!window_) throw no_opengl(off_screen_);
  glfwMakeContextCurrent(window_);
  if (!gladLoadGL(glfwGetProcAddress)) throw no_opengl(off_screen_);
  if (!off_screen_) glfwSwapInterval(1);
  take_events();
}

void Window::join_platform() {}

namespace {

// The display on which the window's middle is; else the first.
GLFWmonitor* monitor_of(GLFWwindow* window) {
  int left = 0, top = 0, width = 0, height = 0, count = 0;
  glfwGetWindowPos(window, &left, &top);
  glfwGetWindowSize(window, &width, &height);
  GLFWmonitor** const monitors = glfwGetMonitors(&count);
  for (int i = 0; i < count; ++i) {
    int x = 0, y = 0;
    glfwGetMonitorPos(monitors[i], &x, &y);
    const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
    const int across = left + width / 2 - x, down = top + height / 2 - y;
    if (mode && across >= 0 && across < mode->width && down >= 0 && down < mode->height)
      return monitors[i];
  }
  return glfwGetPrimaryMonitor();
}

}  // namespace

bool Window::full_screen() const {
  return !off_screen_ && glfwGetWindowMonitor(window_) != nullptr;
}

void Window::set_full_screen(bool on) {
  if (off_screen_ || on == full_screen()) return;
  auto& [left, top, width, height] = place_before_;
  if (!on) {
    glfwSetWindowMonitor(window_, nullptr, left, top, width, height, GLFW_DONT_CARE);
  } else if (GLFWmonitor* const monitor = monitor_of(window_)) {
    const GLFWvidmode* mode = glfwGetVideoMode(monitor);
    if (!mode) return;
    glfwGetWindowPos(window_, &left, &top);
    glfwGetWindowSize(window_, &width, &height);
    glfwSetWindowMonitor(window_, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
  }
  scheduler_.request_frames(3);
}

bool Window::wait() {
  if (off_screen_) {
    glfwPollEvents();
    return !glfwWindowShouldClose(window_);
  }
  glfwPollEvents();
  while (!glfwWindowShouldClose(window_)) {
    if (frame_due()) return true;
    glfwWaitEventsTimeout(scheduler_.seconds_to_sleep(RenderScheduler::Clock::now(), 1.0));
  }
  return false;
}

void Window::wake() {
  scheduler_.wake();
  glfwPostEmptyEvent();
}

bool Window::pick_files() {
  return false;
}

}  // namespace trainscope::ui
