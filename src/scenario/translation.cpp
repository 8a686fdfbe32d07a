#include "scenario/translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

#include "base/files.h"
#include "base/suggest.h"
#include "base/text.h"
#include "scenario/shared_texts.h"
#include "scenario/sidecar.h"
#include "scenario/words_file.h"

namespace trainscope::scenario {
namespace {

namespace fs = std::filesystem;

// A text of a lesson that people read, and where it stands in it.
struct NamedText {
  std::string id;
  std::string* text;
};

// Texts that are empty in English are none. A group ends where its `original` counts: a step, or
// what stands at the top.
std::vector<NamedText> texts_of(Lesson& lesson) {
  std::vector<NamedText> texts;
  const auto add = [&](std::string id, std::string& text) {
    if (!text.empty()) texts.push_back({std::move(id), &text});
  };
  add("title", lesson.title);
  add("topic", lesson.topic);
  add("notes", lesson.notes);
  add("limits", lesson.limits);
  for (Step& step : lesson.steps) {
    const std::string at = "step." + step.id + ".";
    add(at + "text", step.text);
    add(at + "hint", step.hint);
    add(at + "explain", step.explain);
    if (!step.question) continue;
    add(at + "depends", step.question->depends);
    add(at + "answer", step.question->text_answer);
    for (std::size_t i = 0; i < step.question->options.size(); ++i) {
      const std::string option = fmt::format("{}options.{}.", at, i + 1);
      add(option + "text", step.question->options[i].text);
      add(option + "why", step.question->options[i].why);
    }
  }
  return texts;
}

// "step.predict" of "step.predict.options.2.why"; empty: the top.
std::string group_of(const std::string& id) {
  const std::size_t first = id.find('.');
  if (first == id.npos) return "";
  return id.substr(0, id.find('.', first + 1));
}

// Of the English texts, by group.
std::map<std::string, std::string> fingerprints(Lesson& lesson) {
  std::map<std::string, std::vector<const std::string*>> groups;
  for (const NamedText& one : texts_of(lesson)) groups[group_of(one.id)].push_back(one.text);
  std::map<std::string, std::string> prints;
  for (const auto& [group, texts] : groups) prints[group] = fingerprint(texts);
  return prints;
}

Words words_in(std::string_view language) {
  const fs::path file = home_folder() / "assets" / ("words." + std::string(language) + ".toml");
  std::error_code ignored;
  return fs::exists(file, ignored) ? load_words(file) : Words{};
}

// "step.predict.options.1", of options = ["Hardly", …].
bool is_bare_option(const std::string& id) {
  const std::size_t dot = id.rfind('.');
  return dot != id.npos && id.substr(0, dot).ends_with(".options") &&
         id.find_first_not_of("0123456789", dot + 1) == id.npos;
}

bool same_placeholders(const std::string& a, const std::string& b) {
  const auto set_of = [](const std::string& text) {
    const auto all = placeholders(text);
    return std::set<std::string>(all.begin(), all.end());
  };
  return set_of(a) == set_of(b);
}

class TranslationChecker {
 public:
  TranslationChecker(const fs::path& file, Lesson lesson)
      : file_(file.string()),
        lesson_(std::move(lesson)),
        texts_(texts_of(lesson_)),
        sidecar_(read_sidecar(file)) {}

  std::vector<Finding> check() {
    check_unknown();
    check_missing();
    check_placeholders();
    check_originals();
    return std::move(findings_);
  }

 private:
  void add(const SourcePlace& place, const std::string& sentence) {
    findings_.push_back({place, sentence});
  }
  SourcePlace top() const { return {file_, 1, 1}; }

  void check_unknown() {
    std::vector<std::string> known;
    for (const NamedText& one : texts_) known.push_back(one.id);
    for (const auto& [id, text] : sidecar_.texts) {
      if (std::find(known.begin(), known.end(), id) != known.end()) continue;
      if (is_bare_option(id))
        add(text.place, id + " is a text alone; write { text = \"" + text.text +
                            "\", why = \"…\" }, or without why where the lesson has none");
      else
        add(text.place, "the lesson has no text " + id + did_you_mean(id, known));
    }
  }

  void check_missing() {
    std::vector<std::string> missing;
    for (const NamedText& one : texts_)
      if (!sidecar_.texts.contains(one.id)) missing.push_back(one.id);
    if (!missing.empty())
      add(top(), fmt::format("{} of {} texts are not translated and stay English: {}",
                             missing.size(), texts_.size(), joined(missing)));
  }

