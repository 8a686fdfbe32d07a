#include "ui/app/window/window.h"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>
#include <implot.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/platform.h"
#include "ui/app/window/fonts.h"
#include "ui/app/window/opengl.h"

namespace trainscope::ui {
namespace {

// Typing blinks a cursor.
void keep_time_for_imgui(RenderScheduler& scheduler) {
  const auto now = RenderScheduler::Clock::now();
  if (ImGui::GetIO().WantTextInput) scheduler.draw_at(now + std::chrono::milliseconds(250));
}

}  // namespace

Window* Window::of(GLFWwindow* handle) {
  return static_cast<Window*>(glfwGetWindowUserPointer(handle));
}

Window::Window(const WindowOptions& options)
    : off_screen_(options.off_screen), fixed_scale_(options.scale) {
  try {
    open(options);
    start_imgui(options);
  } catch (...) {
    shut_down();
    throw;
  }
}

Window::~Window() {
  shut_down();
}

void Window::take_events() {
  glfwSetWindowUserPointer(window_, this);
  glfwSetWindowRefreshCallback(window_, [](GLFWwindow* handle) { of(handle)->wake(); });
  glfwSetFramebufferSizeCallback(window_, [](GLFWwindow* handle, int, int) { of(handle)->wake(); });
  glfwSetDropCallback(window_, [](GLFWwindow* handle, int count, const char** files) {
    of(handle)->dropped_files_.assign(files, files + count);
    of(handle)->wake();
  });
}

void Window::start_imgui(const WindowOptions& options) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImPlot::CreateContext();
  imgui_started_ = true;
  ImGuiIO& io = ImGui::GetIO();
  ini_file_ = options.ini_file.string();
  io.IniFilename = ini_file_.empty() ? nullptr : ini_file_.c_str();
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_DockingEnable | ImGuiConfigFlags_NavEnableKeyboard;
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  io.ConfigDpiScaleFonts = false;
  io.ConfigErrorRecoveryEnableAssert = !options.forgiving;
  io.ConfigErrorRecoveryEnableTooltip = false;
  fonts_ = load_fonts(warnings_);
  ImGui_ImplGlfw_InitForOpenGL(window_, true);
  ImGui_ImplOpenGL3_Init(kShaderVersion);
  join_platform();
  apply(make_theme(ThemeMode::kDark, scale(), fonts_));
}

void Window::shut_down() {
  if (imgui_started_) {
    if (ImGui::GetIO().BackendRendererUserData) ImGui_ImplOpenGL3_Shutdown();
    if (ImGui::GetIO().BackendPlatformUserData) ImGui_ImplGlfw_Shutdown();
    ImPlot::DestroyContext();
    ImGui::DestroyContext();
  }
  if (window_) glfwDestroyWindow(window_);
  window_ = nullptr;
  glfwTerminate();
}

bool Window::frame_due() {
  const auto now = RenderScheduler::Clock::now();
  if (ImGui::GetCurrentContext()->InputEventsQueue.Size > 0) scheduler_.input(now);
  return scheduler_.frame_due(now);
}

void Window::begin_frame() {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
}

namespace {

void render(GLFWwindow* window, Color ground) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  glViewport(0, 0, width, height);
  glClearColor(static_cast<float>(ground.r) / 255, static_cast<float>(ground.g) / 255,
               static_cast<float>(ground.b) / 255, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  if (ImDrawData* drawn = ImGui::GetDrawData()) ImGui_ImplOpenGL3_RenderDrawData(drawn);
}

// Drawn on as long as it lives, in place of the window: a driver need not keep the pixels of one
// that is not shown.
class Canvas {
 public:
  Canvas(int width, int height) {
    glGenFramebuffers(1, &frame_);
    glGenRenderbuffers(1, &colors_);
    glBindFramebuffer(GL_FRAMEBUFFER, frame_);
    glBindRenderbuffer(GL_RENDERBUFFER, colors_);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colors_);
  }
  ~Canvas() {
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteRenderbuffers(1, &colors_);
    glDeleteFramebuffers(1, &frame_);
  }
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

 private:
  GLuint frame_ = 0, colors_ = 0;
};

// What a frame that is not rendered would have brought to the GPU.
void update_textures() {
  for (ImTextureData* texture : *ImGui::GetDrawData()->Textures)
    if (texture->Status != ImTextureStatus_OK) ImGui_ImplOpenGL3_UpdateTexture(texture);
}

}  // namespace

// Off screen nobody sees the pixels of a frame that is not captured, and the processor draws them.
void Window::end_frame() {
  ImGui::Render();
  if (take_picture_)
    std::exchange(take_picture_, nullptr)(capture());
  else if (!off_screen_)
    render(window_, ground_);
  else
    update_textures();
  if (!off_screen_) glfwSwapBuffers(window_);
  keep_time_for_imgui(scheduler_);
  scheduler_.frame_drawn();
}

void Window::close() {
  glfwSetWindowShouldClose(window_, GLFW_TRUE);
}

Picture Window::capture() {
  Picture picture;
  glfwGetFramebufferSize(window_, &picture.width, &picture.height);
  std::optional<Canvas> canvas;
  if (off_screen_ && platform::kAlwaysHasDisplay) canvas.emplace(picture.width, picture.height);
  // What the back buffer holds after a swap is undefined, so it is drawn again.
  render(window_, ground_);
  const std::size_t stride = static_cast<std::size_t>(picture.width) * 4;
  const auto height = static_cast<std::size_t>(picture.height);
  std::vector<std::uint8_t> upside_down(stride * height);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, picture.width, picture.height, GL_RGBA, GL_UNSIGNED_BYTE, upside_down.data());
  picture.rgba.resize(upside_down.size());
  for (std::size_t row = 0; row < height; ++row)
    std::copy_n(upside_down.data() + (height - 1 - row) * stride, stride,
                picture.rgba.data() + row * stride);
  for (std::size_t i = 3; i < picture.rgba.size(); i += 4) picture.rgba[i] = 255;
  return picture;
}

float Window::scale() const {
  if (fixed_scale_ > 0) return fixed_scale_;
  if (off_screen_) return 1;
  // Where the display's unit is larger than a pixel, ImGui magnifies by itself.
  float content = 1;
  int units = 1, pixels = 1, ignored = 0;
  glfwGetWindowContentScale(window_, &content, nullptr);
  glfwGetWindowSize(window_, &units, &ignored);
  glfwGetFramebufferSize(window_, &pixels, &ignored);
  if (units <= 0 || pixels <= 0 || content <= 0) return 1;
  return content * static_cast<float>(units) / static_cast<float>(pixels);
}

float Window::scale_in_a_room() const {
  int width = 0, height = 0;
  glfwGetWindowSize(window_, &width, &height);
  // A picture's size is already multiplied by the scale that was asked for.
  const float asked = fixed_scale_ > 0 && !off_screen_ ? fixed_scale_ : 1;
  return asked * ui::scale_in_a_room(static_cast<float>(width), static_cast<float>(height));
}

std::vector<std::filesystem::path> Window::take_dropped_files() {
  return std::exchange(dropped_files_, {});
}

}  // namespace trainscope::ui
