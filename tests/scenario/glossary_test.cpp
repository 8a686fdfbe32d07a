// The glossary: its file, and where texts say its words.

#include "scenario/glossary.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "scenario/lesson.h"

using namespace trainscope;
using namespace trainscope::scenario;

namespace {

Term term(const std::string& name, std::vector<std::string> also = {}) {
  Term one;
  one.name = name;
  one.also = std::move(also);
  return one;
}

std::vector<std::string> said(std::string_view text, const std::vector<Term>& terms) {
  std::vector<const Term*> pointers;
  for (const Term& one : terms) pointers.push_back(&one);
  std::vector<std::string> words;
  for (const TermPlace& place : terms_in(text, pointers))
    words.push_back(std::string(text.substr(place.begin, place.end - place.begin)) + "=" +
                    place.term->name);
  return words;
}

std::string refusal(const std::string& text) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("trainscope-glossary-" + std::to_string(::getpid()) + ".toml");
  write_file(file, text);
  std::string sentence = "no error";
  try {
    Glossary::load(file);
  } catch (const InputError& error) {
    sentence = error.what();
  }
  std::filesystem::remove(file);
  return sentence;
}

}  // namespace

TEST_CASE("terms are whole words, in singular and plural, whatever their case") {
  const std::vector<Term> terms{term("stream"), term("SM"), term("batch"), term("all-reduce")};
  CHECK(said("Streams and a stream, upstream, SMs, an sm.", terms) ==
        std::vector<std::string>{"Streams=stream", "stream=stream", "SMs=SM", "sm=SM"});
  CHECK(said("batches of batched samples", terms) == std::vector<std::string>{"batches=batch"});
  CHECK(said("one all-reduce", terms) == std::vector<std::string>{"all-reduce=all-reduce"});
  CHECK(said("", terms).empty());
}

TEST_CASE("the longest of several terms is meant, and other forms count") {
  const std::vector<Term> terms{term("stream"), term("default stream"),
                                term("pinned", {"pinned memory"})};
  CHECK(said("the default stream waits", terms) ==
        std::vector<std::string>{"default stream=default stream"});
  CHECK(said("pinned memory", terms) == std::vector<std::string>{"pinned memory=pinned"});
}

TEST_CASE("the shipped glossary explains every lesson's terms briefly") {
  const Glossary glossary = Glossary::load(home_folder() / "assets" / "glossary.toml");
  CHECK(glossary.terms().size() > 80);
  CHECK(check_glossary(glossary).empty());
  for (const Lesson& lesson : all_lessons()) {
    INFO(lesson.id);
    CHECK(lesson.glossary.size() == lesson.terms.size());
    std::vector<const Term*> terms;
    for (const Term& one : lesson.glossary) terms.push_back(&one);
    std::size_t places = 0;
    for (const Step& step : lesson.steps)
      places += terms_in(step.text, terms).size() + terms_in(step.explain, terms).size();
    CHECK(places > 0);
  }
}

TEST_CASE("a broken glossary is refused with file, line and column") {
  CHECK_THAT(refusal("stream = 3"), Catch::Contains(".toml:1:") && Catch::Contains("no table"));
  CHECK_THAT(refusal("[stream]"), Catch::Contains("has no text"));
  CHECK_THAT(refusal("[stream]\ntext = \"\""), Catch::Contains(".toml:2:"));
  CHECK_THAT(refusal("[stream]\ntekst = \"a\""), Catch::Contains("did you mean text"));
  CHECK_THAT(refusal("[stream]\ntext = \"a\"\nalso = [1]"), Catch::Contains("no word"));
}
