#include "cli/sides.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <string_view>

#include "analysis/caveats/loader_caveat.h"
#include "base/error.h"
#include "base/files.h"
#include "base/toml.h"
#include "program/idle_knobs.h"
#include "scenario/link.h"
#include "scenario/translation.h"
#include "trace/rank_folder.h"

namespace trainscope::cli {
namespace {

// The flags of the command line, those for both sides and those for one.
struct Flags {
  program::Config both, a, b;
};

// A knob that is given twice was meant differently once.
void set_once(program::Config& config, std::string_view assignment) {
  program::Config one;
  one.set_text(assignment);
  const std::string& name = one.values().begin()->first;
  if (config.is_set(name))
    throw InputError(name + " is given twice, as " + program::spell(config.value(name)) +
                     " and as " + program::spell(one.value(name)) + "; give it once");
  config.override_with(one);
}

Flags read_flags(const RunOptions& options) {
  Flags flags;
  for (const std::string& setting : options.settings) {
    if (setting.starts_with("A.")) {
      set_once(flags.a, std::string_view(setting).substr(2));
    } else if (setting.starts_with("B.")) {
      set_once(flags.b, std::string_view(setting).substr(2));
    } else {
      set_once(flags.both, setting);
    }
  }
  if (!options.machine.empty()) set_once(flags.both, "machine=" + options.machine);
  if (!options.steps.empty()) set_once(flags.both, "steps=" + options.steps);
  if (!options.seed.empty()) set_once(flags.both, "seed=" + options.seed);
  return flags;
}

bool looks_like_a_trace(const std::filesystem::path& path) {
  return path.extension() == ".json" || path.extension() == ".gz" || trace::is_rank_folder(path);
}

// What ends in .toml is a config or a lesson; any other file is none.
void refuse_file(const std::string& what) {
  check_there(what);
  const std::filesystem::path path(what);
  const bool trace = looks_like_a_trace(path);
  if (trace || path.has_parent_path())
    throw InputError(what + ": is no lesson and no config, which end in .toml" +
                     (trace ? "; `trainscope import " + what + "` reads a trace" : ""));
}

// Only side `label` is asked for.
void keep_side(Request& request, const std::string& label, const std::string& what) {
  for (auto& side : request.sides)
    if (side.first == label) {
      request.sides = {std::pair(side)};
      request.lesson.reset();
      return;
    }
  throw InputError(what + " has no side " + label + "; write " + what + ":" +
                   request.sides.front().first +
                   (request.sides.size() > 1 ? " or " + what + ":B" : ""));
}

// What is set for the other side would change nothing.
void refuse_other_side(const RunOptions& options, const std::string& label) {
  for (const std::string& setting : options.settings)
    if ((setting.starts_with("A.") || setting.starts_with("B.")) && setting.substr(0, 1) != label)
      throw InputError(setting.substr(0, setting.find('=')) + " sets a knob of side " +
                       setting.substr(0, 1) + ", and " + options.what + " is side " + label +
                       " alone; leave it out, or run both sides");
}

bool is_lesson_file(const std::string& what) {
  return what.ends_with(".toml") && read_toml(what).contains("format");
}

// A lesson that compares machines says nothing where both sides run on the same one.
void refuse_one_machine(const scenario::Lesson& lesson, const RunOptions& options) {
  if (!scenario::compares_machines(lesson)) return;
  for (const FlaggedKnob& one : flagged_knobs(options)) {
    const bool one_side = one.flag.starts_with("--set A.") || one.flag.starts_with("--set B.");
    if (one.knob != "machine" || one_side) continue;
    throw InputError("the lesson " + lesson.id + " compares machines and chooses them itself, " +
                     lesson.side("A").word("machine") + " for A and " +
                     lesson.side("B").word("machine") + " for B; leave out " + one.flag +
                     ", or change one side with `run " + lesson.id + " --set A.machine=NAME`");
  }
}

void add_lesson_sides(Request& request, const Flags& flags) {
  for (const char* label : {"A", "B"}) {
    program::Config knobs = flags.both;
    knobs.override_with(label[0] == 'A' ? flags.a : flags.b);
    request.sides.emplace_back(label, request.lesson->side(label, knobs));
  }
}

scenario::LessonFolders folders_of(const RunOptions& options) {
  return {{options.lessons.begin(), options.lessons.end()}, {}};
}

// What a link means, with the flags over it.
Request read_link(const RunOptions& options, const Flags& flags) {
  const scenario::Link link = scenario::parse_link(options.what);
  Request request;
  if (!link.lesson.empty()) {
    request.lesson = scenario::find_lesson(link.lesson, options.language, folders_of(options));
    request.step = scenario::step_in(link, *request.lesson);
  }
  const bool alone = link.lesson.empty() && link.knobs.b.values().empty();
  for (const char* label : {"A", "B"}) {
    const bool a = label[0] == 'A';
    if (alone && !a) break;
    program::Config knobs = a ? link.knobs.a : link.knobs.b;
    knobs.override_with(flags.both);
    knobs.override_with(a ? flags.a : flags.b);
    request.sides.emplace_back(label, request.lesson ? request.lesson->side(label, knobs) : knobs);
  }
  return request;
}

Request read_all_sides(const RunOptions& options) {
  const Flags flags = read_flags(options);
  if (options.what.starts_with(scenario::kLinkBegins)) return read_link(options, flags);
  Request request;
  if (!options.what.empty() && !options.what.ends_with(".toml")) refuse_file(options.what);
  if (!options.what.empty() && (!options.what.ends_with(".toml") || is_lesson_file(options.what))) {
    request.lesson = scenario::find_lesson(options.what, options.language, folders_of(options));
    add_lesson_sides(request, flags);
    return request;
  }
  if (options.what.empty() && flagged_knobs(options).empty())
    throw InputError(
        "run what? Name a lesson (`trainscope lessons` lists them), a config file, or "
        "knobs: --set workload=copy");
  program::Config config =
      options.what.empty() ? program::Config() : scenario::load_config(options.what);
  config.override_with(flags.both);
  config.override_with(flags.a);
  if (!flags.b.values().empty())
    throw InputError("B." + flags.b.values().begin()->first +
                     " sets a knob of side B, and this run has one side, A");
  request.sides.emplace_back("A", std::move(config));
  return request;
}

}  // namespace

bool names_trace(const std::string& word) {
  if (is_folder(word))
    return std::filesystem::path(word).has_parent_path() || trace::is_rank_folder(word);
  return is_there(word) && !word.ends_with(".toml");
}

void check_there(const std::string& what) {
  const std::filesystem::path path(what);
  if ((looks_like_a_trace(path) || path.has_parent_path()) && !is_there(path))
    throw InputError(what + ": there is no such file");
}

std::vector<FlaggedKnob> flagged_knobs(const RunOptions& options) {
  std::vector<FlaggedKnob> knobs;
  for (const std::string& setting : options.settings) {
    const bool one_side = setting.starts_with("A.") || setting.starts_with("B.");
    const std::string name = setting.substr(one_side ? 2 : 0);
    knobs.push_back({"--set " + setting, name.substr(0, name.find('='))});
  }
  if (!options.machine.empty()) knobs.push_back({"--machine " + options.machine, "machine"});
  if (!options.steps.empty()) knobs.push_back({"--steps " + options.steps, "steps"});
  if (!options.seed.empty()) knobs.push_back({"--seed " + options.seed, "seed"});
  return knobs;
}

SideName split_side(const std::string& word) {
  const std::size_t colon = word.size() < 3 ? 0 : word.size() - 2;
  if (colon == 0 || word[colon] != ':' || word.back() < 'A' || word.back() > 'Z') return {word, ""};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

Request read_request(const RunOptions& options) {
  scenario::check_language(options.language);
  const SideName name = split_side(options.what);
  if (name.side.empty() || is_there(options.what)) {
    Request request = read_all_sides(options);
    if (request.lesson) refuse_one_machine(*request.lesson, options);
    return request;
  }
  RunOptions all = options;
  all.what = name.what;
  Request request = read_all_sides(all);
  keep_side(request, name.side, name.what);
  refuse_other_side(options, name.side);
  return request;
}

namespace {

// Once, whichever side it is. A lesson says what its batches cost.
void note_free_loading(const Request& request, const std::vector<std::string>& varied) {
  if (std::ranges::find(varied, "loader.sample_ms") != varied.end()) return;
  for (const auto& [label, config] : request.sides) {
    const std::string words = analysis::free_loading(config);
    if (words.empty()) continue;
    std::cerr << "trainscope: " << words << "\n";
    return;
  }
}

}  // namespace

void note_idle_knobs(const Request& request, const RunOptions& options,
                     const std::vector<std::string>& varied) {
  std::set<std::string> set(varied.begin(), varied.end());
  for (const FlaggedKnob& one : flagged_knobs(options)) set.insert(one.knob);
  std::vector<const program::Config*> configs;
  for (const auto& [label, config] : request.sides) {
    configs.push_back(&config);
    if (request.lesson) continue;
    for (const auto& [knob, value] : config.values()) set.insert(knob);
  }
  // A lesson's other knobs may be drawn by it.
  if (request.lesson && !request.lesson->draws.empty()) set.erase("seed");
  for (const std::string& words : program::idle_words({set.begin(), set.end()}, configs, varied))
    std::cerr << "trainscope: " << words << "\n";
  if (!request.lesson) note_free_loading(request, varied);
}

}  // namespace trainscope::cli
