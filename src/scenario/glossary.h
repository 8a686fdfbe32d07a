// The words of the lessons and what they mean, from assets/glossary.toml, and a glossary.toml
// beside a lesson of one's own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainscope::scenario {

struct Term {
  std::string name;               // "copy engine"
  std::string text;               // what it is, in a sentence or two
  std::vector<std::string> also;  // other forms of the word
  SourcePlace place;
};

// Where a term stands in a text.
struct TermPlace {
  std::size_t begin = 0, end = 0;  // bytes
  const Term* term = nullptr;
};

class Glossary {
 public:
  // Throws InputError naming file, line and column.
  static Glossary load(const std::filesystem::path& file);

  const std::vector<Term>& terms() const { return terms_; }
  // Null: there is none of that name.
  const Term* find(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  std::vector<Term> terms_;
};

// Where these terms stand in a text: whole words, whatever their case, in singular and plural; the
// longest where several begin. In the order of the text, none overlapping.
std::vector<TermPlace> terms_in(std::string_view text, const std::vector<const Term*>& terms);

// Too long, too short: sentences with their places.
std::vector<std::pair<SourcePlace, std::string>> check_glossary(const Glossary& glossary);

}  // namespace trainscope::scenario
