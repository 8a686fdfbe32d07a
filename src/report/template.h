// A page with places: {{name}} in it stands for a part, {{"words"}} for words of the page's
// language.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/speech.h"

namespace trainscope::report {

using Parts = std::map<std::string, std::string, std::less<>>;

// Puts each part where the page says {{name}}; what is put in is not looked at again. Every name of
// the page must be among the parts.
std::string filled(std::string_view page, const Parts& parts, const Speech& speech = {});

}  // namespace trainscope::report
