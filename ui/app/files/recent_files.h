// What was opened lately, latest first: files, lessons among them. Kept in the settings' folder.
#pragma once

#include <filesystem>
#include <vector>

namespace trainscope::ui {

class RecentFiles {
 public:
  static constexpr std::size_t kMost = 12;

  RecentFiles() = default;  // keeps nothing on disk
  // Reads what was kept there; what cannot be read was not opened.
  explicit RecentFiles(const std::filesystem::path& folder);

  const std::vector<std::filesystem::path>& files() const { return files_; }
  // Puts it first. What cannot be written is not remembered.
  void add(const std::filesystem::path& file);
  void drop(const std::filesystem::path& file);

 private:
  void keep() const;

  std::filesystem::path file_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace trainscope::ui
