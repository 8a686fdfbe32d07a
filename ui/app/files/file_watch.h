// Notices that files have changed on disk, and wakes the window for it: looked at once a second on
// a thread of its own, so that an idle window need not draw.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace trainscope::ui {

// What tells one state of a file from the next; a file that is missing has one, too.
struct FileStamp {
  std::filesystem::path file;
  std::filesystem::file_time_type time{};
  std::uintmax_t bytes = 0;
  bool operator==(const FileStamp&) const = default;
};
std::vector<FileStamp> stamps_of(const std::vector<std::filesystem::path>& files);

class FileWatch {
 public:
  // `wake` is called from another thread.
  explicit FileWatch(std::function<void()> wake);
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  // From now on, as they stand now. None: nothing is watched, and no thread runs.
  void watch(std::vector<std::filesystem::path> files);
  const std::vector<std::filesystem::path>& files() const { return files_; }

  // True once for each change since watch() or the last call. Looks for itself, whether the thread
  // has looked or not.
  bool take_change();

 private:
  void run();
  void stop();

  std::function<void()> wake_;
  std::vector<std::filesystem::path> files_;  // the caller's thread alone
  std::mutex mutex_;
  std::condition_variable over_asked_;
  std::vector<FileStamp> stamps_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace trainscope::ui
