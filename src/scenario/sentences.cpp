#include "scenario/sentences.h"

#include <algorithm>

#include "scenario/expression.h"

namespace trainscope::scenario {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n';
}

// One past the sentence that begins at `at`, without what parts it from the next. A full stop ends
// none within code, nor before a small letter: "e.g. two".
std::size_t sentence_end(std::string_view text, std::size_t at) {
  bool code = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '`') code = !code;
    if (code || std::string_view(".?!").find(text[at]) == std::string_view::npos) continue;
    std::size_t end = at + 1;
    while (end < text.size() && std::string_view("*\")").find(text[end]) != std::string_view::npos)
      ++end;
    if (end == text.size()) return end;
    if (!is_space(text[end])) continue;
    const std::size_t next = text.find_first_not_of(" \n", end);
    if (next == text.npos || text[next] < 'a' || text[next] > 'z') return end;
  }
  return text.size();
}

std::string known_sentences(std::string_view paragraph) {
  std::string known;
  for (std::size_t at = paragraph.find_first_not_of(" \n"); at < paragraph.size();) {
    const std::size_t end = sentence_end(paragraph, at);
    const std::string_view sentence = paragraph.substr(at, end - at);
    if (sentence.find(kBlank) == sentence.npos) {
      if (!known.empty()) known += ' ';
      known += sentence;
    }
    at = paragraph.find_first_not_of(" \n", end);
  }
  return known;
}

// "F5", "Shift+P", "Ctrl+Shift+.".
bool is_key(std::string_view words) {
  const bool function =
      words.size() > 1 && words[0] == 'F' &&
      std::ranges::all_of(words.substr(1), [](char c) { return c >= '0' && c <= '9'; });
  return function || words.starts_with("Shift+") || words.starts_with("Ctrl+") ||
         words.starts_with("Alt+");
}

}  // namespace

std::string without_keys(std::string_view text) {
  std::string rest;
  std::size_t from = 0;
  for (std::size_t open = text.find('('); open != text.npos; open = text.find('(', open + 1)) {
    const std::size_t close = text.find(')', open);
    if (close == text.npos) break;
    if (!is_key(text.substr(open + 1, close - open - 1))) continue;
    std::size_t end = open;
    while (end > from && is_space(text[end - 1])) --end;
    rest += text.substr(from, end - from);
    from = close + 1;
  }
  return rest + std::string(text.substr(from));
}

std::string without_blanks(std::string_view text) {
  std::string known;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", at), text.size());
    const std::string paragraph = known_sentences(text.substr(at, end - at));
    if (!paragraph.empty()) known += (known.empty() ? "" : "\n\n") + paragraph;
    at = end + 2;
  }
  return known;
}

}  // namespace trainscope::scenario
