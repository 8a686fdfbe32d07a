// Commands that print a registry: lessons, knobs, metrics, actions.

#include <fmt/format.h>

#include <iostream>

#include "analysis/metrics/metrics.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/endings.h"
#include "cli/outputs.h"
#include "cli/table.h"
#include "program/knobs.h"
#include "report/json.h"
#include "scenario/lesson.h"
#include "scenario/translation.h"
#ifdef TRAINSCOPE_HAS_UI
#include "cli/picture_look.h"
#include "ui/app/window/trainscope_window.h"
#endif

namespace trainscope::cli {
namespace {

// A paragraph below a name.
std::string below(const std::string& text) {
  constexpr std::size_t kWidth = 100, kIndent = 4;
  return wrapped(text, kWidth, kIndent);
}

std::string range_of(const program::Knob& knob) {
  using program::KnobType;
  switch (knob.type) {
    case KnobType::kBool:
      return "true, false";
    case KnobType::kChoice:
      return fmt::format("{}", fmt::join(knob.choices, ", "));
    case KnobType::kInteger:
    case KnobType::kBytes:
    case KnobType::kNumber:
      return fmt::format("{:g} .. {:g}", knob.least, knob.most);
    case KnobType::kList:
    case KnobType::kText:
      break;
  }
  return std::string(program::name_of(knob.type));
}

// As a config has it: values are told in the words that they are given in.
std::string initial_of(const program::Knob& knob) {
  return knob.type == program::KnobType::kBool ? program::spell(knob.initial)
                                               : program::show(knob, knob.initial);
}

#ifdef TRAINSCOPE_HAS_UI
int draw_shelf(const LessonsOptions& options) {
  if (!options.lessons.empty())
    throw InputError("--png draws the shelf of the shipped lessons; leave out --lessons");
  if (options.look.present)
    throw InputError(
        "--present shows a lesson in front of a room, and this is a picture of all; "
        "leave it out");
  const PictureLook look = picture_look(options.look);
  ui::PictureRequest request;
  request.shelf = true;
  request.language = options.language;
  request.width = look.width;
  request.height = options.look.size.empty() ? 0 : look.height;
  request.scale = look.scale;
  request.theme = look.theme;
  ui::draw_picture(request, options.png);
  std::cerr << "wrote " << options.png << "\n";
  return 0;
}
#else
int draw_shelf(const LessonsOptions&) {
  throw MissingError(
      "--png needs the window, and this program was built without it; ./run builds it");
}
#endif

}  // namespace

namespace {

// What is left out is told, and is an error of its file.
int told_unreadable(const scenario::Shelf& shelf) {
  constexpr int kBadInput = 2;
  for (const std::string& sentence : shelf.unreadable)
    std::cerr << "trainscope: " << sentence << "\n";
  return shelf.unreadable.empty() ? 0 : kBadInput;
}

report::LessonEntry entry_of(const scenario::Lesson& lesson) {
  return {lesson.id,      lesson.title, lesson.topic,        lesson.level,
          lesson.minutes, lesson.track, lesson.requires_ids, lesson.terms,
          lesson.claim,   lesson.heard, lesson.machines};
}

// What does not fit a line beside these, the topic, the terms and the machines, the JSON has.
std::string lessons_table(const std::vector<report::LessonEntry>& lessons) {
  TextTable table(
      {Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight, Align::kLeft});
  table.add({"lesson", "title", "track", "level", "minutes", "requires"});
  for (const report::LessonEntry& one : lessons)
    table.add({one.id, one.title, one.track, one.level, std::to_string(one.minutes),
               fmt::format("{}", fmt::join(one.required, ", "))});
  return table.text();
}

}  // namespace

int lessons_command(const LessonsOptions& options) {
  scenario::check_language(options.language);
  require_picture(options.look, options.png);
  check_picture_file(options.png);
  if (!options.png.empty()) return draw_shelf(options);
  std::vector<report::LessonEntry> entries;
  const scenario::Shelf shelf = scenario::readable_lessons(
      options.language, {{options.lessons.begin(), options.lessons.end()}, {}});
  for (const scenario::Lesson& lesson : shelf.lessons) entries.push_back(entry_of(lesson));
  if (options.json) {
    std::cout << report::lessons_json(entries) << "\n";
    return told_unreadable(shelf);
  }
  std::cout << lessons_table(entries);
  return told_unreadable(shelf);
}

int knobs_command(bool json) {
  if (json) {
    std::cout << report::knobs_json() << "\n";
    return 0;
  }
  for (const program::Knob& knob : program::knobs()) {
    std::cout << knob.name << " = " << initial_of(knob) << "\n"
              << below(knob.help) << below("values: " + range_of(knob));
    if (!knob.pytorch.empty()) std::cout << below("in PyTorch: " + knob.pytorch);
  }
  return 0;
}

int metrics_command(bool json) {
  if (json) {
    std::cout << report::metrics_json() << "\n";
    return 0;
  }
  for (const analysis::Metric& metric : analysis::metrics())
    std::cout << metric.name << "  [" << metric.unit << "]\n" << below(metric.help);
  return 0;
}

int actions_command(bool json) {
#ifdef TRAINSCOPE_HAS_UI
  std::vector<report::ActionEntry> entries;
  for (const ui::ActionInfo& action : ui::actions())
    entries.push_back({action.id, action.label, action.shortcut, action.help});
  if (json) {
    std::cout << report::actions_json(entries) << "\n";
    return 0;
  }
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  table.add({"action", "label", "shortcut", "what it does"});
  for (const auto& one : entries) table.add({one.id, one.label, one.shortcut, one.help});
  std::cout << table.text();
  return 0;
#else
  (void)json;
  throw MissingError(
      "this program was built without its window, so there are no actions; run "
      "./run to build it with one");
#endif
}

}  // namespace trainscope::cli
