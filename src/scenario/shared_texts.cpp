#include "scenario/shared_texts.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/suggest.h"
#include "base/toml.h"
#include "scenario/sidecar.h"
#include "scenario/translation.h"

namespace trainscope::scenario {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGlossary = "glossary";
constexpr const char* kClaims = "claims";

// Beside the lesson first. Files that are not there are left out.
std::vector<Sidecar> sidecars(const Lesson& lesson, const std::string& what,
                              std::string_view language) {
  std::vector<Sidecar> found;
  for (const fs::path& folder : {lesson.file.parent_path(), home_folder() / "assets"}) {
    const fs::path file = sidecar_of(folder / (what + ".toml"), language);
    std::error_code ignored;
    if (fs::exists(file, ignored)) found.push_back(read_sidecar(file));
  }
  return found;
}

// The first that has this group, made of these English texts; null: none.
const Sidecar* first_made_of(const std::vector<Sidecar>& sidecars, const std::string& group,
                             const std::string& print) {
  for (const Sidecar& one : sidecars)
    if (one.made_of(group, print)) return &one;
  return nullptr;
}

// Takes over a text that is there.
void take(const Sidecar& sidecar, const std::string& id, std::string& text) {
  const auto found = sidecar.texts.find(id);
  if (found != sidecar.texts.end()) text = found->second.text;
}

std::string print_of(const Term& term) {
  return fingerprint({&term.name, &term.text});
}

bool translate_term(const std::vector<Sidecar>& sidecars, Term& term) {
  const std::string word = term.name;
  const Sidecar* sidecar = first_made_of(sidecars, word, print_of(term));
  if (!sidecar) return false;
  take(*sidecar, word + ".text", term.text);
  take(*sidecar, word + ".name", term.name);
  const auto also = sidecar->also.find(word);
  term.also = also == sidecar->also.end() ? std::vector<std::string>{} : also->second;
  return true;
}

// What an English file has, and what a translation of it must have.
struct Wanted {
  std::string what;                           // "the word", "the claim"
  std::map<std::string, std::string> prints;  // by group
  std::vector<std::string> texts;             // of each group
};

Wanted wanted_of(const fs::path& english) {
  if (english.stem() == kGlossary) {
    Wanted wanted{"the word", {}, {"name", "text"}};
    const Glossary glossary = Glossary::load(english);
    for (const Term& term : glossary.terms()) wanted.prints.emplace(term.name, print_of(term));
    return wanted;
  }
  Wanted wanted{"the claim", {}, {"text"}};
  const toml::table claims = read_toml(english);
  for (const auto& [id, node] : claims) {
    const std::string claim = node.value_or(std::string());
    wanted.prints.emplace(std::string(id.str()), fingerprint({&claim}));
  }
  return wanted;
}

class SharedChecker {
 public:
  explicit SharedChecker(const fs::path& file)
      : file_(file.string()), wanted_(wanted_of(original_of(file))), sidecar_(read_sidecar(file)) {}

  std::vector<Finding> check() {
    check_unknown();
    check_missing();
    for (const auto& [group, print] : wanted_.prints) check_group(group, print);
    return std::move(findings_);
  }

 private:
  void check_unknown() {
    std::vector<std::string> known;
    for (const auto& [group, print] : wanted_.prints) known.push_back(group);
    for (const auto& [group, place] : sidecar_.places)
      if (!wanted_.prints.contains(group))
        findings_.push_back({place, wanted_.what + " " + group + " is not there in English" +
                                        did_you_mean(group, known)});
    for (const auto& [id, text] : sidecar_.texts)
      if (id.find('.') == id.npos)
        findings_.push_back(
            {text.place, id + " is no table; write original = \"…\" and text = \"…\" in one"});
  }

  void check_missing() {
    std::vector<std::string> missing;
    for (const auto& [group, print] : wanted_.prints)
      if (!sidecar_.places.contains(group)) missing.push_back(group);
    if (missing.empty()) return;
    std::string sentence =
        fmt::format("{} of {} are not translated and stay English: {}", missing.size(),
                    wanted_.prints.size(), fmt::join(missing, ", "));
    findings_.push_back({{file_, 1, 1}, std::move(sentence)});
  }

  void check_group(const std::string& group, const std::string& print) {
    const auto place = sidecar_.places.find(group);
    if (place == sidecar_.places.end()) return;  // missing, and said so
    for (const std::string& text : wanted_.texts)
      if (!sidecar_.texts.contains(group + "." + text))
        findings_.push_back({place->second, group + " has no " + text});
    if (const auto fault = fault_of_original(sidecar_, group, group, print, place->second))
      findings_.push_back(*fault);
  }

  std::string file_;
  Wanted wanted_;
  Sidecar sidecar_;
  std::vector<Finding> findings_;
};

}  // namespace

std::size_t translate_shared(Lesson& lesson, std::string_view language) {
  std::size_t english = 0;
  const std::vector<Sidecar> words = sidecars(lesson, kGlossary, language);
  for (Term& term : lesson.glossary)
    if (!translate_term(words, term)) ++english;
  if (lesson.heard.empty()) return english;
  const std::vector<Sidecar> claims = sidecars(lesson, kClaims, language);
  const Sidecar* claim = first_made_of(claims, lesson.claim, fingerprint({&lesson.heard}));
  if (!claim) return english + 1;
  take(*claim, lesson.claim + ".text", lesson.heard);
  return english;
}

bool is_shared_translation(const fs::path& file) {
  const std::string what = file.stem().stem().string();
  return !language_of(file).empty() && (what == kGlossary || what == kClaims);
}

std::vector<Finding> check_shared_translation(const fs::path& file) {
  return SharedChecker(file).check();
}

}  // namespace trainscope::scenario
