#include "base/files.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/error.h"
#include "base/platform.h"
#include "base/temporary_folder.h"

using namespace trainscope;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE("what is written is read back, byte by byte") {
  const test::TemporaryFolder folder;
  const std::string bytes("a\0b\r\n\xff", 6);
  write_file(folder.path() / "file", bytes);
  CHECK(read_file(folder.path() / "file", 100) == bytes);
  write_file(folder.path() / "file", "shorter");
  CHECK(read_file(folder.path() / "file", 100) == "shorter");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
}

TEST_CASE("writing makes the folders that are missing") {
  const test::TemporaryFolder folder;
  write_file(folder.path() / "a" / "b" / "file", "x");
  CHECK(read_file(folder.path() / "a" / "b" / "file", 100) == "x");
}

TEST_CASE("a file that cannot be read says why") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("file", "12345");
  CHECK_THROWS_WITH(read_file(folder.path() / "none", 9), Contains("none: there is no such file"));
  CHECK_THROWS_WITH(read_file(folder.path(), 9), Contains("this is a folder"));
  CHECK_THROWS_WITH(read_file(file, 4), Contains("has 5 bytes, more than the 4"));
  CHECK_NOTHROW(read_file(file, 5));
}

// What a process has at address 0 is not there to be read: Linux says so as a disk that fails does.
TEST_CASE("a file that stops to be readable is refused, not taken for a shorter one") {
  if (!is_there("/proc/self/mem")) return;
  CHECK_THROWS_WITH(
      read_file("/proc/self/mem", 9),
      Contains("cannot be read beyond its first 0 bytes") && Contains("name another file"));
}

TEST_CASE("what stands at a path is told, or why it cannot be") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("file", "1");
  CHECK((is_there(file) && is_plain_file(file) && !is_folder(file)));
  CHECK((is_there(folder.path()) && is_folder(folder.path()) && !is_plain_file(folder.path())));
  CHECK_FALSE(is_there(file / "below"));
  CHECK_FALSE(is_there(folder.path() / std::string(300, 'x')));
  CHECK_FALSE(is_there(std::string(5000, '/') + "none"));
  fs::create_symlink("loop", folder.path() / "loop");
  CHECK_THROWS_WITH(is_there(folder.path() / "loop"),
                    Contains("a link in it leads back to itself"));
  CHECK_THROWS_WITH(is_folder(folder.path() / "loop" / "x"), Contains("leads back to itself"));
  CHECK_THROWS_WITH(read_file(folder.path() / "loop", 9), Contains("leads back to itself"));
}

TEST_CASE("the files of a folder come sorted, with those of its folders if they are wanted") {
  const test::TemporaryFolder folder;
  fs::create_directories(folder.path() / "a" / "b");
  folder.write("z.toml", "");
  folder.write("c.txt", "");
  folder.write("a/b/d.toml", "");
  fs::create_directory_symlink("..", folder.path() / "a" / "round");
  CHECK(files_in(folder.path(), ".toml") == std::vector<fs::path>{folder.path() / "z.toml"});
  CHECK(all_files_in(folder.path(), ".toml") ==
        std::vector<fs::path>{folder.path() / "a" / "b" / "d.toml", folder.path() / "z.toml"});
  CHECK_THROWS_WITH(files_in(folder.path() / "none", ".toml"), Contains("none: cannot be read"));
}

TEST_CASE("a folder that cannot be made is named") {
  CHECK_THROWS_WITH(make_folder("/proc/trainscope/x"),
                    Contains("/proc/trainscope/x: cannot be made"));
}

TEST_CASE("a file without an end is given up at the limit") {
  CHECK_THROWS_WITH(read_file("/dev/zero", 1'000'000),
                    Contains("is longer than the 1000000 bytes"));
}

TEST_CASE("of a file without the mark that it should have, only the beginning is read") {
  const test::TemporaryFolder folder;
  CHECK(read_marked_file("/dev/zero", "MARK", 1'000'000).size() < 1'000'000);
  CHECK(read_marked_file(folder.write("file", "MARK and more"), "MARK", 100) == "MARK and more");
  CHECK(read_marked_file(folder.write("short", "MA"), "MARK", 100) == "MA");
}

TEST_CASE("a target that cannot be written is refused and leaves nothing behind") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("file", "old");
  SECTION("a folder") {
    CHECK_THROWS_WITH(write_file(folder.path(), "x"),
                      Contains("it is a folder; name a file in it"));
    CHECK_THROWS_WITH(write_file(folder.path() / "", "x"), Contains("it is a folder"));
  }
  SECTION("below a file") {
    CHECK_THROWS_WITH(write_file(file / "sub", "x"), Contains("is not a folder"));
    CHECK_THROWS_WITH(write_file(file / "sub" / "sub", "x"), Contains("cannot be written"));
  }
  SECTION("below a link that leads back to itself") {
    fs::create_symlink("loop", folder.path() / "loop");
    CHECK_THROWS_WITH(write_file(folder.path() / "loop" / "x", "x"), Contains("cannot be written"));
    fs::remove(folder.path() / "loop");
  }
  SECTION("a folder whose name is too long") {
    CHECK_THROWS_WITH(write_file(folder.path() / std::string(300, 'x') / "x", "x"),
                      Contains("cannot be written"));
  }
  SECTION("no name") {
    CHECK_THROWS_WITH(write_file("", "x"), Contains("cannot be written"));
  }
  SECTION("a name that is too long") {
    CHECK_THROWS_WITH(write_file(folder.path() / std::string(300, 'x'), "x"),
                      Contains("cannot be written"));
  }
  CHECK(read_file(file, 9) == "old");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
}

TEST_CASE("a folder in which nobody may write is named") {
  // /proc refuses new files to everybody, the superuser included.
  CHECK_THROWS_WITH(write_file("/proc/trainscope", "x"),
                    Contains("no file can be made in /proc; name a folder that you may write to"));
}

TEST_CASE("a write that fails half way keeps the old file and leaves no part") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("file", "old");
  SECTION("because its producer throws") {
    CHECK_THROWS_AS(write_file(file,
                               [](std::ostream& out) {
                                 out << "half";
                                 throw InputError("no more");
                               }),
                    InputError);
  }
  SECTION("because the stream breaks") {
    CHECK_THROWS_WITH(write_file(file, [](std::ostream& out) { out.setstate(std::ios::badbit); }),
                      Contains("the disk is full or failed"));
  }
  CHECK(read_file(file, 9) == "old");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
}

TEST_CASE("output that cannot be written is bad input to the command line") {
  try {
    write_file("/proc/trainscope", "x");
    FAIL("it was written");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::kBadInput);
  }
}

TEST_CASE("the home folder is the one named, if it is one") {
  const test::TemporaryFolder folder;
  const std::string before = platform::variable("TRAINSCOPE_HOME").value_or("");
  platform::set_variable("TRAINSCOPE_HOME", folder.path().string());
  CHECK_THROWS_AS(home_folder(), MissingError);
  fs::create_directories(folder.path() / "assets" / "machines");
  fs::create_directories(folder.path() / "scenarios");
  CHECK(home_folder() == folder.path());
  platform::set_variable("TRAINSCOPE_HOME", before);
}
