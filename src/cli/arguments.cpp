#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/error.h"
#include "base/suggest.h"

namespace trainscope::cli {
namespace {

// `--trace ""` asks for nothing, and says that something went wrong before us.
std::string not_empty(const std::string& text) {
  return text.empty() ? "is empty; give a value, or leave it out" : "";
}

// A number within the two bounds, and no NaN, which is neither below nor above any.
CLI::Validator between(double least, double most) {
  const auto check = [=](std::string& text) {
    double value = 0;
    const bool read = CLI::detail::lexical_cast(text, value);
    return read && value >= least && value <= most
               ? ""
               : fmt::format("{} is no number from {:g} to {:g}; give one", text, least, most);
  };
  return CLI::Validator(check, "");
}

// One that is read in full: neither 1e3 nor more digits than a number has.
std::string whole_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return fmt::format("{} has more digits than any number that is read; give a smaller one", text);
  if (error != std::errc() || rest != text.data() + text.size())
    return fmt::format("{} is no whole number; write it in digits alone, as 1000", text);
  return "";
}

void add_language(CLI::App& command, std::string& language) {
  command.add_option("--lang", language, "of a lesson's texts: en, de, ...")->check(not_empty);
}

// Of a command that runs no lesson's texts.
void add_report_language(CLI::App& command, std::string& language) {
  command.add_option("--lang", language, "of a report's words: en, de, ...")->check(not_empty);
}

void add_look(CLI::App& command, Look& look) {
  command.add_option("--theme", look.theme, "dark, light or projector")->check(not_empty);
  command.add_option("--scale", look.scale, "of everything: 0.75 .. 3")->check(between(0.75, 3));
  command.add_flag("--present", look.present,
                   "for a room: large type, few lanes, one thing after another");
}

void add_outputs(CLI::App& command, Outputs& outputs) {
  command.add_option("--trace", outputs.trace, "write a Chrome trace: FILE.json or FILE.json.gz")
      ->check(not_empty);
  command.add_option("--save", outputs.save, "write the run: FILE.tsrun")->check(not_empty);
  command.add_option("--html", outputs.html, "write a report that opens in any browser")
      ->check(not_empty);
  command.add_option("--svg", outputs.svg, "write a drawing of the timelines")->check(not_empty);
  command.add_option("--png", outputs.png, "write a picture of the window")->check(not_empty);
  command.add_option("--size", outputs.look.size, "of the picture, before its scale: 1920x1080")
      ->check(not_empty);
  command.add_option("--panel", outputs.look.panel, "in front in the picture: memory, loss, ...")
      ->check(not_empty);
  command
      .add_option("--action", outputs.look.action, "done before the picture is drawn: help.tour")
      ->check(not_empty);
  command.add_option("--at", outputs.look.at, "where the playhead stands in the picture: 61.4ms")
      ->check(not_empty);
  add_look(command, outputs.look);
  command
      .add_option("--series", outputs.series,
                  "print this metric, one value a step; time.step@1: of rank 1")
      ->check(not_empty);
  command.add_flag("--json", outputs.json, "print JSON");
}

void add_lesson_folders(CLI::App& command, std::vector<std::string>& lessons) {
  command
      .add_option("--lessons", lessons, "a folder of lessons, looked in before the shipped ones")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->check(not_empty);
}

void add_settings(CLI::App& command, RunOptions& options) {
  command.add_option("--set", options.settings, "knob=value; A.knob=value for one side")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--machine", options.machine, "a machine's id or file")->check(not_empty);
  command.add_option("--steps", options.steps, "training steps")->check(not_empty);
  command.add_option("--seed", options.seed, "seed of every random number")->check(not_empty);
}

void add_run(CLI::App& app, Arguments& arguments) {
  RunOptions& options = arguments.run;
  CLI::App& run =
      *app.add_subcommand("run", "run a lesson, a config file or knobs alone, or open a saved run");
  run.add_option("WHAT", options.what, "a lesson's id, a lesson, config or saved run file");
  add_settings(run, options);
  add_lesson_folders(run, options.lessons);
  add_language(run, options.language);
  run.add_option("--executor", options.executor, "sim, cuda or auto")->check(not_empty);
  add_outputs(run, options.outputs);
}

void add_sweep(CLI::App& app, Arguments& arguments) {
  SweepOptions& options = arguments.sweep;
  CLI::App& sweep = *app.add_subcommand("sweep", "run once for each combination of knobs' values");
  sweep.add_option("WHAT", options.run.what, "a lesson's id, a lesson or config file");
  sweep
      .add_option("--vary", options.vary,
                  "knob=a,b,c or knob=lo..hi, which doubles; lo..hi:x4 multiplies, :+8 adds")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  add_settings(sweep, options.run);
  add_lesson_folders(sweep, options.run.lessons);
  sweep.add_option("--csv", options.csv, "write a row a run, with all metrics")->check(not_empty);
  sweep.add_option("--png", options.run.outputs.png, "write a picture of charts")->check(not_empty);
  sweep.add_option("--size", options.run.outputs.look.size, "of the picture: 1920x1080")
      ->check(not_empty);
  add_look(sweep, options.run.outputs.look);
  sweep.add_flag("--json", options.run.outputs.json, "print JSON");
}

void add_lessons(CLI::App& app, Arguments& arguments) {
  LessonsOptions& options = arguments.lessons;
  CLI::App& lessons = *app.add_subcommand("lessons", "the lessons");
  lessons.add_option("--png", options.png, "write a picture of the shelf")->check(not_empty);
  lessons.add_option("--size", options.look.size, "of the picture: 1920x1080")->check(not_empty);
  add_look(lessons, options.look);
  add_lesson_folders(lessons, options.lessons);
  add_language(lessons, options.language);
  lessons.add_flag("--json", options.json, "print JSON");
}

void add_machines(CLI::App& app, Arguments& arguments) {
  MachinesOptions& options = arguments.machines;
  CLI::App& machines = *app.add_subcommand("machines", "the machines, or one with every figure");
  machines.add_option("MACHINE", options.machine, "an id or a file: its data sheet");
  machines.add_option("--html", options.html, "write a page that opens in any browser")
      ->check(not_empty);
  machines.add_flag("--json", options.json, "print JSON");
}

void add_sampler(CLI::App& app, Arguments& arguments) {
  SamplerOptions& options = arguments.sampler;
  CLI::App& sampler = *app.add_subcommand(
      "sampler", "the indices one rank reads, as PyTorch's DistributedSampler gives them");
  sampler.add_option("--length", options.length, "samples in the data set")
      ->required()
      ->check(whole_number);
  sampler.add_option("--replicas", options.num_replicas, "ranks that share it: 1 or more")
      ->check(whole_number);
  sampler.add_option("--rank", options.rank, "which of them, from 0")->check(whole_number);
  sampler.add_option("--seed", options.seed, "of the order, the same on each rank")
      ->check(whole_number);
  sampler.add_option("--epoch", options.epoch, "as given to set_epoch, from 0")
      ->check(whole_number);
  sampler.add_flag("--drop-last", options.drop_last, "leave out what does not divide evenly");
  sampler.add_flag("--no-shuffle", options.no_shuffle, "in the order of the data set");
  sampler.add_flag("--json", options.json, "print JSON");
}

void add_grade(CLI::App& app, Arguments& arguments) {
  GradeOptions& options = arguments.grade;
  CLI::App& grade = *app.add_subcommand("grade", "score answers to lessons against the runs");
  grade.add_option("ANSWERS", options.answers, "answers files, or folders of a class's")
      ->required();
  grade.add_option("--csv", options.csv, "write a row a file, a column a question")
      ->check(not_empty);
  grade
      .add_option("--gradebook", options.gradebook,
                  "write a row a student, a column a lesson: for Moodle's \"import grades\"")
      ->check(not_empty);
  grade
      .add_option("--roster", options.roster, "the gradebook's students: a CSV file, name,id,email")
      ->check(not_empty);
  add_lesson_folders(grade, options.lessons);
  grade.add_flag("--count-predictions", options.count_predictions,
                 "a point for a right prediction, too; else they are shown and count nothing");
  grade.add_option("--pass", options.pass, "the share of points everybody needs: 0 .. 1")
      ->check(between(0, 1));
  grade.add_flag("--json", options.json, "print JSON");
}

void add_handout(CLI::App& app, Arguments& arguments) {
  HandoutOptions& options = arguments.handout;
  CLI::App& handout = *app.add_subcommand("handout",
                                          "a lesson as one HTML page: on paper two to four sheets "
                                          "to work on, three to six with answers");
  handout.add_option("LESSON", options.lesson, "a lesson's id or file")
      ->required()
      ->check(not_empty);
  handout
      .add_option("--out", options.out,
                  "the file to write: FILE.html, - for standard output; else ID.html")
      ->check(not_empty);
  handout.add_option("--student", options.student, "a name: its own seed, and on the sheet")
      ->check(not_empty);
  handout
      .add_option("--roster", options.roster,
                  "a CSV file of students, name,id: a sheet for each, into the folder --out")
      ->check(not_empty);
  handout.add_option("--machine", options.machine, "a machine's id or file")->check(not_empty);
  handout.add_option("--seed", options.seed, "seed of every random number")->check(not_empty);
  add_lesson_folders(handout, options.lessons);
  add_language(handout, options.language);
  handout.add_flag("--answers,!--no-answers", options.answers,
                   "with answers, reasons and the lecturer's notes, or a sheet to work on");
}

void add_measurements(CLI::App& app, Arguments& arguments) {
  ValidateOptions& options = arguments.validate;
  CLI::App& validate = *app.add_subcommand(
      "validate", "how far the simulator is from the truth: beside the GPU that is here");
  auto* published =
      validate.add_flag("--published", options.published, "beside published measurements, no GPU");
  validate.add_option("--errors", options.errors, "also write the errors of speeds: FILE.toml")
      ->check(not_empty)
      ->needs(published);
  validate.add_option("--machine", options.machine, "the machine to simulate: its id or file")
      ->check(not_empty)
      ->excludes(published);
  validate.add_option("--out", options.out, "the page to write: FILE.md")
      ->check(not_empty)
      ->excludes(published);
  validate.add_flag("--json", options.json, "print JSON");
  CLI::App& calibrate =
      *app.add_subcommand("calibrate", "measure the GPU that is here, and write it as a machine");
  calibrate.add_option("--id", arguments.calibrate.id, "what the GPU's file is called")
      ->check(not_empty);
  calibrate.add_option("--out", arguments.calibrate.out, "a folder that gets gpus/ and machines/")
      ->check(not_empty);
  calibrate.add_flag("--json", arguments.calibrate.json, "print JSON");
}

void add_commands(CLI::App& app, Arguments& arguments) {
  app.add_option("FILE", arguments.files, "lessons, runs and traces to open in the window");
  add_look(app, arguments.look);
  app.add_option("--student", arguments.student, "a name: its own seed, and its answers file")
      ->check(not_empty);
  add_language(app, arguments.language);
  add_run(app, arguments);
  add_sweep(app, arguments);
  CLI::App& import = *app.add_subcommand("import", "read PyTorch traces");
  import
      .add_option("TRACE", arguments.traces,
                  "traces, plain or gzipped; a folder is one, of a job's ranks")
      ->required();
  add_outputs(import, arguments.import_outputs);
  add_report_language(import, arguments.language);
  CLI::App& compare = *app.add_subcommand("compare", "put two runs beside each other");
  compare
      .add_option("A", arguments.compared_a,
                  "LESSON:A, LESSON:B, a config, a saved run, RUN.tsrun:A, or a trace")
      ->required();
  compare.add_option("B", arguments.compared_b, "the same")->required();
  add_outputs(compare, arguments.compare_outputs);
  add_report_language(compare, arguments.language);
  CLI::App& check = *app.add_subcommand("check", "check lessons, machines, GPUs and configs");
  check.add_option("FILE", arguments.checked, "files, or folders of them")->required();
  check.add_flag("--json", arguments.json, "print JSON");
  add_measurements(app, arguments);
  const auto registry = [&](const char* name, const char* help) {
    app.add_subcommand(name, help)->add_flag("--json", arguments.json, "print JSON");
  };
  add_lessons(app, arguments);
  registry("knobs", "every setting of a run");
  registry("metrics", "every number that is computed");
  add_machines(app, arguments);
  add_sampler(app, arguments);
  registry("actions", "what can be done in the window");
  registry("doctor", "what this machine has, and what is missing");
  add_grade(app, arguments);
  add_handout(app, arguments);
}

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

// A flag that its command does not have is a slip, whatever else then is missing.
void refuse_unknown_flags(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (word == "--") return;
    const auto named =
        app.get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (command == &app && !named.empty()) command = named.front();
    const std::vector<std::string> flags = flags_of(*command);
    if (!name.starts_with("--") || std::find(flags.begin(), flags.end(), name) != flags.end())
      continue;
    const std::string usage = command == &app ? "trainscope" : "trainscope " + command->get_name();
    throw InputError("`" + usage + "` has no flag " + name + did_you_mean(name, flags) + "; `" +
                     usage + " --help` lists them");
  }
}

