// How many times one value is of another, as people read it: "1.39", "24.2", "18,200", "1/18,200".
#pragma once

#include <string>

namespace trainscope {

// Three significant digits, and two behind the point below 10. What is smaller than a hundredth is
// the fraction that it is one of: nobody counts the zeros of 0.000055. "0" of 0, "-" of what is no
// finite number.
std::string format_ratio(double ratio);

}  // namespace trainscope
