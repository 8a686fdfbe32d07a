#include "support/traces.h"

#include <algorithm>
#include <cstdlib>

namespace trainscope::test {

std::filesystem::path real_traces_folder() {
  if (const char* named = std::getenv("TRAINSCOPE_TRACES"); named != nullptr && *named != '\0') {
    return named;
  }
  return std::filesystem::path(TRAINSCOPE_SOURCE_DIR).parent_path() / "shared" / "traces";
}

std::vector<std::filesystem::path> real_traces() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(real_traces_folder()))
    if (entry.path().extension() == ".gz") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

bool real_traces_present() {
  std::error_code unreadable;
  return std::filesystem::is_directory(real_traces_folder(), unreadable);
}

}  // namespace trainscope::test
