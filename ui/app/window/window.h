// The window: GLFW, OpenGL 3 and Dear ImGui, on the display or off screen (GLFW's null platform
// with OSMesa), the same code either way. One window at a time in a process.
//
//   Window window({.title = "Trainscope"});
//   while (window.wait()) {            // sleeps until there is something to draw
//     window.begin_frame();
//     ...                              // ImGui calls
//     window.end_frame();
//   }
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ui/app/window/scheduler.h"
#include "ui/app/window/theme.h"

struct GLFWwindow;

namespace trainscope::ui {

struct WindowOptions {
  std::string title = "Trainscope";
  int width = 1456;  // at most, in the display's units; off screen: pixels
  int height = 819;
  float scale = 0;  // of fonts and sizes; 0: what the display says (off screen: 1)
  bool off_screen = false;
  bool forgiving = false;  // a slip in a panel's drawing is logged and gone on from, not asserted
  std::filesystem::path ini_file = {};  // where layouts are kept; empty: nowhere
};

// Rows from the top, 4 bytes (RGBA) a pixel.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;
};

std::string encode_png(const Picture& picture);
// Throws InputError when the file cannot be written.
void write_png(const std::filesystem::path& path, const Picture& picture);

class Window {
 public:
  // Throws MissingError when there is no display, no OpenGL or (off screen) no OSMesa.
  explicit Window(const WindowOptions& options);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // Sleeps until a frame is due: input, a requested frame, an animation, wake(). False: it was
  // closed. Off screen it never sleeps.
  bool wait();
  // Whether a frame is due now: for who asks instead of waiting.
  bool frame_due();
  void begin_frame();
  void end_frame();
  void close();

  // The picture of the last finished frame; between frames. Before the first, the ground alone.
  Picture capture();
  // Is given the picture of the frame that is under way, or else of the next, once it is finished.
  void when_drawn(std::function<void(const Picture&)> take) { take_picture_ = std::move(take); }

  // Any thread: draw soon, something has changed.
  void wake();
  // What wake() calls besides, on the window's thread, where nothing waits (in a browser).
  void when_woken(std::function<void()> turn) { turn_ = std::move(turn); }
  RenderScheduler& scheduler() { return scheduler_; }

  float scale() const;  // of fonts and sizes; may change when the window moves to another display
  // The same in front of a room: by the window's size, which grows with the display's own scale.
  float scale_in_a_room() const;
  const Fonts& fonts() const { return fonts_; }
  void set_ground(Color ground) { ground_ = ground; }  // behind everything
  // Sentences about what is missing but can be done without (fonts).
  const std::vector<std::string>& warnings() const { return warnings_; }
  bool off_screen() const { return off_screen_; }
  // Asks for files with the platform's own sheet; those that are chosen come as if they were
  // dropped. False: it has none.
  bool pick_files();
  // Files dropped on the window since the last call.
  std::vector<std::filesystem::path> take_dropped_files();
  GLFWwindow* handle() const { return window_; }
  // All of the display that the window is on, without a frame; off screen and in a browser never.
  void set_full_screen(bool on);
  bool full_screen() const;

 private:
  void open(const WindowOptions& options);
  void take_events();
  void start_imgui(const WindowOptions& options);
  void turn();
  void join_platform();  // what only the platform gives: once ImGui is there
  void shut_down();
  static Window* of(GLFWwindow* handle);

  GLFWwindow* window_ = nullptr;
  bool off_screen_ = false;
  bool imgui_started_ = false;
  float fixed_scale_ = 0;
  std::array<int, 4> place_before_{};  // full screen: left, top, width, height
  std::string ini_file_;
  Color ground_ = rgb(0x0F1216);
  Fonts fonts_;
  std::vector<std::string> warnings_;
  RenderScheduler scheduler_;
  std::vector<std::filesystem::path> dropped_files_;
  std::function<void(const Picture&)> take_picture_;
  std::function<void()> turn_;
};

}  // namespace trainscope::ui
