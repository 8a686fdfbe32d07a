// `trainscope grade`: answers files scored against the runs of their lessons.

#include <algorithm>
#include <iostream>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/endings.h"
#include "cli/grade_output.h"
#include "cli/progress.h"
#include "scenario/grade.h"
#include "scenario/gradebook.h"

namespace trainscope::cli {
namespace {

// Files that are looked at together: each holds up to four runs, some of hundreds of megabytes.
constexpr std::size_t kMostTogether = 4;

struct Graded {
  std::vector<scenario::Grade> grades;
  std::vector<std::string> refused;  // sentences
};

// What became of one file.
struct Outcome {
  std::optional<scenario::Answers> answers;
  std::optional<scenario::Grade> grade;
  std::string refused;  // why there is no grade
};

// What cannot be read or graded holds up nobody else.
template <typename Work>
void attempt(Outcome& outcome, const Work& work) {
  try {
    work();
  } catch (const InputError& error) {
    outcome.refused = error.what();
  }
}

// Those with the same runs one after another: few runs are kept.
std::vector<std::size_t> by_runs(const std::vector<Outcome>& outcomes) {
  std::vector<std::string> keys(outcomes.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    if (const auto& answers = outcomes[i].answers) {
      keys[i] = answers->lesson;
      for (const program::Config* side : {&answers->knobs.a, &answers->knobs.b})
        for (const auto& [name, value] : side->values())
          keys[i] += "\n" + name + "=" + program::spell(value);
    }
  std::vector<std::size_t> order(outcomes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return order;
}

// In the order of the files.
Graded grade_all(const std::vector<std::filesystem::path>& files, const GradeOptions& options) {
  std::vector<Outcome> outcomes(files.size());
  for (std::size_t i = 0; i < files.size(); ++i)
    attempt(outcomes[i], [&] { outcomes[i].answers = scenario::load_answers(files[i]); });
  const scenario::Grader grader(
      {{options.lessons.begin(), options.lessons.end()}, options.count_predictions});
  const std::vector<std::size_t> order = by_runs(outcomes);
  const auto grade = [&](std::size_t i) {
    Outcome& outcome = outcomes[order[i]];
    if (outcome.answers) attempt(outcome, [&] { outcome.grade = grader.grade(*outcome.answers); });
  };
  in_parallel_with_progress(files.size(), "answers files", grade, kMostTogether);
  Graded graded;
  for (Outcome& outcome : outcomes) {
    if (outcome.grade) graded.grades.push_back(std::move(*outcome.grade));
    if (!outcome.refused.empty()) graded.refused.push_back(std::move(outcome.refused));
  }
  return graded;
}

void write_gradebook(const GradeOptions& options, const Graded& graded,
                     const std::optional<scenario::Roster>& roster) {
  const scenario::Gradebook book =
      scenario::gradebook_of(graded.grades, roster ? &*roster : nullptr);
  write_file(options.gradebook, scenario::gradebook_csv(book));
  std::cerr << "wrote " << options.gradebook << ": " << counted(book.rows.size(), "student")
            << "\n";
  for (const std::string& sentence : book.told) std::cerr << "trainscope: " << sentence << "\n";
}

void check(const GradeOptions& options) {
  check_other("--csv", options.csv);
  check_other("--gradebook", options.gradebook);
  if (!options.roster.empty() && options.gradebook.empty())
    throw InputError("--roster says who stands in the gradebook; add --gradebook FILE.csv");
  for (const std::string& folder : options.lessons)
    if (!is_folder(folder)) throw InputError(folder + ": there is no such folder of lessons");
}

}  // namespace

int grade_command(const GradeOptions& options) {
  check(options);
  std::optional<scenario::Roster> roster;
  if (!options.roster.empty()) roster = scenario::load_roster(options.roster);
  const scenario::AnswersFiles named = scenario::answers_files(options.answers);
  const Graded graded = grade_all(named.files, options);
  if (!options.csv.empty()) {
    write_file(options.csv, grade_csv(graded.grades));
    std::cerr << "wrote " << options.csv << "\n";
  }
  if (options.json)
    std::cout << grade_json(graded.grades, graded.refused) << "\n";
  else if (!graded.grades.empty())
    std::cout << grade_table(graded.grades);
  if (!options.gradebook.empty()) write_gradebook(options, graded, roster);
  if (named.unfinished > 0)
    std::cerr << "trainscope: " << counted(named.unfinished, "file")
              << " left out, of later attempts that are not finished (*.unfinished.json)\n";
  for (const std::string& sentence : graded.refused)
    std::cerr << "trainscope: " << sentence << "\n";
  if (!graded.refused.empty()) return 2;
  const bool failed = std::any_of(graded.grades.begin(), graded.grades.end(),
                                  [&](const auto& one) { return one.score() < options.pass; });
  return failed ? 1 : 0;
}

}  // namespace trainscope::cli
