// The files of page/, compiled in.
#pragma once

#include <string_view>

namespace trainscope::report {

std::string_view page_template();  // page.html, with {{name}} where parts go
std::string_view page_style();
std::string_view page_script();

}  // namespace trainscope::report
