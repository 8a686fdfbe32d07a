// How the files that are written end: each kind in its own way, so that no two outputs are one.
#pragma once

#include <string>
#include <string_view>

namespace trainscope::cli {

// Throw InputError where `file`, given with its flag, does not end as that kind does. An empty name
// and a device or pipe, /dev/stdout, may be called anything.
void check_run_file(const std::string& file);      // --save: .tsrun
void check_page(const std::string& file);          // --html: .html, .htm
void check_sheet(const std::string& file);         // --out of a handout: the same; "-"
void check_drawing(const std::string& file);       // --svg: .svg
void check_picture_file(const std::string& file);  // --png: .png
void check_trace_file(const std::string& file);  // --trace: .json, .json.gz; none: a folder's name
void check_other(std::string_view flag, const std::string& file);  // none of the first, nor .toml

}  // namespace trainscope::cli
