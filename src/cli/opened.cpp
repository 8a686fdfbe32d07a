#include "cli/opened.h"

#include <utility>

#include "analysis/runs/level.h"
#include "base/error.h"
#include "base/files.h"
#include "base/named.h"
#include "base/text.h"
#include "cli/sides.h"

namespace trainscope::cli {
namespace {

std::string labels_of(const analysis::SavedRuns& saved) {
  std::string labels;
  for (const auto& run : saved.runs) add_to_list(labels, run->label);
  return labels;
}

const RunPointer* side_of(const analysis::SavedRuns& saved, const std::string& side) {
  for (const RunPointer& run : saved.runs)
    if (run->label == side) return &run;
  return nullptr;
}

std::string taken(const std::string& word, const std::string& side, const std::string& other) {
  return word + ": side " + side + " is compared; write " + word + ":" + other + " for side " +
         other;
}

// A run of two sides stands for B.
TakenRun saved_side(const std::string& word) {
  const analysis::SavedRuns saved = open_saved(word);
  const RunPointer* recommended = side_of(saved, "B");
  const RunPointer& run = saved.runs.size() == 2 && recommended ? *recommended : saved.runs.front();
  if (saved.runs.size() == 1) return {run, ""};
  const RunPointer& other = saved.runs[run == saved.runs.front() ? 1 : 0];
  return {run, taken(word, run->label, other->label)};
}

// Of two that are compared, whose knobs contradict one another.
RunPointer run_of_named(const std::string& word, const std::string& label,
                        const program::Config& config) {
  try {
    return std::make_shared<const analysis::Run>(analysis::run_config(label, config));
  } catch (const InputError& error) {
    throw InputError(named(word, error.what()));
  }
}

// A lesson's side, or a config, which has one side and may be called by it.
TakenRun configured(const std::string& word) {
  RunOptions options;
  options.what = word;
  const Request request = read_request(options);
  const auto& [label, config] = request.sides.back();
  return {run_of_named(word, label, config),
          request.sides.size() > 1 ? taken(word, label, request.sides.front().first) : ""};
}

}  // namespace

bool names_saved_run(const std::string& word) {
  return analysis::is_run_file(word) || analysis::is_run_file(split_side(word).what);
}

analysis::SavedRuns open_saved(const std::string& word) {
  const std::string file = is_there(word) ? word : split_side(word).what;
  return analysis::all_analysed(read_saved(word), file);
}

analysis::SavedRuns read_saved(const std::string& word) {
  const SideName name = is_there(word) ? SideName{word, ""} : split_side(word);
  analysis::SavedRuns saved = analysis::read_runs(name.what);
  if (name.side.empty()) {
    if (!saved.compared || saved.runs.size() != 2) return saved;
    saved = analysis::all_analysed(std::move(saved), name.what);
    analysis::level(saved.runs);
    return saved;
  }
  const RunPointer* run = side_of(saved, name.side);
  if (!run)
    throw InputError(name.what + " holds no run " + name.side + "; it holds " + labels_of(saved));
  saved.runs = {RunPointer(*run)};
  saved.compared = false;
  saved.subject.lesson.clear();
  return saved;
}

TakenRun run_of(const std::string& word) {
  if (names_saved_run(word)) return saved_side(word);
  const SideName name = split_side(word);
  const std::string& what = is_there(word) ? word : name.what;
  if (!names_trace(what)) return configured(word);
  if (what != word) throw InputError(word + ": a trace has no sides; write " + what);
  return {std::make_shared<const analysis::Run>(analysis::import_run("A", what)), ""};
}

RunPointer labelled(const RunPointer& run, const std::string& label) {
  auto copy = std::make_shared<analysis::Run>(*run);
  copy->label = label;
  return copy;
}

}  // namespace trainscope::cli
