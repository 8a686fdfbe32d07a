// Lessons in another language: what is taken over, what stays English, and what is wrong with one.
#include "scenario/translation.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "scenario/sheet.h"
#include "scenario/words_file.h"

using namespace trainscope;
using namespace trainscope::scenario;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

// The lesson and its translation, each with one edit, in a folder of their own.
class Edited {
 public:
  Edited(const std::string& from, const std::string& to, const std::string& english_from = "",
         const std::string& english_to = "") {
    fs::create_directories(folder_);
    write("pinned-vs-pageable.toml", english_from, english_to);
    write("pinned-vs-pageable.de.toml", from, to);
  }
  ~Edited() { fs::remove_all(folder_); }
  fs::path file() const { return folder_ / "pinned-vs-pageable.de.toml"; }
  std::string findings() const {
    std::string all;
    for (const Finding& one : check_translation(file())) all += one.sentence + "\n";
    return all;
  }
  Lesson lesson() const {
    return find_lesson((folder_ / "pinned-vs-pageable.toml").string(), "de");
  }

 private:
  void write(const char* name, const std::string& from, const std::string& to) {
    std::string text = read_file(home_folder() / "scenarios" / name, 1 << 20);
    if (!from.empty()) {
      const std::size_t at = text.find(from);
      REQUIRE(at != std::string::npos);
      text.replace(at, from.size(), to);
    }
    write_file(folder_ / name, text);
  }
  fs::path folder_ =
      fs::temp_directory_path() / ("trainscope-translation-" + std::to_string(::getpid()));
};

}  // namespace

TEST_CASE("a translation's file is told by its name") {
  CHECK(language_of("scenarios/a-lesson.de.toml") == "de");
  CHECK(language_of("a.pt-BR.toml") == "pt-BR");
  for (const char* other : {"a.toml", "a.de.json", "a100.v2.toml", "h.SXM.toml"})
    CHECK(language_of(other).empty());
  CHECK(original_of("x/a-lesson.de.toml") == fs::path("x/a-lesson.toml"));
  CHECK(is_words_file("assets/words.de.toml"));
  CHECK_FALSE(is_words_file("assets/words.toml"));
}

TEST_CASE("every shipped lesson is there in German, whole, up to date and with the same numbers") {
  for (const fs::path& file : files_in(home_folder() / "scenarios", ".toml")) {
    CAPTURE(file);
    if (language_of(file).empty())
      CHECK(fs::exists(sidecar_of(file, "de")));
    else
      for (const Finding& one : check_translation(file)) FAIL_CHECK(one.sentence);
  }
  const Lesson english = find_lesson("pinned-vs-pageable");
  const Lesson german = find_lesson("pinned-vs-pageable", "de");
  CHECK(german.language == "de");
  CHECK(german.untranslated == 0);
  CHECK(german.translation_fault.empty());
  CHECK(german.title != english.title);
  CHECK(german.say("Predict") == "Vorhersagen");
  CHECK(english.say("Predict") == "Predict");
}

TEST_CASE("a translated lesson has the same right answers and its numbers filled in") {
  const Lesson english = find_lesson("pinned-vs-pageable");
  const Lesson german = find_lesson("pinned-vs-pageable", "de");
  const analysis::Run a = analysis::run_config("A", english.side("A")),
                      b = analysis::run_config("B", english.side("B"));
  const analysis::LessonSheet one = sheet_of(english, {&a, &b}), other = sheet_of(german, {&a, &b});
  CHECK(other.language == "de");
  REQUIRE(one.steps.size() == other.steps.size());
  for (std::size_t i = 0; i < one.steps.size(); ++i) {
    CAPTURE(one.steps[i].text);
    CHECK(one.steps[i].text != other.steps[i].text);
    CHECK(other.steps[i].text.find('{') == std::string::npos);
    REQUIRE(one.steps[i].options.size() == other.steps[i].options.size());
    for (std::size_t k = 0; k < one.steps[i].options.size(); ++k)
      CHECK(one.steps[i].options[k].right == other.steps[i].options[k].right);
  }
}

TEST_CASE("what has no translation stays English, and is counted") {
  const Edited edited("hint = \"Er ist schraffiert", "# hint = \"Er ist schraffiert");
  const Lesson lesson = edited.lesson();
  CHECK(lesson.untranslated == 1);
  CHECK(lesson.language == "de");
  const auto find = std::find_if(lesson.steps.begin(), lesson.steps.end(),
                                 [](const Step& step) { return step.id == "find"; });
  REQUIRE(find != lesson.steps.end());
  CHECK_THAT(find->hint, Contains("It is hatched"));
  CHECK_THAT(edited.findings(), Contains("1 of ") && Contains("step.find.hint"));
  fs::remove(edited.file());
  const Lesson none = edited.lesson();
  CHECK(none.language == "en");
  CHECK(none.untranslated > 10);
}

