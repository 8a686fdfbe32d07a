#include "cli/endings.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>

#include "base/error.h"

namespace trainscope::cli {
namespace {

namespace fs = std::filesystem;

// What is there and neither a file nor a folder is written to, never replaced.
bool is_device(const std::string& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

bool ends_in_one_of(const std::string& file, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return file.ends_with(ending); });
}

// The first ending is the one that is told.
void check_ending(std::string_view flag, std::string_view what, const std::string& file,
                  std::initializer_list<std::string_view> endings) {
  if (file.empty() || ends_in_one_of(file, endings) || is_device(file)) return;
  const std::string right(*endings.begin());
  throw InputError(std::string(flag) + " writes " + std::string(what) + ", and " + file +
                   " does not end in " + right + "; write " + std::string(flag) + " " + file +
                   right);
}

}  // namespace

void check_run_file(const std::string& file) {
  check_ending("--save", "a run", file, {".tsrun"});
}
void check_page(const std::string& file) {
  check_ending("--html", "a page", file, {".html", ".htm"});
}
void check_sheet(const std::string& file) {
  if (file == "-" || !file.ends_with(".pdf")) {
    check_ending("--out", "a page", file == "-" ? "" : file, {".html", ".htm"});
    return;
  }
  const std::string page = file.substr(0, file.size() - std::string_view(".pdf").size()) + ".html";
  throw InputError("--out writes a page (HTML), and " + file + " is to be a PDF; write --out " +
                   page + ", open it in a browser and print it there into a PDF");
}
void check_drawing(const std::string& file) {
  check_ending("--svg", "a drawing", file, {".svg"});
}
void check_picture_file(const std::string& file) {
  check_ending("--png", "a picture", file, {".png"});
}
void check_trace_file(const std::string& file) {
  if (fs::path(file).has_extension())
    check_ending("--trace", "a trace", file, {".json", ".json.gz"});
}

void check_other(std::string_view flag, const std::string& file) {
  static constexpr std::string_view kTaken[] = {".tsrun", ".html", ".htm", ".svg", ".png", ".toml"};
  for (const std::string_view ending : kTaken)
    if (file.ends_with(ending))
      throw InputError(std::string(flag) + " writes no file that ends in " + std::string(ending) +
                       ", as " + file + " does; give it another ending");
}

}  // namespace trainscope::cli
