// The points of a class: a row a student, a column a lesson, as learning platforms take them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scenario/grade.h"
#include "scenario/roster.h"

namespace trainscope::scenario {

struct GradebookRow {
  Student student;                    // without a roster a name alone
  std::map<std::string, int> points;  // by lesson; one that was not handed in is not there
  int total() const;
};

struct Gradebook {
  std::vector<std::string> lessons;  // that were handed in, by name
  std::vector<GradebookRow> rows;    // of the roster in its order; without one by name
  bool has_ids = false, has_emails = false;
  // What a lecturer should know, as sentences: files that are in no row, and why; two of which one
  // counts; students of whom there is none.
  std::vector<std::string> told;
};

// `roster`: null where there is none. Of two files of a student for a lesson the one that was
// written later counts.
Gradebook gradebook_of(const std::vector<Grade>& grades, const Roster* roster);

// name[,id][,email],LESSON,…,total. Cells are whole numbers, or empty where nothing was handed in:
// Moodle's "import grades" takes it, told that the column id, or email, says who it is.
std::string gradebook_csv(const Gradebook& book);

}  // namespace trainscope::scenario
