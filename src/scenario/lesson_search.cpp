#include "scenario/lesson_search.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <variant>

#include "base/letters.h"
#include "base/text.h"
#include "scenario/course.h"

namespace trainscope::scenario {
namespace {

// Both in small letters.
bool has_word(std::string_view text, std::string_view beginning) {
  for (std::size_t at = text.find(beginning); at != text.npos; at = text.find(beginning, at + 1))
    if (!ends_in_letter(text.substr(0, at))) return true;
  return false;
}

std::string subject_words(const Lesson& lesson) {
  std::string words = lesson.id + " " + lesson.topic + " " + title_of_track(lesson.track);
  for (const std::string& term : lesson.terms) words += " " + term;
  for (const Term& term : lesson.glossary) {
    words += " " + term.name;
    for (const std::string& also : term.also) words += " " + also;
  }
  return lowered(words);
}

// What can be turned, and what the sides are set to.
std::string knobs_of(const Lesson& lesson) {
  std::string words = lesson.heard;
  for (const std::string& knob : lesson.knobs) words += " " + knob;
  for (const program::Config* config : {&lesson.common, &lesson.side_a, &lesson.side_b})
    for (const auto& [name, value] : config->values()) {
      words += " " + name;
      if (const auto* word = std::get_if<std::string>(&value)) words += " " + *word;
    }
  return lowered(words);
}

std::string texts_of(const Lesson& lesson) {
  std::string words = lesson.limits;
  for (const Step& step : lesson.steps) {
    words += " " + step.text + " " + step.explain;
    if (!step.question) continue;
    for (const Option& option : step.question->options) words += " " + option.text;
  }
  return lowered(words);
}

// Of one word.
int weight(const std::vector<std::string>& places, const std::string& word) {
  for (std::size_t i = 0; i < places.size(); ++i)
    if (has_word(places[i], word)) return static_cast<int>(places.size() - i);
  return 0;
}

std::vector<std::string> words_in(std::string_view text) {
  std::istringstream stream(lowered(text));
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

int relevance(const Lesson& lesson, std::string_view words) {
  const std::vector<std::string> asked = words_in(words);
  if (asked.empty()) return 0;
  const std::vector<std::string> places{lowered(lesson.title), subject_words(lesson),
                                        knobs_of(lesson), texts_of(lesson)};
  int least = static_cast<int>(places.size());
  for (const std::string& word : asked) least = std::min(least, weight(places, word));
  return least;
}

std::string subject_line(const Lesson& lesson) {
  std::string line;
  for (const Term& term : lesson.glossary) add_to_list(line, term.name);
  return line.empty() ? lesson.say(lesson.topic) : line;
}

std::vector<const Lesson*> lessons_about(const std::vector<Lesson>& lessons,
                                         std::string_view words) {
  std::vector<std::pair<int, const Lesson*>> found;
  for (const Lesson& lesson : lessons)
    if (const int much = relevance(lesson, words); much > 0) found.emplace_back(much, &lesson);
  std::ranges::stable_sort(found, std::greater<>(), &std::pair<int, const Lesson*>::first);
  std::vector<const Lesson*> about;
  for (const auto& [much, lesson] : found) about.push_back(lesson);
  return about;
}

}  // namespace trainscope::scenario
