#include "ui/app/views/sweep_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"

namespace trainscope::ui {
namespace {

struct Arrival {
  std::size_t point = 0, side = 0;
  scenario::SweepPoint::Side result;
};

}  // namespace

struct SweepModel::Job {
  std::atomic<bool> stop{false}, done{false};
  std::mutex mutex;
  std::vector<Arrival> arrived;
  std::string error;
  std::jthread thread;  // last: it ends before what it uses

  ~Job() { stop = true; }
};

SweepModel::SweepModel(std::function<void()> wake) : wake_(std::move(wake)) {}

SweepModel::~SweepModel() {
  abandon();
}

std::size_t SweepModel::runs() const {
  return sweep_ ? sweep_->points.size() * sides_.size() : 0;
}

void SweepModel::abandon() {
  std::erase_if(ended_, [](const auto& job) { return job->done.load(); });
  if (!job_) return;
  job_->stop = true;
  ended_.push_back(std::move(job_));
  job_ = nullptr;
}

void SweepModel::start(const std::vector<scenario::LabelledConfig>& sides,
                       const std::vector<scenario::SweepAxis>& axes) {
  const auto distinct = scenario::distinct_sides(sides, axes);
  scenario::Sweep planned = scenario::planned_sweep(distinct, axes);
  const std::size_t runs = planned.points.size() * distinct.size();
  if (runs > kMostWindowRuns)
    throw InputError(fmt::format(
        "these are {} runs, and a sweep in the window has at most {}; give fewer values, "
        "or use `trainscope sweep`",
        runs, kMostWindowRuns));
  clear();
  sweep_ = std::move(planned);
  sides_ = distinct;
  job_ = std::make_shared<Job>();
  // The job outlives what asked for it only as long as its own thread is joined by its destructor.
  const auto work = [job = job_.get(), distinct, axes, wake = wake_] {
    const auto arrived = [&](std::size_t point, std::size_t side,
                             const scenario::SweepPoint::Side& result) {
      {
        const std::lock_guard lock(job->mutex);
        job->arrived.push_back({point, side, result});
      }
      wake();
    };
    const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    try {
      scenario::run_sweep(distinct, axes, threads, [](std::size_t) {}, job->stop, arrived);
    } catch (const std::exception& error) {
      const std::lock_guard lock(job->mutex);
      if (!job->stop) job->error = error.what();
    }
    job->done = true;
    wake();
  };
  job_->thread = std::jthread(work);
}

void SweepModel::cancel() {
  if (!busy()) return;
  take();
  if (!busy()) return;
  cancelled_ = true;
  abandon();
}

void SweepModel::clear() {
  abandon();
  sweep_.reset();
  sides_.clear();
  over_ = 0;
  cancelled_ = false;
  error_.clear();
}

bool SweepModel::take() {
  if (!job_) return false;
  const bool done = job_->done;  // before what arrived last is looked at
  std::vector<Arrival> arrived;
  {
    const std::lock_guard lock(job_->mutex);
    arrived.swap(job_->arrived);
    error_ = job_->error;
  }
  for (Arrival& one : arrived) sweep_->points[one.point].sides[one.side] = std::move(one.result);
  over_ += arrived.size();
  if (done) job_ = nullptr;
  return done || !arrived.empty();
}

bool shows_sweep(const scenario::Step& step) {
  return step.focus && step.focus->panel == "sweep";
}

}  // namespace trainscope::ui
