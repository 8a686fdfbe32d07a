// assets/words.LANG.toml: short words of the window, of handouts and reports in another language,
// by the English ones.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scenario/check.h"

namespace trainscope::scenario {

// Told by its name: "words.de.toml".
bool is_words_file(const std::filesystem::path& file);
using Words = std::map<std::string, std::string, std::less<>>;
// Throws InputError for a value that is no text.
Words load_words(const std::filesystem::path& file);
// What `trainscope check` demands of it: the words that are said, and those that the shipped files
// have, no others, each with as many places ({}) as the English ones. Throws as load_words() does.
std::vector<Finding> check_words(const std::filesystem::path& file,
                                 const std::set<std::string>& said);

}  // namespace trainscope::scenario
