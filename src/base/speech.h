// A page's own words in another language, and how that writes numbers.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>

namespace trainscope {

// A number's words with `decimal` where an English number has its point.
std::string with_decimal(std::string words, char decimal);

struct Speech {
  // By the English ones, "." among them: what stands before tenths. What is not there stays
  // English.
  std::map<std::string, std::string, std::less<>> words;

  std::string say(std::string_view english) const;
  // A name of which parts or numbers vary, "stream 7, NCCL": as a whole, else a part after the
  // other. Numbers are places of the words: "stream {}".
  std::string say_name(std::string_view english) const;
  std::string number(std::string text) const;  // "5.4 ms" as it is written
};

// A sentence with its places filled in: told(speech, "{} of {}", a, b).
template <typename... Words>
std::string told(const Speech& speech, std::string_view english, const Words&... words) {
  return fmt::format(fmt::runtime(speech.say(english)), words...);
}

}  // namespace trainscope
