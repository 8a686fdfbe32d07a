#include "report/escape.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "trace/chrome_text.h"

namespace trainscope::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (true) {
    const std::size_t bad = trace::chrome::first_bad_utf8(text);
    valid += text.substr(0, bad);
    if (bad >= text.size()) return valid;
    valid += kReplacement;
    text.remove_prefix(bad + 1);
  }
}

void append_html(std::string& html, char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  switch (letter) {
    case '&':
      html += "&amp;";
      break;
    case '<':
      html += "&lt;";
      break;
    case '>':
      html += "&gt;";
      break;
    case '"':
      html += "&quot;";
      break;
    case '\'':
      html += "&#39;";
      break;
    default:
      if ((byte < 0x20 && letter != '\n' && letter != '\t') || byte == 0x7F)
        html += kReplacement;
      else
        html += letter;
  }
}

// Where text that is marked begins or ends: a mark right before, or right after, what is no space.
std::size_t find_mark(std::string_view text, std::string_view mark, std::size_t from, bool opens) {
  for (std::size_t at = text.find(mark, from); at != text.npos; at = text.find(mark, at + 1)) {
    const std::size_t after = at + mark.size();
    const char beside =
        opens ? (after < text.size() ? text[after] : ' ') : (at > 0 ? text[at - 1] : ' ');
    if (beside != ' ' && beside != '*') return at;
  }
  return text.npos;
}

// Turns pairs of `mark` into <tag>...</tag>; a mark without its pair stays.
std::string marked(std::string_view text, std::string_view mark, std::string_view tag) {
  std::string html;
  while (true) {
    const std::size_t open = find_mark(text, mark, 0, true);
    const std::size_t close =
        open == text.npos ? text.npos : find_mark(text, mark, open + mark.size() + 1, false);
    if (close == text.npos) return html.append(text);
    html.append(text.substr(0, open)).append("<").append(tag).append(">");
    html.append(text.substr(open + mark.size(), close - open - mark.size()));
    html.append("</").append(tag).append(">");
    text.remove_prefix(close + mark.size());
  }
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  for (const char letter : valid_utf8(text)) append_html(html, letter);
  return html;
}

std::string html_prose(std::string_view text) {
  // Code stands aside while the rest is marked: what is in it is not, and marks may reach over it.
  constexpr char kAside = '\x1A';
  std::vector<std::string> code;
  std::string prose;
  std::string escaped = html_text(text);
  std::erase(escaped, kAside);
  std::string_view rest = escaped;
  while (true) {
    const std::size_t open = rest.find('`');
    const std::size_t close = open == rest.npos ? rest.npos : rest.find('`', open + 1);
    prose += rest.substr(0, close == rest.npos ? rest.npos : open);
    if (close == rest.npos) break;
    code.emplace_back(rest.substr(open + 1, close - open - 1));
    prose += kAside;
    rest.remove_prefix(close + 1);
  }
  std::string html;
  auto next = code.begin();
  for (const char letter : marked(marked(prose, "**", "strong"), "*", "em")) {
    if (letter == kAside) {
      html.append("<code>").append(*next++).append("</code>");
    } else {
      html += letter;
    }
  }
  return html;
}

std::string json_text(std::string_view text) {
  const std::string quoted = nlohmann::json(std::string(text))
                                 .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::string safe;
  safe.reserve(quoted.size());
  for (const char letter : quoted) {
    if (letter == '<')
      safe += "\\u003c";
    else if (letter == '>')
      safe += "\\u003e";
    else if (letter == '&')
      safe += "\\u0026";
    else
      safe += letter;
  }
  return safe;
}

}  // namespace trainscope::report
