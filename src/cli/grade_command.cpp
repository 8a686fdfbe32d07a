// `trainscope grade`: answers files scored against the runs of their lessons.

#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "base/files.h"
#include "cli/commands.h"
#include "cli/endings.h"
#include "cli/grade_output.h"
#include "scenario/grade.h"

namespace trainscope::cli {
namespace {

struct Graded {
  std::vector<scenario::Grade> grades;
  std::vector<std::string> refused;  // sentences
};

// What cannot be read or graded holds up nobody else.
Graded grade_all(const std::vector<std::filesystem::path>& files) {
  Graded graded;
  std::vector<scenario::Answers> answers;
  for (const auto& file : files) try {
      answers.push_back(scenario::load_answers(file));
    } catch (const InputError& error) {
      graded.refused.emplace_back(error.what());
    }
  // Lesson by lesson: the runs of one are kept while it is graded.
  std::stable_sort(answers.begin(), answers.end(),
                   [](const auto& a, const auto& b) { return a.lesson < b.lesson; });
  scenario::Grader grader;
  for (const scenario::Answers& one : answers) try {
      graded.grades.push_back(grader.grade(one));
    } catch (const InputError& error) {
      graded.refused.emplace_back(error.what());
    }
  return graded;
}

}  // namespace

int grade_command(const GradeOptions& options) {
  check_other("--csv", options.csv);
  const Graded graded = grade_all(scenario::answers_files(options.answers));
  if (!options.csv.empty()) {
    write_file(options.csv, grade_csv(graded.grades));
    std::cerr << "wrote " << options.csv << "\n";
  }
  if (options.json)
    std::cout << grade_json(graded.grades, graded.refused) << "\n";
  else if (!graded.grades.empty())
    std::cout << grade_table(graded.grades);
  for (const std::string& sentence : graded.refused)
    std::cerr << "trainscope: " << sentence << "\n";
  if (!graded.refused.empty()) return 2;
  const bool failed = std::any_of(graded.grades.begin(), graded.grades.end(),
                                  [&](const auto& one) { return one.score() < options.pass; });
  return failed ? 1 : 0;
}

}  // namespace trainscope::cli
