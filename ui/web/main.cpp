// The program as a browser runs it: the window on a page, drawn when there is something to draw.

#include <emscripten/eventloop.h>
#include <emscripten/html5.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/error.h"
#include "scenario/link.h"
#include "scenario/translation.h"
#include "ui/app/window/page.h"
#include "ui/app/window/shown_window.h"

namespace {

using namespace trainscope;

// Draws while frames are due, then sleeps until the window is woken, or the time that it waits for.
class PageLoop {
 public:
  explicit PageLoop(ui::ShownWindow& shown) : shown_(shown) {
    shown_.window().when_woken([this] { turn_soon(); });
    turn_soon();
  }

 private:
  void turn_soon() {
    if (coming_) return;
    coming_ = true;
    emscripten_clear_timeout(sleep_);
    emscripten_request_animation_frame(
        [](double, void* loop) {
          static_cast<PageLoop*>(loop)->turn();
          return false;
        },
        this);
  }

  void turn() {
    coming_ = false;
    if (shown_.window().frame_due()) {
      shown_.draw_frame();
      if (!ready_) page_ready();
      ready_ = true;
    }
    if (shown_.window().frame_due()) return turn_soon();
    constexpr double kLongest = 60;
    const double seconds =
        shown_.window().scheduler().seconds_to_sleep(ui::RenderScheduler::Clock::now(), kLongest);
    sleep_ = emscripten_set_timeout([](void* loop) { static_cast<PageLoop*>(loop)->turn_soon(); },
                                    seconds * 1000, this);
  }

  ui::ShownWindow& shown_;
  bool coming_ = false;  // a turn was asked for
  bool ready_ = false;
  int sleep_ = 0;
};

std::string asked(const char* name) {
  char* const letters = page_asks(name);
  std::string text = letters;
  std::free(letters);
  return text;
}

void take_link(ui::WindowRequest& request) {
  const std::string text = asked("link");
  if (text.empty()) return;
  scenario::Link link = scenario::parse_link(text);
  if (!link.lesson.empty()) scenario::step_in(link, scenario::find_lesson(link.lesson));
  request.link = std::move(link);
}

void take_language(ui::WindowRequest& request) {
  const std::string language = asked("lang");
  scenario::check_language(language);
  request.language = language;
}

void take_theme(ui::WindowRequest& request) {
  if (const std::string theme = asked("theme"); !theme.empty())
    request.theme = ui::theme_named(theme);
}

// What is wrong with the address is said in the window, which opens all the same.
ui::WindowRequest request_of_page(std::string& refusal) {
  ui::WindowRequest request;
  request.resumes = true;
  request.student = asked("student");
  request.present = !asked("present").empty();
  for (void (*take)(ui::WindowRequest&) : {take_link, take_language, take_theme}) {
    try {
      take(request);
    } catch (const Error& error) {
      refusal = error.what();
    }
  }
  return request;
}

analysis::GpuRuns::Device no_device() {
  throw MissingError(
      "A browser does not reach a GPU's CUDA, so nothing is measured here; Trainscope on Linux "
      "does.");
}

// What the page goes on calling once main() has returned.
struct Running {
  explicit Running(const ui::WindowRequest& request) : shown(request, no_device), loop(shown) {}
  ui::ShownWindow shown;
  PageLoop loop;
};

}  // namespace

int main() {
  ::setenv("TRAINSCOPE_HOME", "/trainscope", 1);
  try {
    std::string refusal;
    auto running = std::make_unique<Running>(request_of_page(refusal));
    if (!refusal.empty()) running->shown.say(refusal);
    (void)running.release();  // the page's, until it is left
  } catch (const std::exception& error) {
    page_fail(error.what());
    return 1;
  }
  return 0;
}
