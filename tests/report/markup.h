// Looking into HTML text, as far as tests of the report need it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace trainscope::test {

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

inline std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// What stands between the first `open` and the next `close`; empty where there is none.
inline std::string between(std::string_view text, std::string_view open, std::string_view close) {
  const std::size_t start = text.find(open);
  if (start == text.npos) return "";
  const std::size_t from = start + open.size(), to = text.find(close, from);
  return to == text.npos ? "" : std::string(text.substr(from, to - from));
}

// The end of a tag that opens at `at`: quotes may hold a ">".
inline std::size_t end_of_tag(std::string_view html, std::size_t at) {
  char quote = 0;
  for (; at < html.size(); ++at) {
    const char letter = html[at];
    if (quote)
      quote = letter == quote ? char{0} : quote;
    else if (letter == '"' || letter == '\'')
      quote = letter;
    else if (letter == '>')
      return at;
  }
  return html.npos;
}

// The first thing that is wrong with the nesting of elements; empty: nothing is.
inline std::string unbalanced(std::string_view html) {
  static const std::vector<std::string> kVoid = {"meta", "!doctype", "br", "wbr",
                                                 "link", "input",    "img"};
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != html.npos; at = html.find('<', at)) {
    const std::size_t end = end_of_tag(html, at);
    if (end == html.npos) return "a tag without an end: " + std::string(html.substr(at, 40));
    std::string_view tag = html.substr(at + 1, end - at - 1);
    const bool closes = tag.starts_with('/'), alone = tag.ends_with('/');
    if (closes) tag.remove_prefix(1);
    const std::string name(tag.substr(0, tag.find_first_of(" \n/")));
    at = end + 1;
    if (closes) {
      if (open.empty() || open.back() != name)
        return "</" + name + "> closes <" + (open.empty() ? "" : open.back()) + ">";
      open.pop_back();
    } else if (!alone && std::find(kVoid.begin(), kVoid.end(), name) == kVoid.end()) {
      open.push_back(name);
      // What stands in these is no markup.
      if (name == "script" || name == "style") at = html.find("</" + name, at);
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace trainscope::test
