#include "ui/app/window/scheduler.h"

#include <catch2/catch.hpp>

using trainscope::ui::RenderScheduler;
using namespace std::chrono_literals;

namespace {

// Draws until nothing is due; says how many frames that took.
int drain(RenderScheduler& scheduler, RenderScheduler::Clock::time_point now) {
  int frames = 0;
  for (; scheduler.frame_due(now) && frames < 100; ++frames) scheduler.frame_drawn();
  return frames;
}

}  // namespace

TEST_CASE("an idle window draws a few frames at first and then none") {
  RenderScheduler scheduler;
  const auto now = RenderScheduler::Clock::now();
  CHECK(drain(scheduler, now) > 0);
  CHECK(drain(scheduler, now) == 0);
  CHECK(scheduler.seconds_to_sleep(now, 1.0) == 1.0);
}

TEST_CASE("requested frames are drawn, and more requests do not add up") {
  RenderScheduler scheduler;
  const auto now = RenderScheduler::Clock::now();
  drain(scheduler, now);
  scheduler.request_frames(2);
  scheduler.request_frames(5);
  CHECK(drain(scheduler, now) == 5);
}

TEST_CASE("an animation draws until its end") {
  RenderScheduler scheduler;
  const auto now = RenderScheduler::Clock::now();
  drain(scheduler, now);
  scheduler.animate_until(now + 1s);
  CHECK(drain(scheduler, now) == 100);
  CHECK(drain(scheduler, now + 2s) == 0);
}

TEST_CASE("a frame for later lets the window sleep until then") {
  RenderScheduler scheduler;
  const auto now = RenderScheduler::Clock::now();
  drain(scheduler, now);
  scheduler.draw_at(now + 250ms);
  CHECK(drain(scheduler, now) == 0);
  CHECK(scheduler.seconds_to_sleep(now, 1.0) == Approx(0.25));
  CHECK(drain(scheduler, now + 250ms) == 1);
}

TEST_CASE("frames are drawn once the last input has rested, however long there was input") {
  RenderScheduler scheduler;
  const auto start = RenderScheduler::Clock::now();
  drain(scheduler, start);
  for (auto at = 0ms; at <= 300ms; at += 20ms) {
    scheduler.input(start + at);
    CHECK(drain(scheduler, start + at) == 3);
  }
  CHECK(drain(scheduler, start + 480ms) == 0);
  CHECK(scheduler.seconds_to_sleep(start + 480ms, 1.0) == Approx(0.02));
  CHECK(drain(scheduler, start + 500ms) > 2);
  CHECK(drain(scheduler, start + 900ms) == 0);
  CHECK(scheduler.seconds_to_sleep(start + 900ms, 1.0) == 1.0);
}

TEST_CASE("another thread's wake draws a frame") {
  RenderScheduler scheduler;
  const auto now = RenderScheduler::Clock::now();
  drain(scheduler, now);
  scheduler.wake();
  CHECK(drain(scheduler, now) > 0);
}
