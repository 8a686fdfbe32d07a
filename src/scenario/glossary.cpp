#include "scenario/glossary.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/toml.h"

namespace trainscope::scenario {
namespace {

constexpr int kMostWords = 40;

Term term_of(const std::string& name, const toml::node& node, const std::string& file) {
  const toml::table* table = node.as_table();
  if (!table) fail_at(node, file, "the term " + name + " is no table; write text = \"…\"");
  refuse_unknown_keys(*table, {"text", "also"}, file, "the term " + name);
  Term term;
  term.name = name;
  term.place = place_of(node, file);
  const toml::node* text = table->get("text");
  if (!text) fail_at(node, file, "the term " + name + " has no text");
  if (!text->is_string() || text->value<std::string>()->empty())
    fail_at(*text, file, "the text of " + name + " is no sentence");
  term.text = *text->value<std::string>();
  const toml::node* also = table->get("also");
  if (!also) return term;
  const toml::array* words = also->as_array();
  if (!words) fail_at(*also, file, "also of " + name + " is no list of words");
  for (const toml::node& word : *words) {
    if (!word.is_string() || word.value<std::string>()->empty())
      fail_at(word, file, "also of " + name + " has something in it that is no word");
    term.also.push_back(*word.value<std::string>());
  }
  return term;
}

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0;
}

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// How many bytes of `text` at `at` are the word, with a plural's ending; 0: it is not there.
std::size_t match(std::string_view text, std::size_t at, std::string_view word) {
  if (text.size() - at < word.size()) return 0;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (!same_letter(text[at + i], word[i])) return 0;
  std::size_t end = at + word.size();
  if (text.substr(end).starts_with("es") && (end + 2 == text.size() || !is_letter(text[end + 2])))
    end += 2;
  else if (end < text.size() && text[end] == 's')
    ++end;
  return end == text.size() || !is_letter(text[end]) ? end - at : 0;
}

TermPlace longest_at(std::string_view text, std::size_t at, const std::vector<const Term*>& terms) {
  TermPlace best{at, at, nullptr};
  const auto look = [&](const Term& term, std::string_view word) {
    const std::size_t length = match(text, at, word);
    if (length > best.end - best.begin) best = {at, at + length, &term};
  };
  for (const Term* term : terms) {
    look(*term, term->name);
    for (const std::string& word : term->also) look(*term, word);
  }
  return best;
}

}  // namespace

Glossary Glossary::load(const std::filesystem::path& file) {
  Glossary glossary;
  const toml::table table = read_toml(file);
  for (const auto& [key, node] : table)
    glossary.terms_.push_back(term_of(std::string(key.str()), node, file.string()));
  return glossary;
}

const Term* Glossary::find(std::string_view name) const {
  const auto found = std::find_if(terms_.begin(), terms_.end(),
                                  [&](const Term& term) { return term.name == name; });
  return found == terms_.end() ? nullptr : &*found;
}

std::vector<std::string> Glossary::names() const {
  std::vector<std::string> names;
  for (const Term& term : terms_) names.push_back(term.name);
  return names;
}

std::vector<TermPlace> terms_in(std::string_view text, const std::vector<const Term*>& terms) {
  std::vector<TermPlace> places;
  std::size_t at = 0;
  while (at < text.size()) {
    const bool starts = is_letter(text[at]) && (at == 0 || !is_letter(text[at - 1]));
    const TermPlace place = starts ? longest_at(text, at, terms) : TermPlace{};
    if (place.term) places.push_back(place);
    at = place.term ? place.end : at + 1;
  }
  return places;
}

std::vector<std::pair<SourcePlace, std::string>> check_glossary(const Glossary& glossary) {
  std::vector<std::pair<SourcePlace, std::string>> findings;
  for (const Term& term : glossary.terms()) {
    std::istringstream words(term.text);
    int count = 0;
    for (std::string word; words >> word;) ++count;
    if (count > kMostWords)
      findings.emplace_back(term.place, "the text of " + term.name + " has " +
                                            std::to_string(count) + " words; at most " +
                                            std::to_string(kMostWords) + " can be read in passing");
  }
  return findings;
}

}  // namespace trainscope::scenario
