#include "scenario/translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

#include "base/files.h"
#include "base/suggest.h"
#include "base/toml.h"

namespace trainscope::scenario {
namespace {

namespace fs = std::filesystem;

// A text of a lesson that people read, and where it stands in it.
struct NamedText {
  std::string id;
  std::string* text;
};

// Texts that are empty in English are none. A group ends where its `original` counts: a step, a
// term, or what stands at the top.
std::vector<NamedText> texts_of(Lesson& lesson) {
  std::vector<NamedText> texts;
  const auto add = [&](std::string id, std::string& text) {
    if (!text.empty()) texts.push_back({std::move(id), &text});
  };
  add("title", lesson.title);
  add("topic", lesson.topic);
  add("heard", lesson.heard);
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
  for (Term& term : lesson.glossary) {
    add("terms." + term.name + ".text", term.text);
    add("terms." + std::string(term.name) + ".name", term.name);
  }
  return texts;
}

// "step.predict" of "step.predict.options.2.why", "terms.copy engine"; empty: the top.
std::string group_of(const std::string& id) {
  const std::size_t first = id.find('.');
  if (first == id.npos) return "";
  return id.substr(0, id.find('.', first + 1));
}

// 32 bits of FNV-1a: enough to see that a text has changed. Line breaks do not count.
std::string fingerprint(const std::vector<const std::string*>& texts) {
  std::uint32_t hash = 2166136261U;
  const auto take = [&hash](unsigned char byte) { hash = (hash ^ byte) * 16777619U; };
  for (const std::string* text : texts) {
    for (const char letter : *text) take(letter == '\n' ? ' ' : static_cast<unsigned char>(letter));
    take(0);
  }
  return fmt::format("{:08x}", hash);
}

// Of the English texts, by group.
std::map<std::string, std::string> fingerprints(Lesson& lesson) {
  std::map<std::string, std::vector<const std::string*>> groups;
  for (const NamedText& one : texts_of(lesson)) groups[group_of(one.id)].push_back(one.text);
  std::map<std::string, std::string> prints;
  for (const auto& [group, texts] : groups) prints[group] = fingerprint(texts);
  return prints;
}

struct Translated {
  std::string text;
  SourcePlace place;
};

// A translation as it stands in its file, by id.
struct Sidecar {
  std::map<std::string, Translated> texts;
  std::map<std::string, Translated> originals;           // by group
  std::map<std::string, std::vector<std::string>> also;  // other forms of a term, by its group
  std::map<std::string, SourcePlace> places;             // of groups
};

class SidecarReader {
 public:
  explicit SidecarReader(const fs::path& file) : file_(file.string()) {
    read_table(read_toml(file), "");
  }
  Sidecar sidecar;

 private:
  void read_table(const toml::table& table, const std::string& at) {
    for (const auto& [key, node] : table) read_node(node, at, std::string(key.str()));
  }

  void read_node(const toml::node& node, const std::string& at, const std::string& key) {
    const std::string id = at.empty() ? key : at + "." + key;
    if (const toml::table* table = node.as_table()) {
      sidecar.places.emplace(id, place_of(node, file_));
      read_table(*table, id);
    } else if (key == "also" && node.is_array()) {
      read_also(*node.as_array(), at);
    } else if (const toml::array* array = node.as_array()) {
      for (std::size_t i = 0; i < array->size(); ++i)
        read_node(*array->get(i), id, std::to_string(i + 1));
    } else if (!node.is_string()) {
      fail_at(node, file_, id + " is no text; write it in quotes");
    } else {
      Translated one{*node.value<std::string>(), place_of(node, file_)};
      if (key == "original")
        sidecar.originals.emplace(at, std::move(one));
      else
        sidecar.texts.emplace(id, std::move(one));
    }
  }

  void read_also(const toml::array& words, const std::string& at) {
    for (const toml::node& word : words) {
      if (!word.is_string()) fail_at(word, file_, "also of " + at + " is no list of words");
      sidecar.also[at].push_back(*word.value<std::string>());
    }
  }

  std::string file_;
};

Words words_in(std::string_view language) {
  const fs::path file = home_folder() / "assets" / ("words." + std::string(language) + ".toml");
  std::error_code ignored;
  return fs::exists(file, ignored) ? load_words(file) : Words{};
}

std::string listed(const std::vector<std::string>& ids) {
  return fmt::format("{}", fmt::join(ids, ", "));
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
        sidecar_(SidecarReader(file).sidecar) {}

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
    for (const auto& [id, text] : sidecar_.texts)
      if (std::find(known.begin(), known.end(), id) == known.end())
        add(text.place, "the lesson has no text " + id + did_you_mean(id, known));
  }

