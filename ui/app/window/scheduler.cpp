#include "ui/app/window/scheduler.h"

#include <algorithm>

namespace trainscope::ui {
namespace {

// More than what hovering waits for (Theme: HoverStationaryDelay, HoverDelayShort).
constexpr std::chrono::milliseconds kRest{200};
// ImGui counts the rest in one frame, knows of it in the next, measures a tooltip in the third and
// shows it in the fourth.
constexpr int kFramesAtRest = 4;

}  // namespace

void RenderScheduler::request_frames(int count) {
  frames_ = std::max(frames_, count);
}

void RenderScheduler::animate_until(Clock::time_point time) {
  animate_until_ = std::max(animate_until_, time);
}

void RenderScheduler::animate_for(double seconds) {
  animate_until(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(seconds)));
}

void RenderScheduler::draw_at(Clock::time_point time) {
  draw_at_ = std::min(draw_at_, time);
}

void RenderScheduler::input(Clock::time_point now) {
  request_frames(3);
  rested_at_ = now + kRest;
}

bool RenderScheduler::frame_due(Clock::time_point now) {
  if (woken_.exchange(false, std::memory_order_acq_rel)) request_frames(2);
  if (now >= draw_at_) {
    draw_at_ = Clock::time_point::max();
    request_frames(1);
  }
  if (now >= rested_at_) {
    rested_at_ = Clock::time_point::max();
    request_frames(kFramesAtRest);
  }
  return frames_ > 0 || now < animate_until_;
}

double RenderScheduler::seconds_to_sleep(Clock::time_point now, double longest) const {
  const Clock::time_point next = std::min(draw_at_, rested_at_);
  if (next == Clock::time_point::max()) return longest;
  const double until = std::chrono::duration<double>(next - now).count();
  return std::clamp(until, 0.0, longest);
}

void RenderScheduler::frame_drawn() {
  frames_ = std::max(0, frames_ - 1);
}

}  // namespace trainscope::ui