  void check_placeholders() {
    for (const NamedText& one : texts_) {
      const auto found = sidecar_.texts.find(one.id);
      if (found == sidecar_.texts.end()) continue;
      try {
        if (same_placeholders(*one.text, found->second.text)) continue;
        auto wanted = placeholders(*one.text);
        add(found->second.place,
            one.id + " has other placeholders than the original" +
                (wanted.empty()
                     ? std::string(", which has none")
                     : ", which has {" + fmt::format("{}", fmt::join(wanted, "}, {")) + "}"));
      } catch (const InputError& error) {
        add(found->second.place, one.id + ": " + error.what());
      }
    }
  }

  void check_originals() {
    for (const auto& [group, print] : fingerprints(lesson_)) {
      const auto place = sidecar_.places.find(group);
      if (!group.empty() && place == sidecar_.places.end()) continue;  // missing, and said so
      const std::string what = group.empty() ? "the top" : group;
      const SourcePlace at = group.empty() ? top() : place->second;
      if (const auto fault = fault_of_original(sidecar_, group, what, print, at))
        findings_.push_back(*fault);
    }
  }

  std::string file_;
  Lesson lesson_;
  std::vector<NamedText> texts_;
  Sidecar sidecar_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string language_of(const fs::path& file) {
  if (file.extension() != ".toml") return "";
  static const std::regex tag(R"(\.([a-z]{2,3}(-[A-Za-z0-9]+)*))");
  std::smatch found;
  const std::string ending = file.stem().extension().string();
  return std::regex_match(ending, found, tag) ? found[1].str() : "";
}

fs::path sidecar_of(const fs::path& lesson, std::string_view language) {
  return lesson.parent_path() / (lesson.stem().string() + "." + std::string(language) + ".toml");
}

fs::path original_of(const fs::path& file) {
  return file.parent_path() / (file.stem().stem().string() + ".toml");
}

std::vector<std::string> languages() {
  std::set<std::string> found;
  for (const fs::path& file : files_in(home_folder() / "scenarios", ".toml"))
    if (const std::string one = language_of(file); !one.empty()) found.insert(one);
  std::vector<std::string> all{std::string(kEnglish)};
  all.insert(all.end(), found.begin(), found.end());
  return all;
}

void check_language(std::string_view language) {
  const std::vector<std::string> known = languages();
  if (language.empty() || std::find(known.begin(), known.end(), language) != known.end()) return;
  throw InputError("no lesson is there in the language " + std::string(language) +
                   did_you_mean(language, known) + "; there are " + joined(known));
}

Speech speech_in(std::string_view language) {
  const std::vector<std::string> known = languages();
  if (std::find(known.begin(), known.end(), language) == known.end()) return {};
  return {words_in(language)};
}

std::string name_of_language(std::string_view language) {
  static const std::map<std::string_view, std::string_view> names = {
      {"en", "English"},  {"de", "Deutsch"},    {"fr", "Français"}, {"es", "Español"},
      {"it", "Italiano"}, {"nl", "Nederlands"}, {"pl", "Polski"},   {"pt", "Português"}};
  const auto found = names.find(language);
  return std::string(found == names.end() ? language : found->second);
}

void translate(Lesson& lesson, std::string_view language) {
  if (language.empty() || language == kEnglish) return;
  const std::vector<NamedText> texts = texts_of(lesson);
  lesson.untranslated = texts.size();
  try {
    lesson.words = words_in(language);
    const fs::path file = sidecar_of(lesson.file, language);
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return;
    const Sidecar sidecar = read_sidecar(file);
    for (const NamedText& one : texts) {
      const auto found = sidecar.texts.find(one.id);
      if (found == sidecar.texts.end()) continue;
      *one.text = found->second.text;
      --lesson.untranslated;
    }
    lesson.untranslated += translate_shared(lesson, language);
    lesson.language = std::string(language);
  } catch (const InputError& error) {
    lesson.translation_fault = error.what();
  }
}

std::vector<Finding> check_translation(const fs::path& file) {
  if (is_shared_translation(file)) return check_shared_translation(file);
  const fs::path original = original_of(file);
  if (std::error_code ignored; !fs::exists(original, ignored))
    throw InputError(file.string() + ": is the translation of " + original.filename().string() +
                     ", which is not beside it");
  return TranslationChecker(file, load_lesson(original)).check();
}

}  // namespace trainscope::scenario
