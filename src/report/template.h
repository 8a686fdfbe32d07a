// A page with places: {{name}} in it stands for a part.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace trainscope::report {

using Parts = std::map<std::string, std::string, std::less<>>;

// Puts each part where the page says {{name}}; what is put in is not looked at again. Every name of
// the page must be among the parts.
std::string filled(std::string_view page, const Parts& parts);

}  // namespace trainscope::report
