#include "data/stories.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstddef>
#include <string_view>

namespace trainscope::data {
namespace {

using Word = std::string_view;

struct Person {
  Word name, pronoun, object;
};

struct Thing {
  Word one, many;
};

constexpr std::array kPeople = {
    Person{"Anna", "she", "her"},  Person{"Boris", "he", "him"}, Person{"Clara", "she", "her"},
    Person{"David", "he", "him"},  Person{"Emil", "he", "him"},  Person{"Freya", "she", "her"},
    Person{"Greta", "she", "her"}, Person{"Hugo", "he", "him"},  Person{"Jonas", "he", "him"},
    Person{"Karin", "she", "her"}, Person{"Leo", "he", "him"},   Person{"Mina", "she", "her"},
};
constexpr std::array kThings = {
    Thing{"lamp", "lamps"},     Thing{"box", "boxes"},          Thing{"map", "maps"},
    Thing{"letter", "letters"}, Thing{"boat", "boats"},         Thing{"key", "keys"},
    Thing{"quilt", "quilts"},   Thing{"violin", "violins"},     Thing{"clock", "clocks"},
    Thing{"apple", "apples"},   Thing{"umbrella", "umbrellas"},
};
constexpr std::array<Word, 9> kLooks = {"old",  "red",  "small",   "heavy", "green",
                                        "blue", "huge", "unusual", "plain"};
constexpr std::array<Word, 7> kDeeds = {"found", "carried", "painted", "bought",
                                        "hid",   "fixed",   "lost"};
constexpr std::array<Word, 8> kPlaces = {
    "in the attic",      "by the river",      "at the market", "under the bridge",
    "behind the school", "near the old mill", "on the jetty",  "at the zoo"};
constexpr std::array<Word, 6> kTimes = {"in the morning", "at noon",     "after the rain",
                                        "the next day",   "before dawn", "on a quiet evening"};
constexpr std::array<Word, 6> kFlaws = {"too heavy",  "quite new",  "not for sale",
                                        "just right", "very dusty", "worth a lot"};
constexpr std::array<Word, 10> kNumbers = {"one", "two",   "three", "four", "five",
                                           "six", "seven", "eight", "nine", "ten"};

template <typename Choices>
const auto& pick(const Choices& choices, Draws& draws) {
  return choices[draws.below(choices.size())];
}

Word number(std::size_t count) {
  return kNumbers[count - 1];
}

// What stays the same from the first sentence to the last.
struct Story {
  Person who, other;
  Thing thing;
  Word look, place;
  bool many = false;

  Word noun() const { return many ? thing.many : thing.one; }
  Word it() const { return many ? "they" : "it"; }
  Word it_object() const { return many ? "them" : "it"; }
  Word is() const { return many ? "are" : "is"; }
  Word was() const { return many ? "were" : "was"; }
};

std::string capital(std::string sentence) {
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

std::string with_article(Word words) {
  const bool vowel = Word("aeiou").find(words[0]) != Word::npos;
  // "unusual" and "umbrella" begin with a vowel to the ear as well.
  return fmt::format("{} {}", vowel ? "an" : "a", words);
}

Story imagine(Draws& draws) {
  Story story;
  const std::size_t who = draws.below(kPeople.size());
  // Anyone but the same person again.
  const std::size_t other = (who + 1 + draws.below(kPeople.size() - 1)) % kPeople.size();
  story.who = kPeople[who];
  story.other = kPeople[other];
  story.thing = pick(kThings, draws);
  story.look = pick(kLooks, draws);
  story.place = pick(kPlaces, draws);
  story.many = draws.chance(0.5F);
  return story;
}

std::string opening(const Story& story, Draws& draws) {
  const std::string things = fmt::format("{} {}", story.look, story.noun());
  const std::string what =
      story.many ? fmt::format("{} {}", number(2 + draws.below(9)), things) : with_article(things);
  return fmt::format("{} {} {} {}.", story.who.name, pick(kDeeds, draws), what, story.place);
}

std::string thought(const Story& story, Draws& draws) {
  return capital(fmt::format("{} thought that {} {} {}.", story.who.pronoun, story.it(),
                             story.was(), pick(kFlaws, draws)));
}

std::string question(const Story& story, Draws&) {
  return fmt::format("\"Where {} the {} {}?\" asked {}. \"{} {} {},\" said {}.", story.is(),
                     story.look, story.noun(), story.other.name, capital(std::string(story.it())),
                     story.is(), story.place, story.who.name);
}

std::string gift(const Story& story, Draws& draws) {
  const Word time = pick(kTimes, draws), deed = pick(kDeeds, draws);
  return capital(fmt::format("{} {} took the {} to {}, and {} {} {}.", time, story.who.pronoun,
                             story.noun(), story.other.name, story.other.pronoun, deed,
                             story.it_object()));
}

std::string sum(const Story& story, Draws& draws) {
  const std::size_t first = 1 + draws.below(5), second = 1 + draws.below(5);
  const auto counted = [&](std::size_t count) {
    return fmt::format("{} {}", number(count), count == 1 ? story.thing.one : story.thing.many);
  };
  return capital(
      fmt::format("{} and {} make {}.", counted(first), counted(second), counted(first + second)));
}

std::string thanks(const Story& story, Draws& draws) {
  return capital(fmt::format("{} {} thanked {} for the {}.", pick(kTimes, draws), story.other.name,
                             story.who.object, story.noun()));
}

}  // namespace

std::string write_story(Draws& draws) {
  using Sentence = std::string (*)(const Story&, Draws&);
  constexpr std::array<Sentence, 5> kSentences = {thought, question, gift, sum, thanks};
  const Story story = imagine(draws);
  std::string text = opening(story, draws);
  // Steps through a prime number of kinds, so that none comes twice.
  const std::size_t first = draws.below(kSentences.size());
  const std::size_t step = 1 + draws.below(kSentences.size() - 1);
  const std::size_t more = 2 + draws.below(3);
  for (std::size_t i = 0; i < more; ++i)
    text += " " + kSentences[(first + i * step) % kSentences.size()](story, draws);
  return text + "\n";
}

}  // namespace trainscope::data
