// The stories: their alphabet, and how they are cut into samples.

#include "data/text.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <cstdint>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "data/samples.h"

using namespace trainscope::data;
using trainscope::test::read_sample;
using trainscope::test::Sample;

namespace {

std::string spelled(const std::vector<std::int64_t>& tokens) {
  std::string text;
  for (const std::int64_t token : tokens) text += text_alphabet()[static_cast<std::size_t>(token)];
  return text;
}

std::string sorted_characters(const std::string& text) {
  const std::set<char> characters(text.begin(), text.end());
  return {characters.begin(), characters.end()};
}

}  // namespace

TEST_CASE("the alphabet is the characters of the text, for each seed and split") {
  for (const std::uint64_t seed : {0, 1, 99}) {
    const TextDataset train(Split::kTrain, seed, 64);
    CHECK(sorted_characters(train.text()) == text_alphabet());
    const std::string test = sorted_characters(TextDataset(Split::kTest, seed, 64).text());
    CHECK(std::includes(text_alphabet().begin(), text_alphabet().end(), test.begin(), test.end()));
    CHECK(train.shape().classes == static_cast<std::int64_t>(text_alphabet().size()));
  }
}

TEST_CASE("samples lie behind each other, and their targets are one character on") {
  for (const std::int64_t seq_len : {1, 64, 4096}) {
    const TextDataset dataset(Split::kTest, 3, seq_len);
    CHECK(dataset.shape() == SampleShape{0, 0, 0, seq_len, seq_len, dataset.shape().classes});
    std::string joined;
    for (std::int64_t i = 0; i < dataset.size(); ++i) {
      const Sample sample = read_sample(dataset, i);
      joined += spelled(sample.tokens);
      REQUIRE(
          spelled(sample.targets) ==
          dataset.text().substr(static_cast<std::size_t>(i * seq_len + 1), sample.targets.size()));
    }
    CHECK(dataset.text().starts_with(joined));
    CHECK(static_cast<std::int64_t>(dataset.text().size() - joined.size()) <= seq_len);
  }
}

TEST_CASE("there are 200 kB to train with, and what is tested is not among it") {
  const TextDataset train(Split::kTrain, 0, 64), test(Split::kTest, 0, 64);
  CHECK(train.text().size() >= 200'000);
  CHECK(train.text().size() < 201'000);
  CHECK(test.text().size() >= 20'000);
  CHECK(train.text().find(test.text().substr(0, 200)) == std::string::npos);
}

TEST_CASE("stories keep number and article") {
  const std::string text = TextDataset(Split::kTrain, 0, 64).text();
  for (const char* wrong : {"a old", "an red", "they is", "it are", " one lamps", "two lamp ",
                            "They is", "It are", "  "})
    CHECK(text.find(wrong) == std::string::npos);
  for (const char* right : {"an old", "a red", "they were", "It is", "ne lamp ", "two lamps"})
    CHECK(text.find(right) != std::string::npos);
}

TEST_CASE("the sums in the stories are right") {
  const std::vector<std::string> numbers = {"zero", "one",   "two",   "three", "four", "five",
                                            "six",  "seven", "eight", "nine",  "ten"};
  const auto value = [&](std::string word) {
    word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
    return std::find(numbers.begin(), numbers.end(), word) - numbers.begin();
  };
  const std::string text = TextDataset(Split::kTest, 0, 64).text();
  const std::regex sum(R"((\w+) \w+ and (\w+) \w+ make (\w+) \w+\.)");
  int count = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), sum), end; match != end; ++match) {
    INFO(match->str());
    CHECK(value((*match)[1]) + value((*match)[2]) == value((*match)[3]));
    ++count;
  }
  CHECK(count > 20);
}
