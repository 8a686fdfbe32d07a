// A lesson's file with something else in it, for tests of what is wrong with one.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"

namespace trainscope::test {

struct Edit {
  std::string from, to;
};

// A copy of a lesson with a few edits, under its own name in a folder that is removed.
class Edited {
 public:
  explicit Edited(const std::vector<Edit>& edits) {
    folder_ = std::filesystem::temp_directory_path() / ("trainscope-" + std::to_string(::getpid()));
    std::string text = read_file(home_folder() / "scenarios" / "pinned-vs-pageable.toml", 1 << 20);
    for (const auto& [from, to] : edits) {
      const auto at = text.find(from);
      REQUIRE(at != std::string::npos);
      text.replace(at, from.size(), to);
    }
    write_file(file(), text);
  }
  ~Edited() { std::filesystem::remove_all(folder_); }
  std::filesystem::path file() const { return folder_ / "pinned-vs-pageable.toml"; }

 private:
  std::filesystem::path folder_;
};

}  // namespace trainscope::test
