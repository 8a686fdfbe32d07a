#include "scenario/lesson_words.h"

#include <filesystem>

#include "base/files.h"
#include "base/suggest.h"
#include "base/toml.h"

namespace trainscope::scenario {
namespace {

namespace fs = std::filesystem;

// Where a file of that name may say something for the lesson, the nearest first.
std::vector<fs::path> said_in(const Fields& lesson, const char* name) {
  std::vector<fs::path> files;
  for (const fs::path& folder : {fs::path(lesson.file()).parent_path(), home_folder() / "assets"})
    if (is_plain_file(folder / name)) files.push_back(folder / name);
  return files;
}

std::string neither_in(const char* name) {
  return std::string(" in a ") + name + " beside the lesson, nor in assets/" + name;
}

}  // namespace

std::vector<Term> terms_of(const Fields& lesson, const std::vector<std::string>& names) {
  std::vector<Term> terms;
  if (names.empty()) return terms;
  std::vector<Glossary> glossaries;
  std::vector<std::string> known;
  for (const fs::path& file : said_in(lesson, "glossary.toml")) {
    glossaries.push_back(Glossary::load(file));
    for (const std::string& name : glossaries.back().names()) known.push_back(name);
  }
  for (const std::string& name : names) {
    const Term* term = nullptr;
    for (const Glossary& glossary : glossaries)
      if (!term) term = glossary.find(name);
    if (!term)
      lesson.fail("terms", "there is no term " + name + neither_in("glossary.toml") +
                               did_you_mean(name, known) + "; explain it in one of them");
    terms.push_back(*term);
  }
  return terms;
}

std::string heard_of(const Fields& lesson, const std::string& claim) {
  if (claim.empty()) return "";
  for (const fs::path& file : said_in(lesson, "claims.toml")) {
    const toml::table claims = read_toml(file);
    if (const auto text = claims[claim].value<std::string>()) return *text;
  }
  lesson.fail("claim", "there is no claim " + claim + neither_in("claims.toml"));
}

}  // namespace trainscope::scenario
