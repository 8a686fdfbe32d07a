#include "scenario/lesson.h"

#include <algorithm>

#include "base/files.h"
#include "base/suggest.h"
#include "base/text.h"
#include "program/config_difference.h"
#include "scenario/file_kind.h"
#include "scenario/translation.h"

namespace trainscope::scenario {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> lesson_files(const fs::path& folder) {
  std::vector<fs::path> files = files_in(folder, ".toml");
  std::erase_if(files, [](const fs::path& file) {
    return !language_of(file).empty() || file.filename() == "glossary.toml" ||
           file.filename() == "claims.toml";
  });
  return files;
}

// A folder of one's own may hold configs and machines as well. A file that cannot be told counts as
// a lesson: what is wrong with it is said where it is read.
bool may_be_lesson(const fs::path& file) {
  try {
    return kind_of(file) == FileKind::kLesson;
  } catch (const InputError&) {
    return true;
  }
}

// The shipped ones, and those of other folders, each name once.
std::vector<fs::path> lesson_files(const LessonFolders& folders) {
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& folder, bool shipped) {
    for (const fs::path& file : lesson_files(folder)) {
      const bool known = std::any_of(files.begin(), files.end(), [&](const fs::path& one) {
        return one.stem() == file.stem();
      });
      if (!known && (shipped || may_be_lesson(file))) files.push_back(file);
    }
  };
  for (const fs::path& folder : folders.before) {
    if (!is_folder(folder))
      throw InputError(folder.string() + ": there is no such folder of lessons");
    add(folder, false);
  }
  add(home_folder() / "scenarios", true);
  for (const fs::path& folder : folders.after)
    if (is_folder(folder)) add(folder, false);
  return files;
}

// Lessons in the order of their tracks, each after those it requires.
std::vector<Lesson> in_course_order(std::vector<Lesson> lessons) {
  std::stable_sort(lessons.begin(), lessons.end(),
                   [](const Lesson& a, const Lesson& b) { return a.track < b.track; });
  std::vector<Lesson> ordered;
  const auto is_placed = [&](const std::string& id) {
    const auto named = [&](const Lesson& lesson) { return lesson.id == id; };
    return std::any_of(ordered.begin(), ordered.end(), named) ||
           std::none_of(lessons.begin(), lessons.end(), named);
  };
  while (!lessons.empty()) {
    auto next = std::find_if(lessons.begin(), lessons.end(), [&](const Lesson& lesson) {
      return std::all_of(lesson.requires_ids.begin(), lesson.requires_ids.end(), is_placed);
    });
    if (next == lessons.end()) next = lessons.begin();  // a circle: `check` reports it
    ordered.push_back(std::move(*next));
    lessons.erase(next);
  }
  return ordered;
}

}  // namespace

const std::vector<std::string>& panel_names() {
  static const std::vector<std::string> names = {
      "lesson",  "timeline",     "knobs",      "code",     "compare",       "copy-path",
      "loss",    "loss-scaling", "memory",     "sm-array", "gradient-flow", "scaling",
      "numbers", "roofline",     "operations", "runs",     "sweep"};
  return names;
}

std::string_view name_of(StepKind kind) {
  switch (kind) {
    case StepKind::kScene:
      return "scene";
    case StepKind::kPredict:
      return "predict";
    case StepKind::kRun:
      return "run";
    case StepKind::kObserve:
      return "observe";
    case StepKind::kExplain:
      return "explain";
    case StepKind::kVary:
      return "vary";
    case StepKind::kRecap:
      return "recap";
  }
  return "";
}

std::string_view title_of(StepKind kind) {
  switch (kind) {
    case StepKind::kScene:
      return "Set the scene";
    case StepKind::kPredict:
      return "Predict";
    case StepKind::kRun:
      return "Run";
    case StepKind::kObserve:
      return "Find it";
    case StepKind::kExplain:
      return "Explain";
    case StepKind::kVary:
      return "Vary";
    case StepKind::kRecap:
      return "Say it back";
  }
  return "";
}

