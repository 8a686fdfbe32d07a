#include "base/csv.h"

#include <algorithm>

#include "base/error.h"
#include "base/number_text.h"

namespace trainscope {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

char separator_of(std::string_view text) {
  const std::string_view first = text.substr(0, text.find_first_of("\r\n"));
  char most = ',';
  for (const char one : {';', '\t'})
    if (std::count(first.begin(), first.end(), one) > std::count(first.begin(), first.end(), most))
      most = one;
  return most;
}

std::string without_spaces(const std::string& field) {
  const std::size_t first = field.find_first_not_of(" \t");
  return first == field.npos ? "" : field.substr(first, field.find_last_not_of(" \t") + 1 - first);
}

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text), separator_(separator_of(text)) {}

  std::vector<CsvLine> read() {
    while (at_ < text_.size()) read_line();
    return std::move(lines_);
  }

 private:
  void read_line() {
    CsvLine line{number_, {}};
    do line.fields.push_back(read_field());
    while (take(separator_));
    take('\r');
    if (take('\n')) ++number_;
    const auto holds = [](const std::string& field) { return !field.empty(); };
    if (std::any_of(line.fields.begin(), line.fields.end(), holds))
      lines_.push_back(std::move(line));
  }

  std::string read_field() {
    std::string field;
    while (at_ < text_.size() && text_[at_] != separator_ && !ends_line()) {
      const char letter = text_[at_++];
      if (letter == '"' && without_spaces(field).empty())
        field = read_quoted();
      else
        field += letter;
    }
    return without_spaces(field);
  }

  // Behind its first quote.
  std::string read_quoted() {
    std::string field;
    const int begun = number_;
    while (at_ < text_.size()) {
      const char letter = text_[at_++];
      if (letter == '"' && !take('"')) return field;
      if (letter == '\n') ++number_;
      field += letter;
    }
    throw InputError("line " + std::to_string(begun) + " has a quote that is never closed");
  }

  // A carriage return alone is part of a field.
  bool ends_line() const {
    return text_[at_] == '\n' ||
           (text_[at_] == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n'));
  }
  bool take(char letter) {
    if (at_ >= text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0;
  int number_ = 1;
  std::vector<CsvLine> lines_;
};

bool is_number(std::string_view field) {
  double value = 0;
  const auto [end, error] = read_number(field.data(), field.data() + field.size(), value);
  return error == std::errc() && end == field.data() + field.size();
}

// What may stand in a cell and run nothing there:
// https://owasp.org/www-community/attacks/CSV_Injection
std::string harmless(const std::string& field) {
  const bool formula = !field.empty() &&
                       std::string_view("=+-@\t\r\n").find(field.front()) != std::string_view::npos;
  return formula && !is_number(field) ? "'" + field : field;
}

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == field.npos) return field;
  std::string text = "\"";
  for (const char letter : field) text += letter == '"' ? "\"\"" : std::string(1, letter);
  return text + "\"";
}

}  // namespace

void add_csv_line(std::string& text, const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i)
    text += (i > 0 ? "," : "") + quoted(harmless(fields[i]));
  text += "\r\n";
}

std::vector<CsvLine> parse_csv(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return CsvReader(text).read();
}

}  // namespace trainscope
