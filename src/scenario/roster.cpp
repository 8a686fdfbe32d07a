#include "scenario/roster.h"

#include <algorithm>
#include <optional>

#include "base/csv.h"
#include "base/error.h"
#include "base/files.h"
#include "scenario/answers.h"

namespace trainscope::scenario {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 24;  // of a file, in bytes

using Column = std::optional<std::size_t>;

Column column_of(const CsvLine& head, std::string_view name) {
  for (std::size_t i = 0; i < head.fields.size(); ++i)
    if (plain_name(head.fields[i]) == name) return i;
  return std::nullopt;
}

std::string cell(const CsvLine& line, const Column& column) {
  return column && *column < line.fields.size() ? line.fields[*column] : "";
}

std::vector<CsvLine> lines_of(std::string_view text, const std::string& file) {
  try {
    return parse_csv(text);
  } catch (const InputError& error) {
    throw InputError(file + ": " + error.what());
  }
}

void add(Roster& roster, Student student, const std::string& where) {
  if (student.name.empty()) throw InputError(where + "there is no name");
  if (student.id.empty())
    throw InputError(where + student.name + " has no id, by which a gradebook finds a student");
  if (roster.find(student.name))
    throw InputError(where + student.name +
                     " stands in it twice; write the names apart, as --student has them");
  for (const Student& other : roster.students)
    if (other.id == student.id)
      throw InputError(where + student.name + " has the id " + student.id + ", as has " +
                       other.name);
  roster.students.push_back(std::move(student));
}

}  // namespace

const Student* Roster::find(std::string_view name) const {
  const std::string plain = plain_name(name);
  const auto found = std::find_if(students.begin(), students.end(), [&](const Student& student) {
    return plain_name(student.name) == plain;
  });
  return found == students.end() ? nullptr : &*found;
}

Roster parse_roster(std::string_view text, const std::string& file) {
  const std::vector<CsvLine> lines = lines_of(text, file);
  const CsvLine head = lines.empty() ? CsvLine{1, {}} : lines.front();
  const Column name = column_of(head, "name"), id = column_of(head, "id"),
               email = column_of(head, "email");
  if (!name || !id)
    throw InputError(file + ":" + std::to_string(head.number) + ": has no column " +
                     (name ? "id" : "name") +
                     "; the first line of a roster names its columns: name,id or name,id,email");
  Roster roster;
  roster.has_emails = email.has_value();
  for (std::size_t i = 1; i < lines.size(); ++i)
    add(roster, {cell(lines[i], name), cell(lines[i], id), cell(lines[i], email)},
        file + ":" + std::to_string(lines[i].number) + ": ");
  if (roster.students.empty()) throw InputError(file + ": there is no student in it");
  return roster;
}

Roster load_roster(const std::filesystem::path& file) {
  return parse_roster(read_file(file, kLargest), file.string());
}

}  // namespace trainscope::scenario
