#include "ui/app/files/file_watch.h"

#include <chrono>
#include <utility>

namespace trainscope::ui {
namespace {

namespace fs = std::filesystem;

constexpr auto kEvery = std::chrono::seconds(1);

std::vector<fs::path> files_of(const std::vector<FileStamp>& stamps) {
  std::vector<fs::path> files;
  for (const FileStamp& stamp : stamps) files.push_back(stamp.file);
  return files;
}

}  // namespace

std::vector<FileStamp> stamps_of(const std::vector<fs::path>& files) {
  std::vector<FileStamp> stamps;
  for (const fs::path& file : files) {
    FileStamp stamp{file, {}, 0};
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(file, error);
    if (!error) stamp.time = time;
    const std::uintmax_t bytes = fs::file_size(file, error);
    if (!error) stamp.bytes = bytes;
    stamps.push_back(std::move(stamp));
  }
  return stamps;
}

FileWatch::FileWatch(std::function<void()> wake) : wake_(std::move(wake)) {}

FileWatch::~FileWatch() {
  stop();
}

void FileWatch::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  over_asked_.notify_all();
  thread_.join();
}

void FileWatch::watch(std::vector<fs::path> files) {
  stop();
  files_ = std::move(files);
  stamps_ = stamps_of(files_);
  over_ = false;
  if (!files_.empty()) thread_ = std::thread([this] { run(); });
}

bool FileWatch::take_change() {
  if (files_.empty()) return false;
  std::vector<FileStamp> now = stamps_of(files_);
  const std::lock_guard lock(mutex_);
  if (now == stamps_) return false;
  stamps_ = std::move(now);
  return true;
}

void FileWatch::run() {
  std::unique_lock lock(mutex_);
  const std::vector<fs::path> files = files_of(stamps_);
  while (!over_asked_.wait_for(lock, kEvery, [this] { return over_; })) {
    const std::vector<FileStamp> known = stamps_;
    lock.unlock();
    if (stamps_of(files) != known) wake_();
    lock.lock();
  }
}

}  // namespace trainscope::ui
