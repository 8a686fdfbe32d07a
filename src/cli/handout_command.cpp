// `trainscope handout`: a lesson as one page to print, or one for each student of a course.

#include <algorithm>
#include <functional>
#include <iostream>
#include <set>

#include "base/error.h"
#include "base/file_word.h"
#include "base/files.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/endings.h"
#include "cli/opened.h"
#include "cli/progress.h"
#include "cli/sides.h"
#include "report/handout.h"
#include "scenario/answers.h"
#include "scenario/roster.h"
#include "scenario/sheet.h"

namespace trainscope::cli {
namespace {

// Sheets that are made together: each holds both runs.
constexpr std::size_t kMostTogether = 4;

// With no seed but that of the flags.
RunOptions asked_of(const HandoutOptions& options) {
  RunOptions asked;
  asked.what = options.lesson;
  asked.machine = options.machine;
  asked.seed = options.seed;
  asked.language = options.language;
  asked.lessons = options.lessons;
  return asked;
}

scenario::Lesson lesson_of(const Request& request, const std::string& what) {
  if (!request.lesson)
    throw InputError(what + ": is no lesson, and a handout is of one; `trainscope lessons` lists " +
                     "them");
  return *request.lesson;
}

// The lesson with the seed of a student, as the window takes it; nobody's name: as it is asked for.
Request request_of(const HandoutOptions& options, const std::string& student) {
  RunOptions asked = asked_of(options);
  Request request = read_request(asked);
  if (student.empty()) return request;
  const scenario::Lesson lesson = lesson_of(request, options.lesson);
  asked.seed = std::to_string(scenario::seed_of_student(student, lesson.seeds));
  return read_request(asked);
}

void tell_seed(const scenario::Lesson& lesson, const Request& request) {
  const std::string caveat =
      scenario::seed_caveat(lesson, request.sides.front().second.whole("seed"));
  if (!caveat.empty()) std::cerr << "trainscope: " << caveat << "\n";
}

// Carries out one side.
using Carry = std::function<analysis::Run(const std::string&, const program::Config&)>;

std::string page_of(const HandoutOptions& options, const Request& request,
                    const std::string& student, const Carry& carry) {
  const scenario::Lesson lesson = lesson_of(request, options.lesson);
  std::vector<RunPointer> runs;
  for (const auto& [label, config] : request.sides)
    runs.push_back(std::make_shared<const analysis::Run>(carry(label, config)));
  report::HandoutInput input;
  for (const RunPointer& run : runs) input.runs.push_back(run.get());
  const scenario::SolvedSteps solved =
      options.answers ? scenario::solve_steps(lesson, input.runs) : scenario::SolvedSteps();
  input.sheet = scenario::sheet_of(lesson, input.runs, solved);
  input.student = student;
  input.version = TRAINSCOPE_VERSION;
  input.answers = options.answers;
  return report::handout_html(input);
}

std::string sheet_name(const std::string& lesson, const scenario::Student& student) {
  return lesson + "-" + file_word(student.id) + ".html";
}

void check_names(const scenario::Lesson& lesson, const scenario::Roster& roster) {
  std::set<std::string> names;
  for (const scenario::Student& student : roster.students)
    if (const std::string name = sheet_name(lesson.id, student); !names.insert(name).second)
      throw InputError("two students' sheets would be called " + name +
                       "; give them ids that differ in letters or digits");
}

void write_for_each(const HandoutOptions& options, const scenario::Roster& roster) {
  const scenario::Lesson lesson = lesson_of(read_request(asked_of(options)), options.lesson);
  check_names(lesson, roster);
  make_folder(options.out);
  const auto write = [&](std::size_t i) {
    const scenario::Student& student = roster.students[i];
    write_file(
        std::filesystem::path(options.out) / sheet_name(lesson.id, student),
        page_of(options, request_of(options, student.name), student.name, analysis::run_config));
  };
  in_parallel_with_progress(roster.students.size(), "sheets", write, kMostTogether);
  std::cerr << "wrote " << counted(roster.students.size(), "sheet") << " into " << options.out
            << "\n";
}

void check(const HandoutOptions& options) {
  const bool named = !options.student.empty() || !options.roster.empty();
  if (named && !options.seed.empty())
    throw InputError("a student's name gives the seed; leave out --seed " + options.seed);
  if (!options.student.empty() && !options.roster.empty())
    throw InputError("--roster writes the sheets of all its students; leave out --student");
  if (options.roster.empty()) return check_sheet(options.out);
  if (options.out.empty() || options.out == "-")
    throw InputError("--roster writes a sheet for each student; name their folder: --out FOLDER");
  if (is_there(options.out) && !is_folder(options.out))
    throw InputError(options.out + " is a file, and --roster writes a sheet for each student; " +
                     "name a folder");
}

}  // namespace

int handout_command(const HandoutOptions& options) {
  check(options);
  if (!options.roster.empty()) {
    write_for_each(options, scenario::load_roster(options.roster));
    return 0;
  }
  const Request request = request_of(options, options.student);
  const scenario::Lesson lesson = lesson_of(request, options.lesson);
  tell_seed(lesson, request);
  const std::string page = page_of(options, request, options.student, run_with_progress);
  if (options.out == "-") {
    std::cout << page;
    return 0;
  }
  const std::string out = options.out.empty() ? lesson.id + ".html" : options.out;
  write_file(out, page);
  std::cerr << "wrote " << out << "\n";
  return 0;
}

}  // namespace trainscope::cli
