// The texts of a page, each once: names and labels of spans, by number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainscope::report {

class StringTable {
 public:
  // Names longer than this are cut, and say so.
  static constexpr std::size_t kLongName = 600;
  static constexpr std::size_t kShortName = 60;
  static constexpr std::size_t kRoom = 16
                                       << 20;  // bytes of names before they are cut to kShortName

  StringTable();

  // The number of a text; 0 is the empty one.
  std::int64_t add(std::string_view text);

  // A list of all texts, by number.
  std::string json() const;
  // {"number": "short form"} of the texts that have one.
  std::string shorts_json() const;

 private:
  std::map<std::string, std::size_t, std::less<>> ids_;
  std::vector<std::string> texts_;
  std::size_t bytes_ = 0;
};

}  // namespace trainscope::report
