// A sweep that runs beside the window on all cores: its points arrive one by one. All members
// belong to the window's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenario/lesson.h"
#include "scenario/sweep.h"

namespace trainscope::ui {

// More runs than these nobody waits for at a window.
inline constexpr std::size_t kMostWindowRuns = 2000;

class SweepModel {
 public:
  // `wake` is called from other threads whenever something has arrived.
  explicit SweepModel(std::function<void()> wake);
  ~SweepModel();
  SweepModel(const SweepModel&) = delete;
  SweepModel& operator=(const SweepModel&) = delete;

  // Begins anew; what was under way is abandoned at once. Throws InputError for what no sweep can
  // be of, and for more than kMostWindowRuns runs.
  void start(const std::vector<scenario::LabelledConfig>& sides,
             const std::vector<scenario::SweepAxis>& axes);
  // What has arrived stays.
  void cancel();
  void clear();

  // Takes in what has arrived since; true when something has.
  bool take();

  bool busy() const { return job_ != nullptr; }
  bool cancelled() const { return cancelled_; }
  // Points that have not arrived have no side that is over. Nothing: none was begun.
  const std::optional<scenario::Sweep>& sweep() const { return sweep_; }
  // The configs that it varies, by label: those that differ in nothing else are one, "A and B".
  const std::vector<scenario::LabelledConfig>& sides() const { return sides_; }
  std::size_t over() const { return over_; }
  std::size_t runs() const;
  const std::string& error() const { return error_; }  // a fault of our own, as a sentence

 private:
  struct Job;
  void abandon();

  std::function<void()> wake_;
  std::optional<scenario::Sweep> sweep_;
  std::vector<scenario::LabelledConfig> sides_;
  std::size_t over_ = 0;
  bool cancelled_ = false;
  std::string error_;
  std::shared_ptr<Job> job_;                 // under way
  std::vector<std::shared_ptr<Job>> ended_;  // being stopped
};

// The step of a lesson points at the lesson's sweep.
bool shows_sweep(const scenario::Step& step);

}  // namespace trainscope::ui
