#include "base/platform.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/files.h"
#include "base/temporary_folder.h"

using namespace trainscope;

TEST_CASE("a file with a foreign name is read byte by byte as it is") {
  const test::TemporaryFolder folder;
  const std::string bytes("a\r\n\x1a\0b\n", 7);
  const auto file = folder.path() / "Größe 大小 😀.json";
  write_file(file, bytes);
  CHECK(read_file(file, 99) == bytes);
  CHECK(file.filename().string() == "Größe 大小 😀.json");

  std::FILE* opened = platform::open_to_read(file);
  REQUIRE(opened);
  std::array<char, 99> read{};
  CHECK(std::string(read.data(), std::fread(read.data(), 1, read.size(), opened)) == bytes);
  std::fclose(opened);
  CHECK_FALSE(platform::open_to_read(folder.path() / "none"));
}

TEST_CASE("a file that is there is written over") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("kept.txt", "before");
  write_file(file, "after");
  CHECK(read_file(file, 99) == "after");
  CHECK(platform::may_write(file));
  CHECK_FALSE(platform::may_write(folder.path() / "none" / "none"));
}

TEST_CASE("variables of the environment are UTF-8, and an empty one is none") {
  CHECK_FALSE(platform::variable("TRAINSCOPE_TEST"));
  platform::set_variable("TRAINSCOPE_TEST", "Köln");
  CHECK(platform::variable("TRAINSCOPE_TEST") == "Köln");
  platform::set_variable("TRAINSCOPE_TEST", "");
  CHECK_FALSE(platform::variable("TRAINSCOPE_TEST"));
}

TEST_CASE("the program that runs knows its file and its place in the system") {
  CHECK(platform::program_file().stem() == "tests_base");
  CHECK(platform::process_number() > 0);
  CHECK(platform::user_folder().is_absolute());
}

TEST_CASE("a library that is not there is none, and says why") {
  CHECK_FALSE(platform::find_library("no-such-library.so"));
  std::string why_not;
  CHECK_FALSE(platform::load_library(test::TemporaryFolder().write("not.so", "no"), why_not));
  CHECK_FALSE(why_not.empty());
}
