// Words and claims in another language: which are taken over, which stay English, what is wrong.
#include "scenario/shared_texts.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "scenario/sidecar.h"

using namespace trainscope;
using namespace trainscope::scenario;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

// The shipped lesson and its translation in a folder of its own, with words of that folder.
Lesson lesson_in(const test::TemporaryFolder& folder, const std::string& glossary,
                 const std::string& german) {
  for (const char* name : {"pinned-vs-pageable.toml", "pinned-vs-pageable.de.toml"})
    folder.write(name, read_file(home_folder() / "scenarios" / name, 1 << 20));
  if (!glossary.empty()) folder.write("glossary.toml", glossary);
  const fs::path lesson = folder.path() / "pinned-vs-pageable.toml";
  if (!german.empty()) folder.write("glossary.de.toml", german);
  return find_lesson(lesson.string(), "de");
}

const Term& pinned_of(const Lesson& lesson) {
  const auto at = std::find(lesson.terms.begin(), lesson.terms.end(), "pinned");
  REQUIRE(at != lesson.terms.end());
  return lesson.glossary.at(static_cast<std::size_t>(at - lesson.terms.begin()));
}

std::string told(const fs::path& file) {
  std::string all;
  for (const Finding& one : check_shared_translation(file)) all += one.sentence + "\n";
  return all;
}

}  // namespace

TEST_CASE("shared translations are told by their names") {
  CHECK(is_shared_translation("assets/glossary.de.toml"));
  CHECK(is_shared_translation("x/claims.pt-BR.toml"));
  for (const char* other :
       {"glossary.toml", "words.de.toml", "a-lesson.de.toml", "glossary.de.json"})
    CHECK_FALSE(is_shared_translation(other));
}

TEST_CASE("the shipped words and claims are translated whole and up to date") {
  int found = 0;
  for (const fs::path& file : files_in(home_folder() / "assets", ".toml")) {
    if (!is_shared_translation(file)) continue;
    ++found;
    CAPTURE(file);
    for (const Finding& one : check_shared_translation(file)) FAIL_CHECK(one.sentence);
  }
  CHECK(found >= 2);
}

TEST_CASE("every word of a shipped lesson has its German name, and the lesson its claim") {
  const Lesson english = find_lesson("pinned-vs-pageable");
  const Lesson german = find_lesson("pinned-vs-pageable", "de");
  CHECK(pinned_of(english).name == "pinned");
  CHECK(pinned_of(german).name == "gepinnt");
  CHECK(german.heard != english.heard);
  CHECK(german.untranslated == 0);
}

TEST_CASE("a word that a lesson explains in its own way is not told in the shipped German") {
  const test::TemporaryFolder folder;
  const std::string own = "[pinned]\ntext = \"Nailed to the wall.\"\n";
  const Lesson lesson = lesson_in(folder, own, "");
  CHECK(pinned_of(lesson).name == "pinned");
  CHECK(pinned_of(lesson).text == "Nailed to the wall.");
  CHECK(lesson.untranslated == 1);
}

TEST_CASE("a word of one's own is translated by the file beside the lesson") {
  const test::TemporaryFolder folder;
  const std::string word = "pinned", text = "Nailed to the wall.";
  const std::string german =
      "[pinned]\noriginal = \"" + fingerprint({&word, &text}) +
      "\"\nname = \"festgenagelt\"\ntext = \"An die Wand.\"\nalso = [\"festgenagelte\"]\n";
  const Lesson lesson =
      lesson_in(folder, "[pinned]\ntext = \"" + text + "\"\nalso = [\"nailed\"]\n", german);
  CHECK(pinned_of(lesson).name == "festgenagelt");
  CHECK(pinned_of(lesson).text == "An die Wand.");
  CHECK(pinned_of(lesson).also == std::vector<std::string>{"festgenagelte"});
  CHECK(lesson.untranslated == 0);
}

TEST_CASE("what is wrong with translated words is told") {
  const test::TemporaryFolder folder;
  folder.write("glossary.toml",
               "[pinned]\ntext = \"Locked.\"\n[staging]\ntext = \"On the way.\"\n");
  const fs::path file = folder.write(
      "glossary.de.toml",
      "loose = \"x\"\n[pined]\nname = \"a\"\ntext = \"b\"\n[pinned]\nname = \"gepinnt\"\n");
  const std::string all = told(file);
  CHECK_THAT(all, Contains("the word pined is not there in English (did you mean pinned?)"));
  CHECK_THAT(all, Contains("loose is no table"));
  CHECK_THAT(all, Contains("1 of 2 are not translated and stay English: staging"));
  CHECK_THAT(all, Contains("pinned has no text"));
  CHECK_THAT(all, Contains("pinned does not say what it was made from; write original = \""));
}

TEST_CASE("a translated claim is outdated once the English one has changed") {
  const test::TemporaryFolder folder;
  const std::string claim = "More is better";
  folder.write("claims.toml", "X1 = \"" + claim + "\"\n");
  const fs::path file =
      folder.write("claims.de.toml", "X1 = { original = \"" + fingerprint({&claim}) +
                                         "\", text = \"Mehr ist besser\" }\n");
  CHECK(told(file).empty());
  folder.write("claims.toml", "X1 = \"Less is better\"\n");
  CHECK_THAT(told(file), Contains("X1 is outdated"));
}
