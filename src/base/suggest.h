// "Did you mean": the nearest right name to a wrong one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

// The candidate with the least edit distance, or "" when none is near enough to be meant.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& candidates);

// " (did you mean X?)" or "".
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& candidates);

}  // namespace trainscope
