#include "cli/measured_files.h"

#include <fmt/format.h>

namespace trainscope::cli {
namespace {

namespace fs = std::filesystem;

// What could not be done, of each file that it could not be done with.
void add(std::string& faults, const fs::path& file, const std::error_code& error) {
  faults += fmt::format("{}{} ({})", faults.empty() ? "" : ", ", file.string(), error.message());
}

}  // namespace

std::string remove_parts(const std::vector<fs::path>& files) {
  std::string faults;
  std::error_code error;
  for (const fs::path& file : files)
    if (!fs::remove(file, error) && error) add(faults, file, error);
  return faults.empty() ? ""
                        : "what was written on the way could not be removed: " + faults +
                              "; remove it by hand";
}

std::string rename_with(const std::vector<fs::path>& files, const std::string& ending) {
  std::string faults;
  for (const fs::path& file : files) {
    std::error_code error;
    fs::rename(file, file.string() + ending, error);
    if (error) add(faults, file, error);
  }
  return faults.empty() ? ""
                        : fmt::format(
                              "could not be renamed to end in {}: {}; move it away, or no "
                              "machine can be read",
                              ending, faults);
}

}  // namespace trainscope::cli
