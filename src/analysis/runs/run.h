// A run: a config carried out on a machine, and everything that views of it need.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/causes/rank_times.h"
#include "analysis/metrics/metrics.h"
#include "analysis/metrics/rank_metrics.h"
#include "analysis/runs/run_notes.h"
#include "host/later_numbers.h"
#include "machine/machine.h"
#include "program/config.h"
#include "program/numbers.h"
#include "program/program.h"
#include "sim/simulation.h"
#include "trace/trace.h"

namespace trainscope::analysis {

// An immutable finished run, shared by views. An imported one has a trace and metrics only.
struct Run {
  std::string label;  // "A"
  program::Config config;
  std::shared_ptr<const machine::Machine> machine;  // null: imported
  std::shared_ptr<const program::Program> program;  // null: imported
  std::shared_ptr<const trace::Trace> trace;
  // Why the run ended before its program did; its trace and metrics are those up to there.
  std::optional<sim::Ending> ending;
  std::string caveat;  // why its numbers say less than they seem to, a sentence; mostly empty
  Facts facts;
  std::vector<MetricValue> metrics;
  std::shared_ptr<RankMetrics> of_ranks;  // computed when they are asked for
  std::vector<RankTimes> ranks;           // of several that wait for one another
  std::vector<IdleGap> gaps;              // longest first
  std::vector<IdleGap> exposed;           // communication with nothing beside it, likewise
  std::vector<RunNote> notes;             // that people wrote on it, sorted
};

// A finished one, that many look at and nobody changes.
using RunPointer = std::shared_ptr<const Run>;

// Computes facts, metrics and gaps from the run's trace, program and machine.
void analyse(Run& run);

// The same run measured from its first event to its last, warm-up included, as a trace without
// steps is: to be put beside one.
Run measured_as_a_whole(const Run& run);

// A run under way. The trace may be drawn while it grows. Where no number decides what the program
// does, its whole timeline is there before the numbers that it trains; should a loss then end the
// run, another trace takes the place of the first.
class Session {
 public:
  // Loads the machine and builds the program. Numbers are computed by at most so many threads, on
  // which they do not depend. Throws InputError.
  Session(std::string label, const program::Config& config, int threads = kMostThreads);

  const std::shared_ptr<const trace::Trace>& trace() const { return shared_trace_; }
  const program::Program& program() const { return *program_; }

  // Goes on for about `budget` simulated events, or as long with numbers; true once the run is
  // over, also when the device's memory did not suffice or training diverged. Throws InputError.
  bool advance(std::uint64_t budget);

  // The timeline is complete, and only rows of training are still added to the trace.
  bool is_training() const { return timed_ && later_ && !numbers_; }

  // How much of the program is carried out, 0..1, by its commands.
  double share() const;

  // The finished run, analysed; call once, after advance has returned true. Throws InputError.
  Run result();

  static constexpr int kMostThreads = 8;  // operations of this size use no more

 private:
  void begin();
  bool train(std::uint64_t budget);

  Run run_;
  std::shared_ptr<const machine::Machine> machine_;
  std::shared_ptr<program::Program> program_;
  std::shared_ptr<trace::Trace> trace_;
  std::shared_ptr<const trace::Trace> shared_trace_;
  std::unique_ptr<host::LaterNumbers> later_;  // null: the program has none that can wait
  std::unique_ptr<program::Numbers> numbers_;  // null: nor others, or they are not known yet
  std::unique_ptr<sim::Simulation> simulation_;
  std::uint64_t commands_ = 0;
  bool timed_ = false;  // the program is carried out
};

// Runs a config from start to end.
Run run_config(std::string label, const program::Config& config);

// A trace file as a run, or a folder of the files of one job's ranks; one that says why its run
// ended early has that as its ending. Throws InputError, also where there is nothing to show.
Run import_run(std::string label, const std::filesystem::path& path);

}  // namespace trainscope::analysis
