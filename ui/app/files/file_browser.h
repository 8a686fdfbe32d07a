// Folders to walk through and files to open, as rows of a sheet. Pure but for reading folders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "scenario/file_kind.h"

namespace trainscope::ui {

struct BrowserRow {
  enum class Kind : std::uint8_t {
    kRecent,  // a file that was opened lately
    kUp,      // the folder above
    kRanks,   // the traces of the folder, as the ranks of one run
    kFolder,
    kFile,
  };
  Kind kind = Kind::kFile;
  std::string name;
  std::filesystem::path path;
  std::string detail;   // "trace"; of a recent file: the folder it is in
  std::string size;     // "3.2 MiB"; empty: a folder
  std::string changed;  // "2026-03-14 09:26", local time
  bool gone = false;    // of a recent file: it is there no more
};

// What Trainscope can open in a folder, folders first, by name; hidden ones are left out. Throws
// InputError when it cannot be read.
std::vector<BrowserRow> read_folder(const std::filesystem::path& folder);

// Where one is, and what is seen there.
class FileBrowser {
 public:
  // Begins in a folder, with what was opened lately above it. What is wrong stands in error().
  void open(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& recent);
  // Reads another folder; stays where it is when that cannot be read.
  void enter(const std::filesystem::path& folder);
  void up();

  // Typing narrows the rows. A path that is typed (it begins with / or ~) is meant as it stands.
  void narrow(const std::string& words);
  const std::string& words() const { return words_; }

  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<BrowserRow>& rows() const { return shown_; }
  std::size_t chosen() const { return chosen_; }
  void choose(std::size_t row) { chosen_ = row; }
  void move(int by);

  // What Enter means now: the path typed, else the row chosen. Enters a folder, and returns a file
  // to be opened, or the folder whose traces are the ranks of one run; empty: there is none.
  std::filesystem::path confirm();
  // The recent file is forgotten here; the caller forgets it elsewhere.
  void drop(const std::filesystem::path& recent);

  const std::string& error() const { return error_; }
  void fail(std::string sentence) { error_ = std::move(sentence); }

 private:
  void show();
  void show_ranks(const std::string& words);
  std::filesystem::path typed() const;

  std::filesystem::path folder_;
  std::vector<BrowserRow> recent_, entries_, shown_;
  std::string words_, error_;
  std::size_t chosen_ = 0;
};

}  // namespace trainscope::ui
