// Lines of CSV, as RFC 4180 has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

// Appends one line. A field with commas, quotes or line ends is quoted. One that a spreadsheet
// would take for a formula, as a student may call themselves =1+1, begins with an apostrophe; a
// number, as -1.5, does not.
void add_csv_line(std::string& text, const std::vector<std::string>& fields);

struct CsvLine {
  int number = 0;  // in the file, from 1
  std::vector<std::string> fields;
};

// The lines that hold something. Fields are separated as the first line has it: by commas, or as
// spreadsheets of other languages write them, by semicolons or tabs; spaces around one are no part
// of it. Throws InputError, which names no file, for a quote that is never closed.
std::vector<CsvLine> parse_csv(std::string_view text);

}  // namespace trainscope
