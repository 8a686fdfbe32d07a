#include "ui/app/files/recent_files.h"

#include <sstream>

#include "base/error.h"
#include "base/files.h"

namespace trainscope::ui {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 65'536;

// The same file under one name, whatever it was called by.
fs::path whole(const fs::path& file) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(file, error);
  return error ? file : path;
}

}  // namespace

RecentFiles::RecentFiles(const fs::path& folder) {
  if (folder.empty()) return;
  file_ = folder / "recent.txt";
  try {
    std::istringstream lines(read_file(file_, kMostBytes));
    for (std::string line; std::getline(lines, line) && files_.size() < kMost;)
      if (fs::path(line).is_absolute()) files_.emplace_back(line);
  } catch (const Error&) {
    // Nothing was opened yet.
  }
}

void RecentFiles::add(const fs::path& file) {
  const fs::path path = whole(file);
  // A line a file: a name with a line break in it cannot be kept.
  if (path.string().find('\n') != std::string::npos) return;
  std::erase(files_, path);
  files_.insert(files_.begin(), path);
  if (files_.size() > kMost) files_.resize(kMost);
  keep();
}

void RecentFiles::drop(const fs::path& file) {
  std::erase(files_, file);
  keep();
}

void RecentFiles::keep() const {
  if (file_.empty()) return;
  std::string text;
  for (const fs::path& file : files_) text += file.string() + "\n";
  try {
    write_file(file_, text);
  } catch (const Error&) {
    // The next window does not know of it.
  }
}

}  // namespace trainscope::ui