// What stands before a command is the window's.
void refuse_before_command(const CLI::App& app, const CLI::App& command,
                           const std::vector<std::string>& files) {
  const std::string usage = "trainscope " + command.get_name();
  if (!files.empty())
    throw InputError(files.front() + ": a file before a command; write `" + usage + " …`");
  const std::vector<std::string> flags = flags_of(command);
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    const std::string flag = "--" + option->get_lnames().front();
    if (std::find(flags.begin(), flags.end(), flag) == flags.end())
      throw InputError(flag + " is of the window, and `" + usage + "` has no such flag");
    throw InputError(flag + " stands before a command, where it would be the window's; write `" +
                     usage + " … " + flag + "`");
  }
}

std::string one_sentence(const CLI::ParseError& error) {
  std::string sentence = error.what();
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  while (!sentence.empty() && sentence.back() == ' ') sentence.pop_back();
  return sentence + "; `trainscope --help` shows the usage";
}

}  // namespace

Arguments parse_arguments(const std::vector<std::string>& words) {
  CLI::App app{"Trainscope: see why one configuration of GPU training is faster than another"};
  app.name("trainscope");
  app.set_version_flag("--version", TRAINSCOPE_VERSION);
  app.require_subcommand(0, 1);
  app.allow_windows_style_options(false);  // "/c/trace.json" is a file, on every system
  Arguments arguments;
  add_commands(app, arguments);
  try {
    app.parse(std::vector(words.rbegin(), words.rend()));  // as CLI11 takes them
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      refuse_unknown_flags(app, words);
      throw InputError(one_sentence(error));
    }
    std::ostringstream text;  // --help, --version
    app.exit(error, text, text);
    arguments.help = text.str();
    return arguments;
  }
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return arguments;
  arguments.command = chosen.front()->get_name();
  refuse_before_command(app, *chosen.front(), arguments.files);
  return arguments;
}

}  // namespace trainscope::cli
