// What becomes of files that were written on the way, once a measurement is over: nothing that goes
// wrong with them is worth the figures.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trainscope::cli {

// Both return what went wrong, in one sentence; empty: nothing did.
std::string remove_parts(const std::vector<std::filesystem::path>& files);
// Each under its name with `ending` after it.
std::string rename_with(const std::vector<std::filesystem::path>& files, const std::string& ending);

}  // namespace trainscope::cli
