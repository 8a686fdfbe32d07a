// A lesson's card in another language than English.
#include <catch2/catch.hpp>

#include "ui/app/lesson/lesson_card.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A number with an English point in it.
bool has_point(const std::string& words) {
  for (std::size_t at = 1; at + 1 < words.size(); ++at)
    if (words[at] == '.' && is_digit(words[at - 1]) && is_digit(words[at + 1])) return true;
  return false;
}

}  // namespace

TEST_CASE("a German card writes its numbers with commas, and its own words in German") {
  REQUIRE_DRIVER(driver, 1366, 768);
  Workspace& workspace = driver->workspace();
  workspace.set_language("de");
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable", "de"));
  driver->settle();
  bool any_number = false;
  for (int i = 0; i < 12; ++i) {
    for (const char* action : {"lesson.skip", "lesson.run"})
      if (driver->app().can(action)) driver->app().run(action);
    driver->settle();
    const LessonCard card = card_of(workspace);
    CAPTURE(card.text, card.explain);
    for (const std::string* words : {&card.text, &card.explain, &card.goal})
      CHECK_FALSE(has_point(*words));
    for (const LookBack& recap : card.recaps) CHECK_FALSE(has_point(recap.text + recap.explain));
    any_number = any_number || card.text.find("5,") != std::string::npos;
    check_words_are_whole(200);
    if (!driver->app().can("lesson.next")) break;
    driver->app().run("lesson.next");
    driver->settle();
  }
  CHECK(any_number);
}

TEST_CASE("the lesson's buttons are in its language") {
  const scenario::Lesson lesson = scenario::find_lesson("pinned-vs-pageable", "de");
  for (const char* word : {"Next",
                           "Back",
                           "Skip",
                           "Hint",
                           "Show me",
                           "Explore from here",
                           "Predict",
                           "Answer",
                           "Run both",
                           "All lessons",
                           "Click the span in the timelines",
                           "about {} min left",
                           "your guess",
                           "your guess: right",
                           "the room's guess",
                           "the room's guess: right",
                           "what happened",
                           "your answer",
                           "your answer: right",
                           "the room's answer",
                           "the room's answer: right",
                           "right",
                           "1 to {}: hands",
                           "The lecturer's notes"}) {
    CAPTURE(word);
    CHECK(lesson.say(word) != word);
  }
  CHECK(lesson.decimal() == ',');
  CHECK(scenario::find_lesson("pinned-vs-pageable").decimal() == '.');
}
