#include "analysis/runs/run_file.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/runs/run_head.h"
#include "base/error.h"
#include "base/files.h"
#include "trace/packed.h"
#include "trace/trace_bytes.h"

namespace trainscope::analysis {
namespace {

constexpr std::size_t kLargest = std::size_t{4} << 30;

// As PNG's: a byte that is no text, and both line ends, so that a copy that changed them is found.
constexpr std::string_view kMark = "\x89TSRUN\r\n";

const trace::Envelope& envelope() {
  static const trace::Envelope one{
      kMark, 2, "a saved run", 2,
      "carry its lesson or config out again with `trainscope run` and save that"};
  return one;
}

Head head_of(std::string_view text, const std::string& name) try {
  return read_head(text);
} catch (const InputError& error) {
  throw InputError(name + ": cannot be opened: " + error.what());
} catch (const nlohmann::json::exception&) {
  throw InputError(name + ": is damaged: its head does not describe runs; save it again");
}

void check_lanes_of_notes(const Run& run, const std::string& name) {
  for (const RunNote& note : run.notes)
    if (note.lane >= run.trace->lanes().size())
      throw InputError(name + ": is damaged: one of its notes stands on a lane that run " +
                       run.label + " does not have; save it again");
}

}  // namespace

std::string executor_of(const std::vector<RunPointer>& runs) {
  std::string executor = "sim";
  for (const RunPointer& run : runs) {
    if (!run->program) executor = "imported";
    if (trace::is_measured(*run->trace)) executor = "cuda";
  }
  return executor;
}

bool is_run_file(const std::filesystem::path& path) {
  if (path.extension() == ".tsrun") return true;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::string start(kMark.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file && start == kMark;
}

std::string runs_content(const SavedRuns& saved) {
  trace::ByteWriter out;
  out.text(write_head(saved));
  for (const auto& run : saved.runs) trace::save_trace(*run->trace, out);
  return out.bytes();
}

namespace {

SavedRuns read_all(trace::ByteReader in, const std::string& name) {
  Head head = head_of(in.text(), name);
  SavedRuns saved = std::move(head.saved);
  for (std::size_t i = 0; i < head.runs.size(); ++i) {
    Run& run = head.runs[i];
    std::unique_ptr<trace::Trace> trace = trace::load_trace(in);
    trace::Origin origin = trace->origin();
    origin.warmup_steps = head.warmup_steps[i];
    trace->set_origin(std::move(origin));
    run.trace = std::move(trace);
    check_lanes_of_notes(run, name);
    saved.runs.push_back(std::make_shared<const Run>(std::move(run)));
  }
  if (in.left() > 0) in.damaged("there is more in it than its runs");
  return saved;
}

// Unpacks on one thread and reads on this one.
SavedRuns read_packed(std::string_view bytes, const std::string& name) {
  trace::Unpacking unpacking(envelope(), bytes, name);
  SavedRuns saved = read_all({unpacking, name}, name);
  unpacking.finish();
  return saved;
}

// What `read` gives; one sentence where there is not the memory for it.
template <typename Read>
auto within_memory(const std::string& name, const Read& read) try {
  return read();
} catch (const std::bad_alloc&) {
  throw InputError(name + ": does not fit into this machine's memory; save fewer steps");
}

// What nobody could have run, a kernel too large for its GPU, shows only here.
void analyse_opened(Run& run, const std::string& name) try {
  analyse(run);
} catch (const InputError& error) {
  throw InputError(name + ": cannot be opened: " + error.what());
}

}  // namespace

Run analysed(Run run, const std::string& name) {
  within_memory(name, [&] { analyse_opened(run, name); });
  return run;
}

SavedRuns all_analysed(SavedRuns saved, const std::string& name) {
  for (auto& run : saved.runs)
    if (!is_analysed(*run)) run = std::make_shared<const Run>(analysed(*run, name));
  return saved;
}

SavedRuns read_runs_content(std::string_view content, const std::string& name) {
  return within_memory(name, [&] { return all_analysed(read_all({content, name}, name), name); });
}

std::string pack_runs(const SavedRuns& saved) {
  return trace::pack(envelope(), runs_content(saved));
}

void save_runs(const SavedRuns& saved, const std::filesystem::path& path) {
  write_file(path, pack_runs(saved));
}

SavedRuns unpack_runs(std::string_view bytes, const std::string& name) {
  return within_memory(name, [&] { return all_analysed(read_packed(bytes, name), name); });
}

SavedRuns read_runs(const std::filesystem::path& path) {
  const std::string name = path.string();
  return within_memory(name,
                       [&] { return read_packed(read_marked_file(path, kMark, kLargest), name); });
}

SavedRuns open_runs(const std::filesystem::path& path) {
  return all_analysed(read_runs(path), path.string());
}

}  // namespace trainscope::analysis
