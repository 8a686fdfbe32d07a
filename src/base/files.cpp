#include "base/files.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "base/platform.h"
#include "base/program_folder.h"

namespace trainscope {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const fs::path& path, const std::error_code& error) {
  if (error == std::errc::permission_denied)
    throw InputError(path.string() +
                     ": cannot be read; check its permissions and those of the folders it is in");
  if (error == std::errc::too_many_symbolic_link_levels)
    throw InputError(path.string() +
                     ": cannot be read: a link in it leads back to itself; name another place");
  throw InputError(path.string() + ": cannot be read (" + error.message() +
                   "); name another place");
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    entries.push_back(entry->path());
  if (error) refuse(folder, error);
  std::sort(entries.begin(), entries.end());
  return entries;
}

// A folder of the folder itself, not a link to one: links may lead in a circle.
bool is_own_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

// Where an installed program has its files, from the folder that its bin/ is in.
constexpr const char* kShare = "share/trainscope";

bool holds_ours(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "assets" / "machines", error) &&
         fs::is_directory(folder / "scenarios", error);
}

// From the folder of the program upward; empty where there is none. What is installed takes what is
// beside its bin/, and nothing of a source tree that it may stand in.
fs::path home_near(fs::path folder) {
  if (is_installed()) {
    const fs::path own = folder.parent_path() / kShare;
    return holds_ours(own) ? own : fs::path{};
  }
  for (; !folder.empty(); folder = folder.parent_path()) {
    if (holds_ours(folder)) return folder;
    if (holds_ours(folder / kShare)) return folder / kShare;
    if (folder == folder.root_path()) break;
  }
  return {};
}

}  // namespace

fs::file_status status_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::status_known(status) || status.type() == fs::file_type::not_found) return status;
  if (error == std::errc::filename_too_long) return fs::file_status(fs::file_type::not_found);
  refuse(path, error);
}

bool is_there(const fs::path& path) {
  return fs::exists(status_of(path));
}
bool is_folder(const fs::path& path) {
  return fs::is_directory(status_of(path));
}
bool is_plain_file(const fs::path& path) {
  return fs::is_regular_file(status_of(path));
}

std::vector<fs::path> files_in(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> files = entries_of(folder);
  std::erase_if(files, [&](const fs::path& file) { return file.extension() != ending; });
  return files;
}

std::vector<fs::path> all_files_in(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> files;
  std::vector<fs::path> folders{folder};
  while (!folders.empty()) {
    const fs::path next = std::move(folders.back());
    folders.pop_back();
    for (fs::path& entry : entries_of(next)) {
      if (entry.extension() == ending) files.push_back(entry);
      if (is_own_folder(entry)) folders.push_back(std::move(entry));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw InputError(folder.string() + ": cannot be made (" + error.message() +
                     "); name another folder");
}

std::string read_file(const fs::path& path, std::size_t limit) {
  return read_marked_file(path, "", limit);
}

std::string read_marked_file(const fs::path& path, std::string_view mark, std::size_t limit) {
  std::error_code error;
  const fs::file_status status = status_of(path);
  if (!fs::exists(status)) throw InputError(path.string() + ": there is no such file");
  if (fs::is_directory(status)) throw InputError(path.string() + ": this is a folder, not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path.string() + ": cannot be read; check its permissions");
  const auto size = fs::is_regular_file(status) ? fs::file_size(path, error) : 0;
  if (error) refuse(path, error);
  if (size > limit)
    throw InputError(path.string() + ": has " + std::to_string(size) + " bytes, more than the " +
                     std::to_string(limit) + " that are read");
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(size));
  char block[1 << 16];
  while (bytes.starts_with(std::string_view(mark).substr(0, bytes.size())) &&
         (file.read(block, sizeof block) || file.gcount() > 0)) {
    bytes.append(block, static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > limit)
      throw InputError(path.string() + ": is longer than the " + std::to_string(limit) +
                       " bytes that are read");
  }
  if (file.bad())
    throw InputError(
        path.string() + ": cannot be read beyond its first " + std::to_string(bytes.size()) +
        " bytes: its disk failed, or its network; copy it again, or name another file");
  return bytes;
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& produce) {
  const std::string cannot = path.string() + ": cannot be written";
  std::error_code error;
  if (path.filename().empty() || fs::is_directory(path, error))
    throw InputError(cannot + ": it is a folder; name a file in it");
  // A device, a pipe or a link to one is written to, never replaced.
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    std::ofstream file(path, std::ios::binary);
    if (file) produce(file);
    file.close();
    if (!file) throw InputError(cannot + "; name another place");
    return;
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder, error))
    throw InputError(cannot + ": " + folder.string() +
                     " is not a folder and cannot be made; name a folder that exists");
  fs::path beside = path;
  beside += ".part" + std::to_string(platform::process_number());
  try {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    if (!file)
      throw InputError(cannot + ": no file can be made in " + folder.string() +
                       "; name a folder that you may write to");
    produce(file);
    file.close();
    if (!file) throw InputError(cannot + ": the disk is full or failed; name another place");
    fs::rename(beside, path, error);
    if (error) throw InputError(cannot + ": " + error.message() + "; name another place");
  } catch (...) {
    fs::remove(beside, error);
    throw;
  }
}

void write_file(const fs::path& path, std::string_view bytes) {
  write_file(path, [&](std::ostream& out) {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  });
}

fs::path home_folder() {
  if (const auto chosen = platform::variable("TRAINSCOPE_HOME")) {
    if (holds_ours(*chosen)) return *chosen;
    throw MissingError("TRAINSCOPE_HOME is " + *chosen +
                       ", which holds no assets/machines and scenarios; unset it or mend it");
  }
  if (const fs::path found = home_near(program_folder()); !found.empty()) return found;
  // An installed program without its own files must not work with whatever a source tree holds by
  // now.
  if (is_installed())
    throw MissingError((program_folder().parent_path() / kShare).string() +
                       " does not hold the folders assets and scenarios; install Trainscope again, "
                       "or set TRAINSCOPE_HOME to the folder that holds them");
  if (holds_ours(TRAINSCOPE_SOURCE_DIR)) return TRAINSCOPE_SOURCE_DIR;
  throw MissingError(
      "the folders assets and scenarios are not beside the program; set TRAINSCOPE_HOME to the "
      "folder that holds them");
}

}  // namespace trainscope
