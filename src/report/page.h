// The files of page/, compiled in.
#pragma once

#include <string_view>

namespace trainscope::report {

std::string_view page_template();  // page.html, with {{name}} where parts go
std::string_view page_style();
std::string_view page_script();

// What drawings are styled by, and the file whose `:root` rules name their colours.
std::string_view drawn_style();
std::string_view page_colors();

// The page of the machines; its style is added to page_style().
std::string_view machines_template();  // machines.html
std::string_view machines_style();
std::string_view machines_script();

// The handout of a lesson; its style is added to page_style().
std::string_view handout_template();  // handout.html
std::string_view handout_style();

}  // namespace trainscope::report
