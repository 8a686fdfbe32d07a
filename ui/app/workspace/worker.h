// Runs simulations and reads traces beside the window, on a thread for each slot. A newer job for
// the same slot abandons the older one at once. All members belong to the window's thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "analysis/runs/gpu_runs.h"
#include "analysis/runs/run.h"
#include "program/config.h"
#include "program/listing.h"
#include "ui/app/workspace/indexed_trace.h"

namespace trainscope::ui {

// What is known of a run before it is carried out.
struct Outline {
  program::Listing listing;
  std::vector<trace::Lane> lanes;
  trace::Origin origin;
};
using OutlinePointer = std::shared_ptr<const Outline>;

Outline outline_of(const program::Program& program, const trace::Trace& trace);

// How far a run is.
struct Progress {
  double share = 0;         // of the program's commands, 0..1
  std::uint32_t spans = 0;  // written so far
  bool opening = false;     // a run that was read: its timeline, and then its metrics
  bool complete = false;    // the timeline is; numbers that the run trains and metrics may not be
  bool training = false;    // those numbers are being computed
  bool measuring = false;   // on a GPU: there is nothing to see before the end
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  std::string percent() const;  // "41 %"
};

// What has become of a job since the last look; empty parts have not changed.
struct Report {
  std::size_t slot = 0;
  bool over = false;  // done, or failed with a sentence
  OutlinePointer outline;
  std::optional<Progress> progress;
  // Of a run under way: what there is so far. A timeline that is complete gets rows of training
  // into its trace yet; should they diverge, the run's own view, which ends there, takes its place.
  TraceView view;
  analysis::RunPointer run;
  std::string error;
  std::string refusal;  // why nothing was begun: what was there before stays
  bool whole = false;   // the run is measured as a whole, though it has steps
};

class Worker {
 public:
  static constexpr std::size_t kSlots = 2;

  // `wake` is called from the worker's threads, maybe at the same time, whenever there is something
  // to report.
  explicit Worker(std::function<void()> wake,
                  analysis::GpuRuns::OpenDevice open = analysis::plugged_in_device);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void outline(std::size_t slot, std::string label, program::Config config);
  void run(std::size_t slot, std::string label, program::Config config);
  // On this machine's GPU.
  void measure(std::size_t slot, std::string label, program::Config config);
  void import(std::size_t slot, std::string label, std::filesystem::path file);
  // A run that was read from `file`: first what is drawn of it, then, where they are not there yet,
  // its metrics.
  void open(std::size_t slot, std::string label, analysis::RunPointer run, std::string file);
  // A run that is there, from its first event to its last: analysis/runs/level.h.
  void measure_whole(std::size_t slot, analysis::RunPointer run);
  void abandon(std::size_t slot);

  // What happened since the last call, without what was abandoned.
  std::vector<Report> reports();

 private:
  struct Simulate {
    program::Config config;
    bool to_the_end;
  };
  struct Whole {
    analysis::RunPointer run;
  };
  struct Measure {
    program::Config config;
  };
  struct Opened {
    analysis::RunPointer run;
    std::string file;
  };
  struct Job {
    std::size_t slot = 0;
    std::uint64_t ticket = 0;
    std::string label;
    std::variant<Simulate, Measure, Whole, std::filesystem::path, Opened> what;
  };
  struct Ticketed {
    std::uint64_t ticket = 0;
    Report report;
  };

  void add(Job job);
  void work(std::size_t slot, const std::stop_token& stop);
  void carry_out(const Job& job, const std::stop_token& stop);
  void simulate(const Job& job, const Simulate& what, const std::stop_token& stop);
  void measure(const Job& job, const Measure& what, const std::stop_token& stop);
  void measure_whole(const Job& job, const Whole& what);
  void show_opened(const Job& job, const Opened& opened, const std::stop_token& stop);
  // `drawn`: the run's view, where there is one.
  void finish(const Job& job, analysis::RunPointer run, TraceView drawn = nullptr);
  bool is_wanted(const Job& job, const std::stop_token& stop) const;
  void tell(const Job& job, Report report);
  TraceView indexed(std::size_t slot, std::shared_ptr<const trace::Trace> trace);

  std::function<void()> wake_;
  analysis::GpuRuns gpu_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::array<std::optional<Job>, kSlots> jobs_;  // that nobody has begun
  std::vector<Ticketed> reports_;
  std::array<std::atomic<std::uint64_t>, kSlots> newest_{};
  // The last views and those before them, only the slot's thread's: freeing a large one takes many
  // frames, so that the window never is the last to let go of it.
  std::array<std::array<TraceView, 2>, kSlots> kept_;
  std::array<std::jthread, kSlots> threads_;  // last: they end before what they use
};

}  // namespace trainscope::ui
