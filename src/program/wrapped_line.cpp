#include "program/wrapped_line.h"

#include <algorithm>
#include <cctype>

namespace trainscope::program {
namespace {

constexpr std::size_t kContinued = 4;      // columns beyond the line's own indent
constexpr std::size_t kLeastColumns = 12;  // columns of a row

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool opens(char c) {
  return c == '(' || c == '[' || c == '{';
}

bool closes(char c) {
  return c == ')' || c == ']' || c == '}';
}

bool is_comment(std::string_view rest) {
  return rest.starts_with("# ") || rest.starts_with("// ");
}

// A place where a line may go on below.
struct Place {
  std::size_t cut = 0;  // the first letter of what goes on
  std::size_t end = 0;  // of the row, without the blanks before the cut
  int cost = 0;         // the less, the better
};

constexpr int kBracket = 1, kBlank = 2, kDepth = 2;  // costs; a comma outside brackets has none

// Letter by letter, with how deep in brackets one is.
class Places {
 public:
  explicit Places(std::string_view line) : line_(line) {
    for (at_ = first(); at_ < line_.size(); ++at_) read();
  }
  const std::vector<Place>& found() const { return found_; }

 private:
  std::size_t first() const { return std::min(line_.find_first_not_of(' '), line_.size()); }

  void read() {
    const char c = line_[at_];
    if (c == '"') in_string_ = !in_string_;
    if (in_string_) return;
    comment_ |= is_comment(line_.substr(at_));
    if (comment_) {
      if (c == ' ') add(kBlank);
    } else if (opens(c)) {
      ++depth_;
      if (at_ + 1 < line_.size() && !closes(line_[at_ + 1])) add(kBracket);
    } else if (closes(c)) {
      depth_ = std::max(depth_ - 1, 0);
    } else if (c == ',') {
      add(0);
    } else if (c == ' ' && line_[at_ - 1] != ',') {
      add(is_comment(next_word()) ? 0 : kBlank);
    }
  }

  std::string_view next_word() const {
    return line_.substr(std::min(line_.find_first_not_of(' ', at_), line_.size()));
  }

  void add(int cost) {
    const std::size_t after = line_[at_] == ' ' ? at_ : at_ + 1;
    const std::size_t cut = line_.find_first_not_of(' ', after);
    if (cut != line_.npos) found_.push_back({cut, after, cost + kDepth * depth_});
  }

  std::string_view line_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool in_string_ = false, comment_ = false;
  std::vector<Place> found_;
};

// Where there is no better place: before a word, and not before what ends one.
std::size_t cut_anywhere(std::string_view line, std::size_t least, std::size_t columns) {
  const auto is_bad = [&](std::size_t at) {
    return (is_word(line[at - 1]) && is_word(line[at])) || closes(line[at]) || opens(line[at]) ||
           line[at] == ',' || line[at] == ':';
  };
  std::size_t cut = columns;
  while (cut > least && is_bad(cut)) --cut;
  return cut > least ? cut : columns;
}

// Of the places the cheapest, and of those the last; not so far to the left that much is wasted.
std::size_t cut_of(std::string_view line, std::size_t columns) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t least = first + (columns - std::min(first, columns)) * 2 / 5;
  const Place* best = nullptr;
  const Places places(line);
  for (const Place& place : places.found())
    if (place.end <= columns && place.cut > least && (!best || place.cost <= best->cost))
      best = &place;
  return best ? best->cut : cut_anywhere(line, least, columns);
}

}  // namespace

WrappedLine wrapped(std::string_view line, std::size_t columns) {
  WrappedLine result;
  columns = std::max(columns, kLeastColumns);
  const std::size_t own = std::min(line.find_first_not_of(' '), line.size());
  result.indent = std::min(own + kContinued, columns / 2);
  while (line.size() > columns) {
    const std::size_t cut = cut_of(line, columns);
    result.rows.push_back(line.substr(0, cut));
    line.remove_prefix(cut);
    if (result.rows.size() == 1) columns = std::max(columns - result.indent, kLeastColumns / 2);
  }
  result.rows.push_back(line);
  return result;
}

std::vector<std::size_t> breaks_in_brackets(std::string_view line) {
  std::vector<std::size_t> breaks;
  const Places places(line);
  for (const Place& place : places.found())
    if (opens(line[place.cut - 1])) breaks.push_back(place.cut);
  return breaks;
}

}  // namespace trainscope::program
