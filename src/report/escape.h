// Foreign text into HTML and JSON. Bytes that are not UTF-8, and control characters, become U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace trainscope::report {

// For text and for quoted attributes.
std::string html_text(std::string_view text);

// The same with `code`, **strong** and *emphasis*, as lesson texts have them.
std::string html_prose(std::string_view text);

// A JSON string with its quotes: plain ASCII, and harmless inside <script>.
std::string json_text(std::string_view text);

}  // namespace trainscope::report
