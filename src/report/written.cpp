#include "report/written.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/runs/measured_run.h"
#include "base/csv.h"
#include "trace/chrome_writer.h"

namespace trainscope::report {
namespace {

trace::WriteOptions write_options(const analysis::Run& run, int processes) {
  trace::WriteOptions options;
  if (processes > 1) options.world_size = processes;
  const analysis::Measured& measured = run.facts.measured;
  options.warmup_steps = measured.steps > 0 ? measured.first_step
                                            : analysis::warmup_steps(*run.trace, run.program.get());
  if (run.ending) options.ended_early = sim::sentence(*run.ending);
  if (!run.machine) return options;
  const machine::Gpu& gpu = run.machine->gpu;
  const trace::Origin& origin = run.trace->origin();
  trace::DeviceProperties device;
  device.name = trace::is_measured(*run.trace) ? origin.subject : gpu.name;
  const auto add_each = [&] {
    for (; device.id < analysis::rank_count(run); ++device.id) options.devices.push_back(device);
    return options;
  };
  if (!analysis::is_of_device(origin)) return add_each();
  device.total_memory = gpu.memory_bytes;
  device.compute_major = static_cast<int>(gpu.compute_capability);
  device.compute_minor = static_cast<int>(std::lround(gpu.compute_capability * 10)) % 10;
  device.max_threads_per_multiprocessor = gpu.threads_per_sm;
  device.registers_per_multiprocessor = gpu.registers_per_sm;
  device.shared_per_multiprocessor = gpu.shared_bytes_per_sm;
  device.multiprocessors = gpu.sm_count;
  return add_each();
}

constexpr const char* kTraceEndings[] = {".json.gz", ".json"};

// Of a trace's file name; empty where it has none.
std::string trace_ending(const std::string& file) {
  for (const char* ending : kTraceEndings)
    if (file.ends_with(ending)) return ending;
  return "";
}

// What stands above runs that are of no lesson: their files or machines, each once.
std::string title_of(const std::vector<analysis::RunPointer>& runs) {
  std::vector<std::string> subjects;
  for (const auto& run : runs)
    if (const std::string& subject = run->trace->origin().subject;
        std::ranges::find(subjects, subject) == subjects.end())
      subjects.push_back(subject);
  return fmt::format("{}", fmt::join(subjects, " | "));
}

}  // namespace

ReportInput report_input(const analysis::SavedRuns& saved, const Speech& speech) {
  ReportInput input;
  input.speech = speech;
  input.language = saved.subject.language;
  input.version = saved.version;
  for (const auto& run : saved.runs) input.runs.push_back(run.get());
  input.title = saved.subject.title.empty() ? title_of(saved.runs) : saved.subject.title;
  input.caveat = saved.subject.caveat;
  input.paragraphs = saved.subject.paragraphs;
  input.limits = saved.subject.limits;
  return input;
}

std::filesystem::path for_run(const std::string& file, const std::string& label, bool several) {
  if (!several) return file;
  const std::string ending = trace_ending(file);
  return file.substr(0, file.size() - ending.size()) + "." + label + ending;
}

std::vector<std::filesystem::path> write_traces(const analysis::SavedRuns& saved,
                                                const std::string& file) {
  std::vector<std::filesystem::path> written;
  for (const auto& run : saved.runs) {
    const std::string name = for_run(file, run->label, saved.runs.size() > 1).string();
    const std::string ending = trace_ending(name);
    const int processes = analysis::process_count(*run);
    const trace::WriteOptions options = write_options(*run, processes);
    if (processes == 1 || !ending.empty()) {
      written.push_back(name);
      trace::write_chrome_trace(*run->trace, written.back(), options);
    }
    if (processes == 1) continue;
    written.push_back(name.substr(0, name.size() - ending.size()));
    trace::write_chrome_folder(*run->trace, written.back(), options,
                               ending.empty() ? kTraceEndings[0] : ending);
  }
  return written;
}

std::string metrics_csv(const analysis::SavedRuns& saved) {
  std::vector<std::string> head{"metric", "unit"};
  for (const auto& run : saved.runs) head.push_back(run->label);
  std::string csv;
  add_csv_line(csv, head);
  for (const analysis::Metric& metric : analysis::metrics()) {
    std::vector<std::string> row{metric.name, metric.unit};
    bool any = false;
    for (const auto& run : saved.runs) {
      const auto value = analysis::value_of(run->metrics, metric.name);
      any |= value.has_value();
      row.push_back(value && std::isfinite(*value) ? fmt::format("{}", *value) : "");
    }
    if (any) add_csv_line(csv, row);
  }
  return csv;
}

}  // namespace trainscope::report
