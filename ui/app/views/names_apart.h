// Names that are cut to fit, of which no two read the same: where what tells them apart would be
// cut out, they begin with it. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace trainscope::ui {

// A text as it fits, with "…" for what is left out.
using Cut = std::function<std::string(std::string_view)>;

// In the order of `names`, which may be there twice. `middle` leaves out what is in the middle,
// `end` what is at the end.
std::vector<std::string> cut_apart(const std::vector<std::string>& names, const Cut& middle,
                                   const Cut& end);

}  // namespace trainscope::ui
