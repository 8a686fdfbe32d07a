// The students of a course, as a CSV file names them: name,id[,email].
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trainscope::scenario {

struct Student {
  std::string name;   // by which a student is found, as given to --student
  std::string id;     // the university's; by it the gradebook of a learning platform finds them
  std::string email;  // empty: the file has no such column
};

struct Roster {
  std::vector<Student> students;  // in the order of the file
  bool has_emails = false;

  // By name, however it is capitalised; null: there is none.
  const Student* find(std::string_view name) const;
};

// The first line names the columns, in any order; others are left aside. Throws InputError naming
// file and line: for a column or a cell that is missing, and for a name or an id that stands twice.
Roster parse_roster(std::string_view text, const std::string& file);
Roster load_roster(const std::filesystem::path& file);

}  // namespace trainscope::scenario