program::Config Lesson::side(std::string_view label, const program::Config& flags) const {
  program::Config config = common;
  config.override_with(label == "A" ? side_a : side_b);
  if (flags.is_set("seed"))
    if (const TurnedKnobs* draw = drawn(flags.whole("seed"))) config.override_with(draw->of(label));
  config.override_with(flags);
  return config;
}

program::Config Lesson::turned(std::string_view label, const program::Config& config) const {
  program::Config others;
  if (config.value("seed") != side(label).value("seed")) others.set("seed", config.value("seed"));
  others.override_with(program::difference(side(label, others), config));
  return others;
}

const TurnedKnobs* Lesson::drawn(std::int64_t seed) const {
  const auto kinds = static_cast<std::int64_t>(draws.size()) + 1;
  const std::int64_t after = (seed - common.whole("seed")) % kinds;
  const auto nth = static_cast<std::size_t>(after < 0 ? after + kinds : after);
  return nth == 0 ? nullptr : &draws[nth - 1];
}

std::string seed_caveat(const Lesson& lesson, std::int64_t seed) {
  if (lesson.seeds.empty() ||
      std::find(lesson.seeds.begin(), lesson.seeds.end(), seed) != lesson.seeds.end())
    return "";
  std::string listed;
  for (const std::int64_t one : lesson.seeds) add_to_list(listed, std::to_string(one));
  return "the seed " + std::to_string(seed) + " is none of those that " + lesson.id + " lists (" +
         listed + "), so what it teaches need not show";
}

bool compares_machines(const Lesson& lesson) {
  return lesson.side_a.is_set("machine") || lesson.side_b.is_set("machine");
}

std::size_t run_step(const Lesson& lesson) {
  const auto run = std::find_if(lesson.steps.begin(), lesson.steps.end(),
                                [](const Step& step) { return step.kind == StepKind::kRun; });
  return static_cast<std::size_t>(run - lesson.steps.begin());
}

SourcePlace Lesson::place_of(std::string_view key) const {
  const auto found = places.find(key);
  return found == places.end() ? SourcePlace{file.string(), 1, 1} : found->second;
}

std::string Lesson::say(std::string_view english) const {
  const auto found = language == kEnglish ? words.end() : words.find(english);
  return found == words.end() ? std::string(english) : found->second;
}

namespace {

Lesson load_in(const fs::path& file, std::string_view language) {
  Lesson lesson = load_lesson(file);
  translate(lesson, language);
  return lesson;
}

}  // namespace

Lesson find_lesson(const std::string& id_or_file, std::string_view language,
                   const LessonFolders& folders) {
  if (id_or_file.ends_with(".toml")) return load_in(id_or_file, language);
  std::vector<std::string> ids;
  for (const fs::path& file : lesson_files(folders)) {
    if (file.stem() == id_or_file) return load_in(file, language);
    ids.push_back(file.stem().string());
  }
  throw InputError("there is no lesson " + id_or_file + did_you_mean(id_or_file, ids) +
                   "; `trainscope lessons` lists them");
}

std::vector<Lesson> all_lessons(std::string_view language) {
  std::vector<Lesson> lessons;
  for (const fs::path& file : lesson_files(LessonFolders()))
    lessons.push_back(load_in(file, language));
  return in_course_order(std::move(lessons));
}

Shelf readable_lessons(std::string_view language, const LessonFolders& folders) {
  Shelf shelf;
  for (const fs::path& file : lesson_files(folders)) try {
      shelf.lessons.push_back(load_in(file, language));
    } catch (const InputError& error) {
      shelf.unreadable.emplace_back(error.what());
    }
  shelf.lessons = in_course_order(std::move(shelf.lessons));
  return shelf;
}

}  // namespace trainscope::scenario
