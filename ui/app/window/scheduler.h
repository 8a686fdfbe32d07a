// Says when the window draws: an idle window must not take time from the workload it shows.
// All members but wake() belong to the window's thread.
#pragma once

#include <atomic>
#include <chrono>

namespace trainscope::ui {

class RenderScheduler {
 public:
  using Clock = std::chrono::steady_clock;

  // Draw at least `count` more frames.
  void request_frames(int count = 1);
  // Draw continuously until then.
  void animate_until(Clock::time_point time);
  void animate_for(double seconds);
  // Draw one frame once that time has come.
  void draw_at(Clock::time_point time);
  // Something came from mouse or keyboard: drawn now, and once it has rested, as what waits for
  // that (a tooltip) is due then.
  void input(Clock::time_point now);
  // Any thread: something has changed.
  void wake() { woken_.store(true, std::memory_order_release); }

  bool frame_due(Clock::time_point now);
  // How long the window may sleep when no frame is due; at most `longest`.
  double seconds_to_sleep(Clock::time_point now, double longest) const;
  void frame_drawn();

 private:
  int frames_ = 3;  // the first ones, in which ImGui settles
  Clock::time_point animate_until_{};
  Clock::time_point draw_at_ = Clock::time_point::max();
  Clock::time_point rested_at_ = Clock::time_point::max();
  std::atomic<bool> woken_{false};
};

}  // namespace trainscope::ui
