#include "cli/grade_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/csv.h"
#include "cli/table.h"

namespace trainscope::cli {
namespace {

using scenario::Grade;
using scenario::Mark;
using scenario::MarkKind;
using Json = nlohmann::ordered_json;

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

// Texts of options are Markdown of some length: one line of a table shows their beginning.
std::string begun(std::string text) {
  constexpr std::size_t kMost = 48;
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string points_of(const Grade& grade) {
  return fmt::format("{} of {}", grade.points(), grade.of());
}

// Of those that were made, how many came true: they teach either way.
std::string predictions_of(const Grade& grade) {
  return fmt::format("{} of {}", grade.predicted_rightly(), grade.predicted());
}

std::string notes_of(const Grade& grade) {
  return fmt::format("{}", fmt::join(grade.notes, "; "));
}

// What the points leave out, where some question does not count.
std::string rule_of(const std::vector<Grade>& grades) {
  const bool all = std::ranges::all_of(grades, [](const Grade& grade) {
    return std::ranges::all_of(grade.marks, [](const Mark& mark) { return mark.weighs; });
  });
  return all ? ""
             : "\nPredictions are guesses and count nothing; --count-predictions counts them.\n";
}

std::string one_table(const Grade& grade) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  table.add({"step", "kind", "", "answer", "right would be"});
  for (const Mark& mark : grade.marks)
    table.add({mark.step, std::string(scenario::name_of(mark.kind)),
               std::string(scenario::name_of(mark.mark)) + (mark.hinted ? ", hinted" : "") +
                   (mark.decided() && !mark.weighs ? ", no point" : ""),
               begun(mark.given), mark.mark == MarkKind::kRight ? "" : begun(mark.truth)});
  std::string head = grade.lesson;
  if (!grade.student.empty()) head += ", " + grade.student;
  head += fmt::format(", seed {}: {} points, {}\n", grade.seed, points_of(grade),
                      percent(grade.score()));
  if (!grade.notes.empty()) head += notes_of(grade) + "\n";
  return head + "\n" + table.text();
}

std::string class_table(const std::vector<Grade>& grades) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kLeft});
  table.add({"file", "student", "lesson", "points", "score", "predicted", "skipped", ""});
  for (const Grade& grade : grades)
    table.add({std::filesystem::path(grade.file).filename().string(), grade.student, grade.lesson,
               points_of(grade), percent(grade.score()), predictions_of(grade),
               std::to_string(grade.count(MarkKind::kSkipped)), notes_of(grade)});
  return table.text();
}

// What a class answered to one question.
struct Tally {
  std::string lesson, step;
  int right = 0, of = 0, skipped = 0;
  std::vector<std::pair<std::string, int>> wrong;  // answers, and how many gave them
};

void count_in(const Mark& mark, Tally& tally) {
  if (!mark.decided()) return;
  ++tally.of;
  tally.right += mark.mark == MarkKind::kRight ? 1 : 0;
  tally.skipped += mark.mark == MarkKind::kSkipped || mark.mark == MarkKind::kMissing ? 1 : 0;
  if (mark.mark != MarkKind::kWrong) return;
  for (auto& [answer, count] : tally.wrong)
    if (answer == mark.given) {
      ++count;
      return;
    }
  tally.wrong.emplace_back(mark.given, 1);
}

std::vector<Tally> tallies(const std::vector<Grade>& grades) {
  std::vector<Tally> all;
  for (const Grade& grade : grades)
    for (const Mark& mark : grade.marks) {
      auto found = std::find_if(all.begin(), all.end(), [&](const Tally& one) {
        return one.lesson == grade.lesson && one.step == mark.step;
      });
      if (found == all.end())
        found = all.insert(found, Tally{grade.lesson, mark.step, 0, 0, 0, {}});
      count_in(mark, *found);
    }
  return all;
}

// Its mark of a question that some of the class were asked; words in full.
std::string mark_of(const Grade& grade, const Tally& question) {
  for (const Mark& mark : grade.marks)
    if (grade.lesson == question.lesson && mark.step == question.step)
      return mark.mark == MarkKind::kToRead ? mark.given
                                            : std::string(scenario::name_of(mark.mark));
  return "";
}

std::string question_table(const std::vector<Grade>& grades) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  table.add({"lesson", "step", "right", "not answered", "most common wrong answer"});
  for (Tally& tally : tallies(grades)) {
    if (tally.of == 0) continue;
    const auto most =
        std::max_element(tally.wrong.begin(), tally.wrong.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::string wrong =
        most == tally.wrong.end() ? "" : fmt::format("{} × {}", most->second, begun(most->first));
    table.add({tally.lesson, tally.step, fmt::format("{} of {}", tally.right, tally.of),
               std::to_string(tally.skipped), wrong});
  }
  return table.text();
}

Json json_of(const Mark& mark) {
  return {{"step", mark.step},
          {"kind", scenario::name_of(mark.kind)},
          {"mark", scenario::name_of(mark.mark)},
          {"counts", mark.counts()},
          {"hinted", mark.hinted},
          {"answer", mark.given},
          {"truth", mark.truth}};
}

Json json_of(const Grade& grade) {
  Json marks = Json::array();
  for (const Mark& mark : grade.marks) marks.push_back(json_of(mark));
  return {{"file", grade.file},
          {"lesson", grade.lesson},
          {"student", grade.student},
          {"seed", grade.seed},
          {"points", grade.points()},
          {"of", grade.of()},
          {"score", grade.score()},
          {"predicted", grade.predicted()},
          {"predicted_rightly", grade.predicted_rightly()},
          {"skipped", grade.count(MarkKind::kSkipped)},
          {"notes", grade.notes},
          {"marks", std::move(marks)}};
}

}  // namespace

std::string grade_table(const std::vector<Grade>& grades) {
  if (grades.size() == 1) return one_table(grades.front()) + rule_of(grades);
  return class_table(grades) + "\n" + question_table(grades) + rule_of(grades);
}

std::string grade_csv(const std::vector<Grade>& grades) {
  const std::vector<Tally> questions = tallies(grades);
  std::vector<std::string> head{"file", "student", "lesson",    "seed",    "points",
                                "of",   "score",   "predicted", "skipped", "notes"};
  for (const Tally& one : questions) head.push_back(one.lesson + ": " + one.step);
  std::string text;
  add_csv_line(text, head);
  for (const Grade& grade : grades) {
    std::vector<std::string> row{grade.file,
                                 grade.student,
                                 grade.lesson,
                                 std::to_string(grade.seed),
                                 std::to_string(grade.points()),
                                 std::to_string(grade.of()),
                                 fmt::format("{:.4g}", grade.score()),
                                 std::to_string(grade.predicted()),
                                 std::to_string(grade.count(MarkKind::kSkipped)),
                                 notes_of(grade)};
    for (const Tally& one : questions) row.push_back(mark_of(grade, one));
    add_csv_line(text, row);
  }
  return text;
}

std::string grade_json(const std::vector<Grade>& grades, const std::vector<std::string>& refused) {
  Json json = {{"grades", Json::array()}, {"refused", refused}};
  for (const Grade& grade : grades) json["grades"].push_back(json_of(grade));
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trainscope::cli
