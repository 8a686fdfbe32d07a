// Grades as tables for people, as CSV and as JSON.
#pragma once

#include <string>
#include <vector>

#include "scenario/grade.h"

namespace trainscope::cli {

// One learner's: a row a question. Several: a row a learner, then what each question gave.
std::string grade_table(const std::vector<scenario::Grade>& grades);

// A row a learner, a column a question.
std::string grade_csv(const std::vector<scenario::Grade>& grades);

// `refused`: of each file that could not be graded, why.
std::string grade_json(const std::vector<scenario::Grade>& grades,
                       const std::vector<std::string>& refused);

}  // namespace trainscope::cli
