#include "base/csv.h"

namespace trainscope {
namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == field.npos) return field;
  std::string text = "\"";
  for (const char letter : field) text += letter == '"' ? "\"\"" : std::string(1, letter);
  return text + "\"";
}

}  // namespace

void add_csv_line(std::string& text, const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) text += (i > 0 ? "," : "") + quoted(fields[i]);
  text += "\r\n";
}

}  // namespace trainscope
