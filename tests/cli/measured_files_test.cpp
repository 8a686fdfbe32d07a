// What becomes of files that were written while something was measured.
#include "cli/measured_files.h"

#include <catch2/catch.hpp>

#include "base/files.h"
#include "base/temporary_folder.h"

using namespace trainscope;
using namespace trainscope::cli;
namespace fs = std::filesystem;

TEST_CASE("what was written on the way is removed, and a sentence says where it cannot be") {
  const test::TemporaryFolder folder;
  fs::create_directories(folder.path());
  const fs::path part = folder.path() / "gpu.toml.part", stuck = folder.path() / "machine.part";
  write_file(part, "x");
  CHECK(remove_parts({part, folder.path() / "never-written.part"}).empty());
  CHECK_FALSE(fs::exists(part));
  write_file(part, "x");
  fs::create_directories(stuck / "something");
  const std::string said = remove_parts({stuck, part});
  CHECK_THAT(said, Catch::Contains(stuck.string()) && Catch::EndsWith("remove it by hand"));
  CHECK_FALSE(fs::exists(part));
}

TEST_CASE("what makes no machine is renamed, and a sentence says where it cannot be") {
  const test::TemporaryFolder folder;
  fs::create_directories(folder.path());
  const fs::path gpu = folder.path() / "gpu.toml", machine = folder.path() / "machine.toml";
  write_file(gpu, "x");
  write_file(machine, "x");
  fs::create_directories(gpu.string() + ".refused/something");
  const std::string said = rename_with({gpu, machine}, ".refused");
  CHECK_THAT(said, Catch::Contains(gpu.string()) && !Catch::Contains(machine.string()));
  CHECK(fs::exists(machine.string() + ".refused"));
  fs::remove_all(gpu.string() + ".refused");
  CHECK(rename_with({gpu}, ".refused").empty());
  CHECK(fs::exists(gpu.string() + ".refused"));
}
