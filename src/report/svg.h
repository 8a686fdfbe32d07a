// The timelines as one SVG file: lanes, axis, what the colours mean, and where the numbers come
// from. Text stays text. Equal input gives equal bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/html.h"
#include "report/picture.h"

namespace trainscope::report {

enum class SvgTheme : std::uint8_t { kLight, kDark };

// Colours and faces are written out: programs that draw SVG need not know variables of CSS.
std::string timelines_svg(const ReportInput& input, const PictureView& view = {},
                          SvgTheme theme = SvgTheme::kLight);

// The value of every variable that page.css gives a theme, by its name without the dashes.
std::vector<std::pair<std::string, std::string>> theme_values(std::string_view style,
                                                              SvgTheme theme);

}  // namespace trainscope::report
