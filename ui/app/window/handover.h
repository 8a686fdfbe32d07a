// What leaves the window for whoever uses it.
#pragma once

#include <filesystem>
#include <string>

namespace trainscope::ui {

// A file that was written: on a desktop it is where it was asked for; in a browser, whose page has
// files of its own only, it becomes a download.
void hand_over(const std::filesystem::path& file);

// What is copied of a link: itself; in a browser the address of a page that opens it.
std::string shared_link(const std::string& link);

}  // namespace trainscope::ui