  void check_missing() {
    std::vector<std::string> missing;
    for (const NamedText& one : texts_)
      if (!sidecar_.texts.contains(one.id)) missing.push_back(one.id);
    if (!missing.empty())
      add(top(), fmt::format("{} of {} texts are not translated and stay English: {}",
                             missing.size(), texts_.size(), listed(missing)));
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
      const auto found = sidecar_.originals.find(group);
      if (found == sidecar_.originals.end())
        add(group.empty() ? top() : place->second,
            what + " does not say what it was made from; write original = \"" + print + "\"");
      else if (found->second.text != print)
        add(found->second.place, what +
                                     " is outdated: its English texts have changed; read them "
                                     "again, then write original = \"" +
                                     print + "\"");
    }
  }

  std::string file_;
  Lesson lesson_;
  std::vector<NamedText> texts_;
  Sidecar sidecar_;
  std::vector<Finding> findings_;
};

// The English words that any shipped file of words translates.
std::set<std::string> known_words() {
  std::set<std::string> known;
  for (const fs::path& file : files_in(home_folder() / "assets", ".toml"))
    if (is_words_file(file))
      for (const auto& [english, words] : load_words(file)) known.insert(english);
  return known;
}

std::size_t places_in(std::string_view words) {
  std::size_t places = 0;
  for (std::size_t at = words.find("{}"); at != words.npos; at = words.find("{}", at + 2)) ++places;
  return places;
}

class WordsChecker {
 public:
  explicit WordsChecker(const fs::path& file)
      : file_(file.string()), words_(load_words(file)), known_(known_words()) {}

  std::vector<Finding> check() {
    for (const auto& [key, node] : read_toml(file_))
      check_entry(std::string(key.str()), place_of(node, file_));
    check_missing();
    return std::move(findings_);
  }

 private:
  void check_entry(const std::string& english, const SourcePlace& place) {
    if (!known_.contains(english))
      findings_.push_back({place, "nothing says \"" + english + "\"" +
                                      did_you_mean(english, {known_.begin(), known_.end()})});
    else if (places_in(english) != places_in(words_.at(english)))
      findings_.push_back({place, "\"" + english + "\" has another number of places ({}): " +
                                      std::to_string(places_in(english))});
  }

  void check_missing() {
    constexpr std::size_t kNamed = 20;
    std::vector<std::string> missing;
    for (const std::string& english : known_)
      if (!words_.contains(english)) missing.push_back("\"" + english + "\"");
    const std::size_t count = missing.size();
    if (count == 0) return;
    if (count > kNamed) missing.resize(kNamed);
    findings_.push_back(
        {{file_, 1, 1},
         fmt::format("{} of {} words are not translated and stay English: {}{}", count,
                     known_.size(), listed(missing), count > kNamed ? ", ..." : "")});
  }

  std::string file_;
  Words words_;
  std::set<std::string> known_;
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

bool is_words_file(const fs::path& file) {
  return file.stem().stem() == "words" && !language_of(file).empty();
}

Words load_words(const fs::path& file) {
  Words words;
  for (const auto& [key, node] : read_toml(file)) {
    if (!node.is_string())
      fail_at(node, file.string(), std::string(key.str()) + " is no text; write it in quotes");
    words.emplace(std::string(key.str()), *node.value<std::string>());
  }
  return words;
}

std::vector<Finding> check_words(const fs::path& file) {
  return WordsChecker(file).check();
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
                   did_you_mean(language, known) + "; there are " + listed(known));
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
  const std::size_t texts = texts_of(lesson).size();
  lesson.untranslated = texts;
  try {
    lesson.words = words_in(language);
    const fs::path file = sidecar_of(lesson.file, language);
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return;
    const Sidecar sidecar = SidecarReader(file).sidecar;
    // Forms first: a term's place is its English name.
    for (Term& term : lesson.glossary)
      if (const auto also = sidecar.also.find("terms." + term.name); also != sidecar.also.end())
        term.also = also->second;
    for (const NamedText& one : texts_of(lesson)) {
      const auto found = sidecar.texts.find(one.id);
      if (found == sidecar.texts.end()) continue;
      *one.text = found->second.text;
      --lesson.untranslated;
    }
    lesson.language = std::string(language);
  } catch (const InputError& error) {
    lesson.translation_fault = error.what();
  }
}

std::vector<Finding> check_translation(const fs::path& file) {
  return TranslationChecker(file, load_lesson(original_of(file))).check();
}

}  // namespace trainscope::scenario
