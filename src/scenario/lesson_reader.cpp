// Reads a lesson file. Everything that can be checked without a run is checked here.

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/toml.h"
#include "machine/machine.h"
#include "scenario/extreme.h"
#include "scenario/lesson.h"
#include "scenario/lesson_words.h"
#include "scenario/solution.h"
#include "scenario/toml_fields.h"

namespace trainscope::scenario {
namespace {

template <typename Enum>
Enum read_word(const Fields& fields, std::string_view key,
               const std::vector<std::pair<std::string, Enum>>& words) {
  const std::string word = fields.text(key);
  std::vector<std::string> known;
  for (const auto& [name, value] : words) {
    if (name == word) return value;
    known.push_back(name);
  }
  fields.fail(key, std::string(key) + " is none of " + joined(known) + did_you_mean(word, known));
}

Focus read_focus(const toml::table& table, const std::string& file) {
  const Fields fields(table, file, "a focus");
  fields.only({"run", "lane", "span", "which", "nth", "pad", "panel", "knob", "line"});
  Focus focus;
  focus.place = fields.place();
  focus.run = fields.text_or("run", "");
  focus.lane = fields.text_or("lane", "");
  focus.span = fields.text_or("span", "");
  if (fields.find("which"))
    focus.which = read_word<WhichSpans>(
        fields, "which", {{"launched", WhichSpans::kLaunched}, {"exposed", WhichSpans::kExposed}});
  focus.nth = static_cast<int>(fields.whole("nth").value_or(0));
  focus.pad = fields.number("pad").value_or(focus.pad);
  if (!(focus.pad >= 0) || !std::isfinite(focus.pad))
    fields.fail("pad", "pad is the room beside the span, in lengths of it: write 0 or more");
  focus.panel = fields.text_or("panel", "");
  focus.knob = fields.text_or("knob", "");
  if (fields.find("line") && fields.find("line")->is_string()) {
    focus.code = fields.text("line");
  } else {
    focus.line = static_cast<int>(fields.whole("line").value_or(0));
  }
  const bool by_line = focus.line > 0 || !focus.code.empty();
  const bool span = !focus.run.empty() && !focus.lane.empty() && (!focus.span.empty() || by_line);
  if (!focus.run.empty() && focus.run != "A" && focus.run != "B")
    fields.fail("run", "run is neither \"A\" nor \"B\"");
  if (!span && focus.panel.empty() && focus.knob.empty() && !by_line)
    fields.fail("a focus needs run, lane and span, or a panel, a knob or a line");
  if (!focus.knob.empty() && !program::find_knob_or_null(focus.knob))
    fields.fail("knob",
                "there is no knob " + focus.knob + did_you_mean(focus.knob, program::knob_names()));
  const auto& panels = panel_names();
  if (!focus.panel.empty() && std::find(panels.begin(), panels.end(), focus.panel) == panels.end())
    fields.fail("panel", "there is no panel " + focus.panel + did_you_mean(focus.panel, panels));
  return focus;
}

Option read_option(const toml::table& table, const std::string& file) {
  const Fields fields(table, file, "an option");
  fields.only({"text", "correct_when", "why"});
  Option option;
  option.text = fields.text("text");
  option.correct_when = fields.expression("correct_when");
  option.why = fields.text_or("why", "");
  if (!option.correct_when)
    fields.fail("an option needs correct_when, an expression that the run decides");
  return option;
}

Question read_question(const toml::table& table, const std::string& file) {
  const Fields fields(table, file, "a question");
  fields.only({"kind", "options", "answer", "tolerance", "unit", "span", "depends"});
  Question question;
  question.place = fields.place();
  question.kind = read_word<QuestionKind>(fields, "kind",
                                          {{"choice", QuestionKind::kChoice},
                                           {"number", QuestionKind::kNumber},
                                           {"find-span", QuestionKind::kFindSpan},
                                           {"text", QuestionKind::kText}});
  for (const toml::table* option : fields.tables("options"))
    question.options.push_back(read_option(*option, file));
  if (const toml::table* span = fields.table("span")) question.span = read_focus(*span, file);
  if (question.kind == QuestionKind::kNumber) question.answer = fields.expression("answer");
  if (question.kind == QuestionKind::kText) question.text_answer = fields.text("answer");
  question.tolerance = fields.number("tolerance").value_or(question.tolerance);
  question.unit = fields.text_or("unit", "");
  if (!question.unit.empty() && question.kind != QuestionKind::kNumber)
    fields.fail("unit", "unit is what a number counts, and belongs to a question of kind number");
  question.depends = fields.text_or("depends", "");
  if (!question.depends.empty() && question.kind != QuestionKind::kChoice)
    fields.fail("depends", "depends belongs to a choice, whose right option a machine decides");
  if (question.tolerance < 0 || question.tolerance > 1)
    fields.fail("tolerance", "tolerance is a share between 0 and 1");
  if (question.kind == QuestionKind::kChoice && question.options.size() < 2)
    fields.fail("a choice needs at least two options");
  if (question.kind == QuestionKind::kNumber && !question.answer)
    fields.fail("a number question needs answer, an expression");
  if (question.kind == QuestionKind::kFindSpan && (!question.span || question.span->lane.empty()))
    fields.fail("a find-span question needs span = { run, lane, span }, or line for span");
  return question;
}

void read_done_when(const toml::table& table, const std::string& file, Step& step) {
  const Fields fields(table, file, "done_when");
  fields.only({"action", "expect"});
  step.done_action = fields.text_or("action", "");
  step.done_expect = fields.expression("expect");
  if (step.done_action.empty() && !step.done_expect)
    fields.fail("done_when needs action or expect; leave it out where a step has no condition");
}

// The knobs that a goal, or the step that asks for something, is to be done with.
std::vector<std::string> read_goal_knobs(const Fields& fields) {
  std::vector<std::string> knobs = fields.words("knobs");
  for (const std::string& knob : knobs)
    if (!program::find_knob_or_null(knob))
      fields.fail("knobs", "there is no knob " + knob + did_you_mean(knob, program::knob_names()));
  return knobs;
}

void read_goal(const toml::table& table, const std::string& file, Step& step) {
  const Fields fields(table, file, "a goal");
  fields.only({"expect", "knobs"});
  step.goal = fields.expression("expect");
  step.goal_knobs = read_goal_knobs(fields);
}

void read_step_knobs(const Fields& fields, Step& step) {
  if (!step.goal_knobs.empty()) fields.fail("knobs", "the goal names its knobs; leave these out");
  if (!step.goal && !step.done_expect)
    fields.fail("knobs", "knobs are what a step asks to turn: it needs done_when.expect or a goal");
  step.goal_knobs = read_goal_knobs(fields);
}

PauseAt read_pause(const Fields& fields, const std::optional<Focus>& focus) {
  if (!focus || focus->lane.empty())
    fields.fail("pause_at",
                "pause_at is of a span: the step needs a focus with run, lane and span");
  return read_word<PauseAt>(fields, "pause_at",
                            {{"span.start", PauseAt::kSpanStart}, {"span.end", PauseAt::kSpanEnd}});
}

Step read_step(const toml::table& table, const std::string& file) {
  const Fields fields(table, file, "a step");
  fields.only({"id", "kind", "text", "hide", "hint", "pause_at", "explain", "question", "focus",
               "done_when", "goal", "knobs", "solution", "least", "most"});
  Step step;
  step.place = fields.place();
  step.id = fields.text("id");
  std::vector<std::pair<std::string, StepKind>> kinds;
  for (const StepKind kind :
       {StepKind::kScene, StepKind::kPredict, StepKind::kRun, StepKind::kObserve,
        StepKind::kExplain, StepKind::kVary, StepKind::kRecap})
    kinds.emplace_back(name_of(kind), kind);
  step.kind = read_word<StepKind>(fields, "kind", kinds);
  step.text = fields.text("text");
  step.hide = fields.words("hide");
  step.hint = fields.text_or("hint", "");
  step.explain = fields.text_or("explain", "");
  if (const toml::table* question = fields.table("question"))
    step.question = read_question(*question, file);
  if (const toml::table* focus = fields.table("focus")) step.focus = read_focus(*focus, file);
  if (fields.find("pause_at")) step.pause_at = read_pause(fields, step.focus);
  if (const toml::table* done = fields.table("done_when")) read_done_when(*done, file, step);
  if (const toml::table* goal = fields.table("goal")) read_goal(*goal, file, step);
  if (fields.find("knobs")) read_step_knobs(fields, step);
  if (const toml::table* solution = fields.table("solution"))
    step.solution = read_solution(*solution, file, step);
  step.extreme = read_extreme(fields, step);
  if (step.kind == StepKind::kPredict && !step.question)
    fields.fail("a predict step needs a [step.question]");
  return step;
}

Expectation read_expectation(const toml::table& table, const std::string& file) {
  const Fields fields(table, file, "an expectation");
  fields.only({"expression", "sim", "real"});
  const auto expression = fields.expression("expression");
  if (!expression) fields.fail("an expectation needs expression = \"…\"");
  const auto [sim_min, sim_max] = fields.bounds("sim");
  const auto [real_min, real_max] = fields.bounds("real");
  return {*expression, sim_min, sim_max, real_min, real_max, fields.place()};
}

void read_configs(const Fields& fields, Lesson& lesson) {
  const toml::table* configs = fields.table("config");
  if (!configs) fields.fail("a lesson needs [config.A] and [config.B]");
  const Fields inner(*configs, fields.file(), "[config]");
  inner.only({"common", "A", "B"});
  const auto read = [&](std::string_view key) {
    const toml::table* table = inner.table(key);
    return table ? read_knobs(*table, fields.file()) : program::Config();
  };
  program::Config config = lesson.common;
  config.override_with(read("common"));
  lesson.common = config;
  lesson.side_a = read("A");
  lesson.side_b = read("B");
}

void check_id(const Fields& fields, const Lesson& lesson) {
  if (lesson.id != lesson.file.stem())
    fields.fail("id", "id is \"" + lesson.id + "\", the file is named " +
                          lesson.file.filename().string() + "; make them the same");
}

void check_knobs(const Fields& fields, const Lesson& lesson) {
  if (lesson.knobs.size() > 4) fields.fail("knobs", "a lesson shows at most four knobs");
  for (const std::string& knob : lesson.knobs)
    if (!program::find_knob_or_null(knob))
      fields.fail("knobs", "there is no knob " + knob + did_you_mean(knob, program::knob_names()));
}

// By id, or files of one's own from the folder of the lesson.
std::vector<std::string> read_machines(const Fields& fields) {
  std::vector<std::string> machines;
  for (const std::string& one : fields.words("machines")) try {
      machines.push_back(machine_named(one, fields.file()));
    } catch (const InputError& error) {
      fields.fail("machines", error.what());
    }
  return machines;
}

void check_machines(const Fields& fields, const Lesson& lesson) {
  if (fields.find("machine") && !lesson.common.is_set("machine")) return;  // it is a wrong one
  const std::string home = lesson.common.word("machine");
  if (!lesson.machines.empty() &&
      std::find(lesson.machines.begin(), lesson.machines.end(), home) == lesson.machines.end())
    fields.fail("machines",
                "the lesson's own machine, " + home + ", is not among machines; add it");
}

// How the steps hang together; for when all of them could be read.
void check_steps(const Fields& fields, const Lesson& lesson) {
  if (lesson.steps.empty()) fields.fail("a lesson needs steps: [[step]]");
  for (const Step& step : lesson.steps)
    if (step.focus && step.focus->panel == "sweep" && !lesson.sweep)
      throw InputError(describe(step.focus->place) + "step " + step.id +
                       " points at the sweep, and the lesson has none; write a [sweep]");
  for (const Step& step : lesson.steps) check_shown(lesson, step);
  for (const Step& step : lesson.steps) check_extreme(lesson, step);
  for (std::size_t i = 0; i < lesson.steps.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (lesson.steps[i].id == lesson.steps[j].id)
        throw InputError(describe(lesson.steps[i].place) + "two steps are called " +
                         lesson.steps[i].id);
}

void set_top_knob(const Fields& fields, const std::string& key, program::Config& config) {
  if (const toml::node* node = fields.find(key)) set_knob(config, key, *node, fields.file());
}

std::vector<std::int64_t> seeds_of(const Fields& fields) {
  std::vector<std::int64_t> seeds;
  const toml::node* node = fields.find("seeds");
  if (!node) return seeds;
  if (!node->is_array() || node->as_array()->empty())
    fields.fail("seeds", "seeds is not a list of whole numbers; write [0, 1, 2]");
  for (const toml::node& one : *node->as_array()) {
    const auto seed = one.value_exact<std::int64_t>();
    if (!seed) fail_at(one, fields.file(), "seeds holds something that is no whole number");
    try {
      program::Config().set("seed", *seed);
    } catch (const InputError& error) {
      fail_at(one, fields.file(), error.what());
    }
    seeds.push_back(*seed);
  }
  return seeds;
}

// Reads a file part by part: without a list the first fault is thrown, with one all are told there,
// one a part.
class Parts {
 public:
  Parts(const std::filesystem::path& file, std::vector<std::string>* faults)
      : file_(file.string() + ":"), faults_(faults) {}

  template <typename Body>
  void read(const Body& body) const {
    if (!faults_) return body();
    try {
      body();
    } catch (const InputError& error) {
      faults_->push_back(error.what());
    }
  }
  // Of this file: one beside it may have faults of its own.
  bool all_well() const {
    return !faults_ || std::ranges::none_of(*faults_, [&](const std::string& fault) {
      return fault.starts_with(file_);
    });
  }

 private:
  std::string file_;
  std::vector<std::string>* faults_;
};

void read_level(const Fields& fields, Lesson& lesson) {
  lesson.level = fields.text("level");
  const std::vector<std::string> levels{"worked", "faded", "problem"};
  if (std::find(levels.begin(), levels.end(), lesson.level) == levels.end())
    fields.fail("level",
                "level is none of worked, faded, problem" + did_you_mean(lesson.level, levels));
  lesson.minutes = static_cast<int>(fields.whole("minutes").value_or(0));
}

void read_head(const Fields& fields, const Parts& parts, Lesson& lesson) {
  parts.read([&] {
    fields.only({"format", "id",     "title", "topic",   "track",    "requires", "level", "minutes",
                 "claim",  "terms",  "knobs", "machine", "machines", "seed",     "seeds", "notes",
                 "limits", "config", "draw",  "sweep",   "step",     "expect"});
  });
  for (const auto& [key, value] :
       {std::pair{"id", &lesson.id}, std::pair{"title", &lesson.title},
        std::pair{"topic", &lesson.topic}, std::pair{"track", &lesson.track}})
    parts.read([&, name = key, text = value] { *text = fields.text(name); });
  parts.read([&] { check_id(fields, lesson); });
  parts.read([&] { read_level(fields, lesson); });
  parts.read([&] {
    lesson.claim = fields.text_or("claim", "");
    lesson.heard = heard_of(fields, lesson.claim);
  });
  parts.read([&] {
    lesson.notes = fields.text_or("notes", "");
    lesson.limits = fields.text_or("limits", "");
    lesson.requires_ids = fields.words("requires");
  });
  parts.read([&] {
    lesson.terms = fields.words("terms");
    lesson.glossary = terms_of(fields, lesson.terms);
  });
  parts.read([&] {
    lesson.knobs = fields.words("knobs");
    check_knobs(fields, lesson);
  });
  parts.read([&] { lesson.machines = read_machines(fields); });
  parts.read([&] { set_top_knob(fields, "machine", lesson.common); });
  parts.read([&] {
    set_top_knob(fields, "seed", lesson.common);
    lesson.seeds = seeds_of(fields);
  });
}

template <typename Read>
void read_tables(const Fields& fields, const Parts& parts, std::string_view key, const Read& read) {
  parts.read([&] {
    for (const toml::table* one : fields.tables(key)) parts.read([&] { read(*one); });
  });
}

Lesson read_lesson(const std::filesystem::path& file, const Parts& parts) {
  const toml::table table = read_toml(file);
  const Fields fields(table, file.string(), "a lesson");
  if (fields.whole("format") != 1) fields.fail("a lesson begins with format = 1");
  Lesson lesson;
  lesson.file = file;
  for (const auto& [key, value] : table)
    lesson.places.emplace(key.str(), place_of(value, file.string()));
  read_head(fields, parts, lesson);
  parts.read([&] { read_configs(fields, lesson); });
  parts.read([&] { check_machines(fields, lesson); });
  read_tables(fields, parts, "draw", [&](const toml::table& one) {
    lesson.draws.push_back(read_draw(one, file.string()));
    lesson.draw_places.push_back(place_of(one, file.string()));
  });
  read_tables(fields, parts, "step", [&](const toml::table& step) {
    lesson.steps.push_back(read_step(step, file.string()));
  });
  read_tables(fields, parts, "expect", [&](const toml::table& one) {
    lesson.expectations.push_back(read_expectation(one, file.string()));
  });
  parts.read([&] {
    if (const toml::table* sweep = fields.table("sweep"))
      lesson.sweep = read_sweep(*sweep, file.string());
  });
  if (parts.all_well()) parts.read([&] { check_steps(fields, lesson); });
  return lesson;
}

toml::table read_config_table(const std::filesystem::path& file) {
  toml::table table = read_toml(file);
  if (table.empty())
    throw InputError(file.string() + ": sets no knob; write for example workload = \"copy\"");
  for (const char* key : {"base", "host", "gpu", "pcie", "gpu_count", "sm_count"})
    if (table.contains(key))
      fail_at(*table.get(key), file.string(),
              std::string(key) +
                  " belongs into a machine or GPU file, and a config holds knobs; "
                  "give a machine with --machine");
  return table;
}

}  // namespace

Lesson load_lesson(const std::filesystem::path& file) {
  return read_lesson(file, Parts(file, nullptr));
}

Lesson load_lesson(const std::filesystem::path& file, std::vector<std::string>& faults) {
  return read_lesson(file, Parts(file, &faults));
}

program::Config load_config(const std::filesystem::path& file) {
  return read_knobs(read_config_table(file), file.string());
}

program::Config load_config(const std::filesystem::path& file, std::vector<std::string>& faults) {
  return read_knobs(read_config_table(file), file.string(), &faults);
}

}  // namespace trainscope::scenario
