#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/parallel.h"
#include "base/platform.h"
#include "base/units.h"

namespace trainscope::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kEventsAtOnce = 65536;  // some milliseconds
constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kBetweenLines = std::chrono::milliseconds(200);

// A signal handler can reach nothing else; it is set only while a run goes on.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void note_interrupt(int) {
  interrupted = true;
}

// Takes Ctrl-C for as long as it lives.
class Interruptible {
 public:
  Interruptible() {
    interrupted = false;
    before_ = std::signal(SIGINT, note_interrupt);
  }
  ~Interruptible() { std::signal(SIGINT, before_); }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  void (*before_)(int) = SIG_DFL;
};

// One line on the terminal, written over again; gone when it is done.
class ProgressLine {
 public:
  ProgressLine() : shown_(platform::errors_are_read()) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Whether it is time for another line.
  bool due() {
    const Clock::time_point now = Clock::now();
    if (!shown_ || now - begun_ < kPatience || now - last_ < kBetweenLines) return false;
    last_ = now;
    return true;
  }
  void say(const std::string& text) {
    written_ = true;
    fmt::print(stderr, "\r\033[K{}", text);
    std::fflush(stderr);
  }
  void clear() {
    if (!written_) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    written_ = false;
  }

 private:
  bool shown_;
  bool written_ = false;
  Clock::time_point begun_ = Clock::now(), last_{};
};

}  // namespace

analysis::Run run_with_progress(const std::string& label, const program::Config& config) {
  const Interruptible interruptible;
  analysis::Session session(label, config);
  ProgressLine line;
  while (!session.advance(kEventsAtOnce)) {
    if (interrupted) {
      line.clear();
      throw Error(Fault::kFailed,
                  fmt::format("stopped at {:.0f} % of run {}; nothing of it was written",
                              std::floor(100 * session.share()), label));
    }
    if (line.due())
      line.say(fmt::format("{}: {:.0f} % of the program, {} spans", label, 100 * session.share(),
                           format_count(static_cast<double>(session.trace()->spans().size()))));
  }
  return session.result();
}

scenario::Sweep sweep_with_progress(const std::vector<scenario::LabelledConfig>& sides,
                                    std::vector<scenario::SweepAxis> axes) {
  const Interruptible interruptible;
  std::size_t runs = sides.size();
  for (const scenario::SweepAxis& axis : axes) runs *= axis.values.size();
  ProgressLine line;
  std::mutex mutex;
  const auto say = [&](std::size_t done) {
    const std::lock_guard lock(mutex);
    if (line.due()) line.say(fmt::format("{} of {} runs", done, runs));
  };
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return scenario::run_sweep(sides, std::move(axes), threads, say, interrupted);
}

void in_parallel_with_progress(std::size_t count, const std::string& what,
                               const std::function<void(std::size_t)>& work, std::size_t most) {
  ProgressLine line;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads = most > 0 ? std::min(most, cores) : cores;
  in_order(count, threads, work, [&](std::size_t done) {
    if (line.due()) line.say(fmt::format("{} of {} {}", done + 1, count, what));
  });
}

}  // namespace trainscope::cli
