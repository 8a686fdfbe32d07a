#include "ui/app/files/file_browser.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/error.h"
#include "base/letters.h"
#include "base/platform.h"
#include "base/units.h"

namespace trainscope::ui {
namespace {

namespace fs = std::filesystem;
using Kind = BrowserRow::Kind;

std::string date_of(const fs::path& path) {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(path, error);
  if (error) return "";
  const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
  const auto seconds =
      static_cast<std::time_t>(std::chrono::duration_cast<std::chrono::seconds>(since).count());
  try {
    return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(seconds));
  } catch (const fmt::format_error&) {
    return "";  // a time that no calendar has
  }
}

// Of .toml only the name is looked at here: it may be a lesson, a machine or a config.
std::string kind_words(const fs::path& file) {
  const scenario::FileKind kind = scenario::kind_by_name(file);
  return kind == scenario::FileKind::kConfig ? "" : std::string(scenario::name_of(kind));
}

BrowserRow row_of(const fs::path& path, Kind kind) {
  BrowserRow row{kind, path.filename().string(), path, {}, {}, date_of(path)};
  std::error_code error;
  if (kind == Kind::kFolder) return row;
  const bool folder = fs::is_directory(path, error);
  row.gone = !folder && !fs::is_regular_file(path, error);
  const auto bytes = row.gone || folder ? 0 : fs::file_size(path, error);
  if (!row.gone && !folder && !error) row.size = format_bytes(static_cast<double>(bytes));
  row.detail = kind == Kind::kRecent ? path.parent_path().string() : kind_words(path);
  return row;
}

bool fits(const BrowserRow& row, const std::string& words) {
  return lowered(row.name).find(lowered(words)) != std::string::npos;
}

}  // namespace

std::vector<BrowserRow> read_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw InputError(folder.string() + ": there is no such folder");
  fs::directory_iterator inside(folder, error);
  if (error)
    throw InputError(folder.string() + ": this folder cannot be read (" + error.message() + ")");
  std::vector<BrowserRow> rows;
  for (const auto end = fs::directory_iterator(); inside != end; inside.increment(error)) {
    if (error) break;
    const fs::path& path = inside->path();
    if (path.filename().string().starts_with('.')) continue;
    std::error_code ignored;
    if (inside->is_directory(ignored))
      rows.push_back(row_of(path, Kind::kFolder));
    else if (scenario::kind_by_name(path) != scenario::FileKind::kOther)
      rows.push_back(row_of(path, Kind::kFile));
  }
  std::sort(rows.begin(), rows.end(), [](const BrowserRow& a, const BrowserRow& b) {
    if (a.kind != b.kind) return a.kind == Kind::kFolder;
    const std::string one = lowered(a.name), other = lowered(b.name);
    return one != other ? one < other : a.name < b.name;
  });
  return rows;
}

void FileBrowser::open(const fs::path& folder, const std::vector<fs::path>& recent) {
  *this = {};
  for (const fs::path& file : recent) recent_.push_back(row_of(file, Kind::kRecent));
  enter(folder);
  if (folder_.empty()) enter(platform::user_folder().root_path());
}

void FileBrowser::enter(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder, error);
  try {
    std::vector<BrowserRow> entries = read_folder(error ? folder : whole);
    entries_ = std::move(entries);
    folder_ = error ? folder : whole;
    words_.clear();
    error_.clear();
    show();
  } catch (const InputError& fault) {
    error_ = fault.what();
  }
}

void FileBrowser::up() {
  if (folder_ == folder_.root_path()) return;
  const fs::path from = folder_;
  recent_.clear();
  enter(folder_.parent_path());
  for (std::size_t i = 0; i < shown_.size(); ++i)
    if (shown_[i].path == from && shown_[i].kind == Kind::kFolder) chosen_ = i;
}

void FileBrowser::narrow(const std::string& words) {
  words_ = words;
  error_.clear();
  show();
}

fs::path FileBrowser::typed() const {
  if (fs::path(words_).has_root_directory()) return words_;
  if (words_ == "~") return platform::user_folder();
  return words_.starts_with("~/") ? platform::user_folder() / words_.substr(2) : fs::path();
}

void FileBrowser::show() {
  const std::string words = typed().empty() ? words_ : "";
  shown_.clear();
  for (const BrowserRow& row : recent_)
    if (fits(row, words)) shown_.push_back(row);
  if (words.empty() && folder_ != folder_.root_path())
    shown_.push_back({Kind::kUp, "..", folder_.parent_path(), {}, {}, {}});
  for (const BrowserRow& row : entries_)
    if (row.kind == Kind::kFolder && fits(row, words)) shown_.push_back(row);
  show_ranks(words);
  for (const BrowserRow& row : entries_)
    if (row.kind == Kind::kFile && fits(row, words)) shown_.push_back(row);
  chosen_ = 0;
}

// Several traces beside each other may be those of one job's ranks.
void FileBrowser::show_ranks(const std::string& words) {
  const auto traces = std::ranges::count_if(entries_, [](const BrowserRow& row) {
    return row.kind == Kind::kFile &&
           scenario::kind_by_name(row.path) == scenario::FileKind::kTrace;
  });
  if (traces < 2) return;
  BrowserRow row{Kind::kRanks, "All " + std::to_string(traces) + " traces here as one run",
                 folder_,      "each one rank",
                 {},           {}};
  if (fits(row, words)) shown_.push_back(std::move(row));
}

void FileBrowser::move(int by) {
  const auto count = static_cast<int>(shown_.size());
  if (count > 0)
    chosen_ = static_cast<std::size_t>((static_cast<int>(chosen_) + by + count) % count);
}

fs::path FileBrowser::confirm() {
  error_.clear();
  fs::path path = typed();
  std::error_code ignored;
  if (path.empty()) {
    if (chosen_ >= shown_.size()) return {};
    const BrowserRow row = shown_[chosen_];
    if (row.kind == Kind::kUp) {
      up();
      return {};
    }
    path = row.path;
    const bool as_run = row.kind == Kind::kRanks || row.kind == Kind::kRecent;
    if (as_run && fs::is_directory(path, ignored)) return path;
  }
  if (fs::is_directory(path, ignored)) {
    // What was opened lately is for whoever has just come; who walks looks at the folder.
    recent_.clear();
    enter(path);
    return {};
  }
  if (fs::exists(path, ignored)) return path;
  error_ = path.string() + (typed().empty() ? ": this file is gone; the Delete key forgets it"
                                            : ": there is no such file or folder");
  return {};
}

void FileBrowser::drop(const fs::path& recent) {
  std::erase_if(recent_, [&](const BrowserRow& row) { return row.path == recent; });
  error_.clear();
  const std::size_t was = chosen_;
  show();
  chosen_ = shown_.empty() ? 0 : std::min(was, shown_.size() - 1);
}

}  // namespace trainscope::ui
