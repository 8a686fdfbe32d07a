// `trainscope check`: lessons, machines, GPUs and configs.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <string>

#include "analysis/runs/published_errors.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/commands.h"
#include "machine/machine.h"
#include "report/json.h"
#include "report/said_words.h"
#include "scenario/check.h"
#include "scenario/file_kind.h"
#include "scenario/glossary.h"
#include "scenario/published.h"
#include "scenario/translation.h"
#include "scenario/words_file.h"
#ifdef TRAINSCOPE_HAS_UI
#include "ui/app/window/trainscope_window.h"
#endif

namespace trainscope::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    const fs::file_status status = status_of(path);
    if (!fs::exists(status)) throw InputError(path + ": there is no such file or folder");
    if (!fs::is_directory(status)) {
      files.emplace_back(path);
      continue;
    }
    const std::vector<fs::path> inside = all_files_in(path, ".toml");
    files.insert(files.end(), inside.begin(), inside.end());
    if (inside.empty()) throw InputError(path + ": this folder holds no .toml file to check");
  }
  return files;
}

// Which actions there are, only the window knows; without it they are not checked.
void check_actions(const scenario::Lesson& lesson, std::vector<std::string>& sentences) {
#ifdef TRAINSCOPE_HAS_UI
  std::vector<std::string> known;
  for (const ui::ActionInfo& action : ui::actions()) known.push_back(action.id);
  for (const scenario::Step& step : lesson.steps)
    if (!step.done_action.empty() && !ui::find_action(step.done_action))
      sentences.push_back(describe(step.place) + "there is no action " + step.done_action +
                          did_you_mean(step.done_action, known));
#else
  (void)lesson;
  (void)sentences;
#endif
}

std::vector<std::string> lesson_findings(const fs::path& file) {
  std::vector<std::string> sentences;
  const scenario::Lesson lesson = scenario::load_lesson(file, sentences);
  // What is wrong in a glossary or claims beside it hides nothing of its own.
  const std::string own = file.string() + ":";
  if (std::ranges::any_of(sentences, [&](const auto& one) { return one.starts_with(own); }))
    return sentences;
  for (const scenario::Finding& one : scenario::check_lesson(lesson))
    sentences.push_back(describe(one.place) + one.sentence);
  check_actions(lesson, sentences);
  return sentences;
}

std::vector<std::string> findings_of(const fs::path& file) {
  std::vector<std::string> sentences;
  try {
    using scenario::FileKind;
    switch (scenario::kind_of(file)) {
      case FileKind::kLesson:
        sentences = lesson_findings(file);
        break;
      case FileKind::kTranslation:
        for (const scenario::Finding& one : scenario::check_translation(file))
          sentences.push_back(describe(one.place) + one.sentence);
        break;
      case FileKind::kWords:
        for (const scenario::Finding& one : scenario::check_words(file, report::said_words()))
          sentences.push_back(describe(one.place) + one.sentence);
        break;
      case FileKind::kMachine:
        machine::check_machine_file(file);
        break;
      case FileKind::kGpu:
        machine::check_gpu_file(file);
        break;
      case FileKind::kClaims:
        scenario::check_claims_file(file);
        break;
      case FileKind::kGlossary:
        for (const auto& [place, sentence] :
             scenario::check_glossary(scenario::Glossary::load(file)))
          sentences.push_back(describe(place) + sentence);
        break;
      case FileKind::kPublished:
        scenario::load_published(file);
        break;
      case FileKind::kErrors:
        analysis::load_published_errors(file);
        break;
      case FileKind::kConfig:
      case FileKind::kRun:
      case FileKind::kTrace:
      case FileKind::kOther:
        sentences = scenario::check_config_file(file);
        break;
    }
  } catch (const InputError& error) {
    sentences.emplace_back(error.what());
  }
  return sentences;
}

// Lessons that are looked at together: each holds its two runs, and computes with threads of its
// own.
constexpr std::size_t kMostTogether = 2;

using Found = std::optional<std::vector<std::string>>;  // none: it could not be looked at

// What was told of a file before, which a lesson reads as well, is not told again.
void leave_out_told(Found& found, std::set<std::string>& told) {
  if (!found) return;
  std::erase_if(*found, [&](const std::string& sentence) { return !told.insert(sentence).second; });
}

void tell(const fs::path& file, const Found& found) {
  if (!found)
    std::cout << file.string() << ": not checked to its end\n";
  else if (found->empty())
    std::cout << file.string() << ": ok\n";
  else
    for (const std::string& sentence : *found) std::cout << sentence << '\n';
  std::cout.flush();
}

}  // namespace

int check_command(const std::vector<std::string>& paths, bool json) {
  const std::vector<fs::path> files = files_of(paths);
  std::vector<Found> found(files.size());
  std::set<std::string> told;
  in_order(
      files.size(), kMostTogether,
      [&](std::size_t file) { found[file] = findings_of(files[file]); },
      [&](std::size_t file) {
        const bool well = !found[file] || found[file]->empty();
        leave_out_told(found[file], told);
        if (!json && (well || !found[file]->empty())) tell(files[file], found[file]);
      });
  std::vector<std::string> all;
  for (const Found& sentences : found) all.insert(all.end(), sentences->begin(), sentences->end());
  if (json) {
    std::cout << report::check_json(files.size(), all) << "\n";
  } else {
    std::cout << files.size() << " checked, " << counted(all.size(), "finding") << "\n";
  }
  return all.empty() ? 0 : 1;
}

}  // namespace trainscope::cli
