#include "scenario/gradebook.h"

#include <algorithm>
#include <set>

#include "base/csv.h"
#include "base/suggest.h"
#include "base/text.h"

namespace trainscope::scenario {
namespace {

class Book {
 public:
  explicit Book(const Roster* roster) : roster_(roster) {
    book_.has_ids = roster != nullptr;
    book_.has_emails = roster && roster->has_emails;
    if (!roster) return;
    for (const Student& student : roster->students) {
      row_of_[plain_name(student.name)] = book_.rows.size();
      book_.rows.push_back({student, {}});
    }
  }

  void add(const Grade& grade) {
    if (plain_name(grade.student).empty()) {
      tell(grade.file +
           ": has no name, so it is in no row; `trainscope --student NAME` writes one");
      return;
    }
    if (roster_ && !roster_->find(grade.student)) {
      tell(grade.file + ": " + grade.student + " is not on the roster" +
           did_you_mean(grade.student, names()) + ", so it is in no row");
      return;
    }
    take(grade, row_of(grade.student));
  }

  Gradebook done() {
    std::set<std::string> lessons;
    for (const auto& [key, grade] : taken_) {
      book_.rows[key.first].points[key.second] = grade->points();
      lessons.insert(key.second);
    }
    book_.lessons.assign(lessons.begin(), lessons.end());
    if (!roster_)
      std::stable_sort(book_.rows.begin(), book_.rows.end(), [](const auto& a, const auto& b) {
        return plain_name(a.student.name) < plain_name(b.student.name);
      });
    tell_missing();
    return std::move(book_);
  }

 private:
  void tell(std::string sentence) { book_.told.push_back(std::move(sentence)); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const GradebookRow& row : book_.rows) names.push_back(row.student.name);
    return names;
  }

  std::size_t row_of(const std::string& name) {
    const auto [found, added] = row_of_.emplace(plain_name(name), book_.rows.size());
    if (added) book_.rows.push_back({{name, "", ""}, {}});
    return found->second;
  }

  void take(const Grade& grade, std::size_t row) {
    const Grade*& counts = taken_[{row, grade.lesson}];
    const Grade* before = counts;
    if (!before || grade.written >= before->written) counts = &grade;
    if (!before) return;
    const Grade& left = counts == before ? grade : *before;
    tell(book_.rows[row].student.name + " has two files for " + grade.lesson + ": " + counts->file +
         ", the later one, counts, and " + left.file + " does not");
  }

  void tell_missing() {
    std::string missing;
    std::size_t count = 0;
    for (const GradebookRow& row : book_.rows) {
      if (!row.points.empty()) continue;
      add_to_list(missing, row.student.name);
      ++count;
    }
    if (count > 0)
      tell(std::to_string(count) + " of " + std::to_string(book_.rows.size()) +
           " students have no file: " + missing);
  }

  const Roster* roster_;
  Gradebook book_;
  std::map<std::string, std::size_t> row_of_;                          // by plain name
  std::map<std::pair<std::size_t, std::string>, const Grade*> taken_;  // by row and lesson
};

}  // namespace

int GradebookRow::total() const {
  int total = 0;
  for (const auto& [lesson, one] : points) total += one;
  return total;
}

Gradebook gradebook_of(const std::vector<Grade>& grades, const Roster* roster) {
  Book book(roster);
  for (const Grade& grade : grades) book.add(grade);
  return book.done();
}

std::string gradebook_csv(const Gradebook& book) {
  std::vector<std::string> head{"name"};
  if (book.has_ids) head.emplace_back("id");
  if (book.has_emails) head.emplace_back("email");
  head.insert(head.end(), book.lessons.begin(), book.lessons.end());
  head.emplace_back("total");
  std::string text;
  add_csv_line(text, head);
  for (const GradebookRow& row : book.rows) {
    std::vector<std::string> cells{row.student.name};
    if (book.has_ids) cells.push_back(row.student.id);
    if (book.has_emails) cells.push_back(row.student.email);
    for (const std::string& lesson : book.lessons) {
      const auto found = row.points.find(lesson);
      cells.push_back(found == row.points.end() ? "" : std::to_string(found->second));
    }
    cells.push_back(row.points.empty() ? "" : std::to_string(row.total()));
    add_csv_line(text, cells);
  }
  return text;
}

}  // namespace trainscope::scenario
