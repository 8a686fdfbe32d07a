#include "scenario/words_file.h"

#include <fmt/format.h>

#include <utility>

#include "base/files.h"
#include "base/suggest.h"
#include "base/toml.h"
#include "scenario/translation.h"

namespace trainscope::scenario {
namespace {

namespace fs = std::filesystem;

// The English words that are said, and those that any shipped file of words translates.
std::set<std::string> known_words(const std::set<std::string>& said) {
  std::set<std::string> known = said;
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
  WordsChecker(const fs::path& file, const std::set<std::string>& said)
      : file_(file.string()), words_(load_words(file)), known_(known_words(said)) {}

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
    std::string sentence =
        fmt::format("{} of {} words are not translated and stay English: {}{}", count,
                    known_.size(), fmt::join(missing, ", "), count > kNamed ? ", ..." : "");
    findings_.push_back({{file_, 1, 1}, std::move(sentence)});
  }

  std::string file_;
  Words words_;
  std::set<std::string> known_;
  std::vector<Finding> findings_;
};

}  // namespace

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

std::vector<Finding> check_words(const fs::path& file, const std::set<std::string>& said) {
  return WordsChecker(file, said).check();
}

}  // namespace trainscope::scenario
