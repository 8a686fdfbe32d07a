#include "analysis/runs/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analysis/runs/measured_run.h"
#include "base/error.h"

namespace trainscope::analysis {
namespace {

// What two executors can be asked for alike: not counts that follow from the program alone, and not
// what only one of them knows.
constexpr const char* kCompared[] = {
    "time.total", "time.step", "time.forward",  "time.backward",        "time.optimizer",
    "time.h2d",   "time.d2h",  "bandwidth.h2d", "bandwidth.d2h",        "throughput.samples",
    "gpu.busy",   "gpu.idle",  "host.blocked",  "overlap.copy_compute", "flops.achieved",
    "loss.final"};

ValidationProgram named(std::string name, const std::vector<std::string>& settings) {
  ValidationProgram one{std::move(name), {}};
  one.config.set_text("host.profile=native");
  for (const std::string& setting : settings) one.config.set_text(setting);
  return one;
}

void add_copies(std::vector<ValidationProgram>& all) {
  for (const char* memory : {"pinned", "pageable"})
    for (const int mebibytes : {1, 16, 256})
      all.push_back(named(fmt::format("{} copies of {} MiB", memory, mebibytes),
                          {"workload=copy", std::string("copy.memory=") + memory,
                           "copy.bytes=" + std::to_string(mebibytes << 20), "copy.count=20",
                           "transfer.non_blocking=true"}));
  all.push_back(named("pinned copies of 256 MiB back",
                      {"workload=copy", "copy.memory=pinned", "copy.direction=d2h",
                       "copy.bytes=268435456", "copy.count=10"}));
}

std::string percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string summary_line(const std::string& name, std::span<const double> errors) {
  const ErrorSummary sum = summarise_errors(errors);
  return fmt::format("| {} | {} | {:.1f} % | {} | {} |\n", name, sum.count, 100 * sum.mean_size,
                     percent(sum.mean), percent(sum.worst));
}

// Simulated on the machine that is the device, or that was asked for.
program::Config simulated_config(const program::Config& config, const std::string& machine,
                                 const Run& measured) {
  program::Config same = config;
  const std::string id = machine.empty() ? measured.machine->id : machine;
  same.set_text("machine=" + id);
  return same;
}

// An error between two GPUs says little of the simulator.
std::string caveat_of(const machine::Machine& simulated, const cuda::DeviceFacts& facts) {
  if (describes(simulated.gpu, facts)) return "";
  return "What is simulated, " + simulated.name + ", is not the GPU that was measured, " +
         facts.name +
         ": the errors are mostly between the two. `trainscope calibrate` writes a machine that is "
         "it; --machine takes one.";
}

// With which power a metric of whole runs grows with the time that they take; 0: it tells of single
// kernels, copies and waits.
int power_of_time(std::string_view metric) {
  if (metric == "time.total" || metric == "time.step") return 1;
  return metric == "throughput.samples" || metric == "flops.achieved" ? -1 : 0;
}

// What the program takes with nothing watched over what it took traced; 0: not known.
double share_without_tracer(const program::Config& config, cuda::DeviceCalls& device,
                            Nanos traced) {
  Nanos untraced = 0;
  device.watch(cuda::WatchLevel::kNothing);
  const Run run =
      measured_run("untraced", config, device, {.took = [&](Nanos nanos) { untraced = nanos; }});
  device.watch(cuda::WatchLevel::kEverything);
  if (run.ending || traced <= 0) return 0;
  return static_cast<double>(untraced) / static_cast<double>(traced);
}

}  // namespace

ErrorSummary summarise_errors(std::span<const double> errors) {
  ErrorSummary summary;
  summary.count = errors.size();
  if (errors.empty()) return summary;
  for (const double error : errors) {
    summary.mean += error;
    summary.mean_size += std::abs(error);
    if (std::abs(error) > std::abs(summary.worst)) summary.worst = error;
  }
  summary.mean /= static_cast<double>(errors.size());
  summary.mean_size /= static_cast<double>(errors.size());
  return summary;
}

std::vector<ValidationProgram> validation_programs() {
  std::vector<ValidationProgram> all;
  add_copies(all);
  const std::vector<std::string> launches{"workload=launch", "launch.count=200", "steps=5",
                                          "launch.kernel_ns=5000"};
  all.push_back(named("200 launches of 5 us", launches));
  all.push_back(named("200 launches of 5 us in a graph", launches));
  all.back().config.set_text("launch.graph=true");
  for (const char* type : {"fp32", "fp16"})
    for (const int size : {1024, 8192}) {
      const std::string n = std::to_string(size);
      all.push_back(named(fmt::format("{} product of {}", type, size),
                          {"workload=gemm", "gemm.m=" + n, "gemm.n=" + n, "gemm.k=" + n,
                           std::string("gemm.type=") + type, "steps=10"}));
    }
  all.push_back(named("1000 busy blocks", {"workload=kernel", "kernel.grid=1000",
                                           "kernel.block=256", "kernel.count=10", "steps=5"}));
  all.push_back(named("training an MLP", {"workload=train", "model.name=mlp", "data.name=spirals",
                                          "model.inputs=2", "steps=30"}));
  all.push_back(named("training a CNN",
                      {"workload=train", "model.name=cnn", "data.name=digits", "steps=20"}));
  all.push_back(
      named("training a small GPT", {"workload=train", "model.name=gpt-mini", "steps=20"}));
  all.push_back(
      named("training a small GPT in FP16", {"workload=train", "model.name=gpt-mini", "steps=20",
                                             "precision=fp16", "scaler.enabled=true"}));
  return all;
}

std::vector<ValidationRow> compare_executors(const std::string& program, const Run& simulated,
                                             const Run& measured, double untraced) {
  std::vector<ValidationRow> rows;
  for (const char* name : kCompared) {
    const auto ours = value_of(simulated.metrics, name), real = value_of(measured.metrics, name);
    if (!ours || !real) continue;
    const double as_untraced = *real * std::pow(untraced, power_of_time(name));
    ValidationRow row{program, &find_metric(name), *ours, as_untraced, {}};
    const double error = (*ours - as_untraced) / as_untraced;
    if (std::isfinite(error)) row.error = error;  // none of what diverged, or is nothing
    rows.push_back(std::move(row));
  }
  return rows;
}

Validation validate_executors(cuda::DeviceCalls& device,
                              const std::vector<ValidationProgram>& programs,
                              const std::string& machine,
                              const std::function<void(const Validation&)>& progress) {
  Validation all;
  for (const ValidationProgram& one : programs) {
    if (!device.is_usable()) {
      all.left_out.push_back(one.name + " and what comes after: the GPU was lost before");
      break;
    }
    try {
      // What is loaded and planned at a first use is done in a run before.
      Nanos traced = 0;
      Run measured = measured_run("first", one.config, device);
      if (!measured.ending)
        measured = measured_run("measured", one.config, device,
                                {.took = [&](Nanos nanos) { traced = nanos; }});
      if (measured.ending) {
        all.left_out.push_back(one.name + ": " + sim::sentence(*measured.ending));
        continue;
      }
      const program::Config config = simulated_config(one.config, machine, measured);
      const Run simulated = run_config("simulated", config);
      const double untraced = share_without_tracer(one.config, device, traced);
      if (untraced > 0) all.tracing.emplace_back(one.name, 1 / untraced - 1);
      const auto rows =
          compare_executors(one.name, simulated, measured, untraced > 0 ? untraced : 1);
      all.rows.insert(all.rows.end(), rows.begin(), rows.end());
      all.origin = measured.trace->origin().subject + ", " + measured.trace->origin().detail;
      all.machine = simulated.machine->name;
      all.caveat = caveat_of(*simulated.machine, device.facts());
      if (progress) progress(all);
    } catch (const Error& error) {  // whatever it is, the others are measured
      all.left_out.push_back(one.name + ": " + error.what());
    }
  }
  if (all.rows.empty())
    throw MissingError("nothing was measured" +
                       (all.left_out.empty() ? std::string() : ": " + all.left_out.front()));
  return all;
}

std::vector<double> errors_of(const std::vector<ValidationRow>& rows, const Metric* metric) {
  std::vector<double> errors;
  for (const ValidationRow& row : rows)
    if (row.error && (!metric || row.metric == metric)) errors.push_back(*row.error);
  return errors;
}

std::vector<const Metric*> metrics_of(const std::vector<ValidationRow>& rows) {
  std::vector<const Metric*> all;
  for (const ValidationRow& row : rows)
    if (std::find(all.begin(), all.end(), row.metric) == all.end()) all.push_back(row.metric);
  return all;
}

std::string validation_page(const Validation& validation) {
  std::string text =
      "# Simulated beside measured\n\nWritten by `trainscope validate`. Measured: " +
      validation.origin + ".\nSimulated: " + validation.machine +
      ", host profile native.\nAn error above 0: the simulator says more.\n\n" +
      (validation.caveat.empty() ? "" : validation.caveat + "\n\n") +
      "| program | metric | simulated | measured | error |\n|---|---|---:|---:|---:|\n";
  for (const ValidationRow& row : validation.rows)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", row.program, row.metric->name,
                        show(*row.metric, row.simulated), show(*row.metric, row.measured),
                        row.error ? percent(*row.error) : "");
  text +=
      "\n| metric | programs | mean error | mean, signed | worst |\n|---|---:|---:|---:|---:|\n";
  for (const Metric* metric : metrics_of(validation.rows)) {
    const std::vector<double> errors = errors_of(validation.rows, metric);
    if (!errors.empty()) text += summary_line(metric->name, errors);
  }
  text += summary_line("all", errors_of(validation.rows, nullptr));
  if (!validation.tracing.empty())
    text +=
        "\nTimes and rates of steps and runs are those of a run that nothing traces: measured "
        "traced, and set right by what tracing makes the run longer.\n\n"
        "| program | traced it takes |\n|---|---:|\n";
  for (const auto& [program, longer] : validation.tracing)
    text += fmt::format("| {} | {} |\n", program, percent(longer));
  if (!validation.left_out.empty()) text += "\nNot compared:\n\n";
  for (const std::string& sentence : validation.left_out) text += "- " + sentence + "\n";
  return text;
}

}  // namespace trainscope::analysis
