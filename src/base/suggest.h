// "Did you mean": the nearest right name to a wrong one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

// The candidate with the least edit distance, or "" when none is near enough to be meant.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& candidates);

// " (did you mean X?)" or "". The one that is spelled alike but for capitals; else, of the
// beginning of a few, as "h100", all that go on behind it: " (did you mean h100-sxm-1 or
// h100-sxm-8?)"; else the nearest; else those of a group whose name is in it: "checkpoint.enabled
// or checkpoint.every" of "gradient_checkpointing".
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& candidates);

}  // namespace trainscope