TEST_CASE("a text that the lesson lacks is named, with the one that was meant") {
  CHECK_THAT(Edited("[step.predict]", "[step.predicd]").findings(),
             Contains("the lesson has no text step.predicd.text (did you mean "
                      "step.predict.text?)"));
}

TEST_CASE("an option that is a text alone is told how it is written") {
  const Edited edited("options = [\n", "options = [\n\"Kaum\",\n");
  CHECK_THAT(edited.findings(),
             Contains(".options.1 is a text alone; write { text = \"Kaum\", why = "));
}

TEST_CASE("placeholders are those of the original") {
  CHECK_THAT(Edited("Von\n{A.time.h2d} ist", "Von\n{B.time.h2d} ist").findings(),
             Contains("step.why.text has other placeholders than the original, which has "
                      "{A.time.h2d}"));
  CHECK_THAT(Edited("Kopien\"\n", "Kopien {A.time.h2d}\"\n").findings(),
             Contains("topic has other placeholders than the original, which has none"));
}

TEST_CASE("a translation is outdated once the English text has changed") {
  const Edited edited("", "", "Run both sides. They share", "Run the two sides. They share");
  CHECK_THAT(edited.findings(), Contains("step.run is outdated") && Contains("original = \""));
  CHECK(check_translation(edited.file()).size() == 1);
  // Where lines break does not matter.
  const Edited wrapped("", "", "Both sides send a tensor", "Both sides send\na tensor");
  CHECK(wrapped.findings().empty());
}

TEST_CASE("a translation that cannot be read leaves the lesson English and says why") {
  const Lesson lesson = Edited("[step.run]", "[step.run").lesson();
  CHECK(lesson.language == "en");
  CHECK_THAT(lesson.translation_fault, Contains("pinned-vs-pageable.de.toml:"));
  CHECK(lesson.title == "Pinned vs pageable memory");
}

TEST_CASE("a translation whose lesson is not beside it says which that is") {
  const test::TemporaryFolder folder;
  const fs::path file =
      folder.write("pinned-vs-pageable.de.toml", "title = \"x\"\noriginal = \"0\"\n");
  CHECK_THROWS_WITH(
      check_translation(file),
      Contains("is the translation of pinned-vs-pageable.toml, which is not beside it"));
}

TEST_CASE("languages are those that there are texts in, and another one is refused") {
  const auto all = languages();
  REQUIRE(all.size() >= 2);
  CHECK(all.front() == "en");
  CHECK(std::find(all.begin(), all.end(), "de") != all.end());
  CHECK_NOTHROW(check_language(""));
  CHECK_THROWS_WITH(check_language("dee"), Contains("did you mean de?"));
  CHECK(speech_in("de").say("Timelines") == "Zeitachsen");
  for (const char* other : {"", "en", "xx", "../words.de"})
    CHECK(speech_in(other).say("Timelines") == "Timelines");
}

TEST_CASE("a file of words is checked against those that are said") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("words.xx.toml", "\"Predict\" = \"X\"\n");
  const std::string said = "!what no file translates";
  const std::vector<Finding> findings = check_words(file, {said});
  REQUIRE(!findings.empty());
  CHECK_THAT(findings.back().sentence, Contains("\"" + said + "\""));
  const fs::path whole = folder.write("words.yy.toml", "\"" + said + "\" = \"X\"\n");
  for (const Finding& one : check_words(whole, {said}))
    CHECK_THAT(one.sentence, !Contains("\"" + said + "\""));
}

TEST_CASE("a file of words is checked against those that are shipped") {
  const fs::path shipped = home_folder() / "assets" / "words.de.toml";
  for (const Finding& one : check_words(shipped, {})) FAIL_CHECK(one.sentence);
  const test::TemporaryFolder folder;
  const fs::path file =
      folder.write("words.xx.toml", "\"Timelinse\" = \"X\"\n\"peak {} of {}\" = \"{}\"\n");
  const std::vector<Finding> findings = check_words(file, {});
  REQUIRE(findings.size() == 3);
  const std::string all =
      findings[0].sentence + "\n" + findings[1].sentence + "\n" + findings[2].sentence;
  CHECK_THAT(all, Contains("nothing says \"Timelinse\" (did you mean Timelines?)") &&
                      Contains("\"peak {} of {}\" has another number of places ({}): 2") &&
                      Contains("words are not translated and stay English: "));
}
