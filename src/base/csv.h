// Lines of CSV, as RFC 4180 has them.
#pragma once

#include <string>
#include <vector>

namespace trainscope {

// Appends one line. A field with commas, quotes or line ends is quoted.
void add_csv_line(std::string& text, const std::vector<std::string>& fields);

}  // namespace trainscope
