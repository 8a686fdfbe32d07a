// How far the simulator is from a device: programs through both executors, metric by metric. An
// error is (simulated - measured) / measured: above 0, the simulator says more.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/runs/run.h"
#include "cuda/device_calls.h"

namespace trainscope::analysis {

struct ErrorSummary {
  std::size_t count = 0;
  double mean_size = 0;  // of the errors without their sign
  double mean = 0;       // with it
  double worst = 0;      // the largest, with its sign
};
ErrorSummary summarise_errors(std::span<const double> errors);

struct ValidationProgram {
  std::string name;  // "pinned copies of 16 MiB"
  program::Config config;
};

// What is compared on a device: copies, launches, graphs, products, and training steps. The
// host profile is native: the calls of this program, with no framework around them.
std::vector<ValidationProgram> validation_programs();

struct ValidationRow {
  std::string program;
  const Metric* metric = nullptr;
  double simulated = 0;
  double measured = 0;
  std::optional<double> error;  // none where nothing was measured: 0
};

// The metrics of times, rates and losses that both runs have, in the registry's order. `untraced`:
// what the program takes without a tracer over what it takes with one. The simulator knows of none,
// so the times and rates of whole steps and runs are set right by it; those of single kernels and
// copies are as the tracer tells them.
std::vector<ValidationRow> compare_executors(const std::string& program, const Run& simulated,
                                             const Run& measured, double untraced = 1);

struct Validation {
  std::string machine;  // that was simulated
  std::string origin;   // of the measurements: device, driver, date
  std::string caveat;   // a sentence where that is no machine with this device; else empty
  std::vector<ValidationRow> rows;
  // By how much a program takes longer for being traced: 0.1 is a tenth.
  std::vector<std::pair<std::string, double>> tracing;
  std::vector<std::string> left_out;  // a sentence each: programs that the device could not run
};

// Carries each out on the device, traced and then not, and simulates it on `machine`, an id or a
// file; empty: on the device's own, else on the config's. A program that fails is left out with a
// sentence; one after which the device is lost is the last. `progress` gets what there is after
// each that was measured. Throws MissingError when nothing was measured.
Validation validate_executors(cuda::DeviceCalls& device,
                              const std::vector<ValidationProgram>& programs,
                              const std::string& machine,
                              const std::function<void(const Validation&)>& progress = {});

// The errors of one metric, or of all (null), of the rows that have one.
std::vector<double> errors_of(const std::vector<ValidationRow>& rows, const Metric* metric);

// The metrics that rows have, each once.
std::vector<const Metric*> metrics_of(const std::vector<ValidationRow>& rows);

// As a page in Markdown, with the device and the date: what is kept of it.
std::string validation_page(const Validation& validation);

}  // namespace trainscope::analysis
