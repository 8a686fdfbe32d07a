// Every input that fuzzing found worth keeping, on every build.
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/files.h"
#include "fuzz/targets.h"

namespace {

void replay(const std::string& target, void (*take)(std::string_view)) {
  const std::filesystem::path folder = TRAINSCOPE_SOURCE_DIR "/tests/fuzz/corpus/" + target;
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    INFO(entry.path());
    CHECK_NOTHROW(take(trainscope::read_file(entry.path(), 1 << 22)));
    ++inputs;
  }
  CHECK(inputs > 10);
}

}  // namespace

TEST_CASE("the reader of Chrome traces takes its corpus") {
  replay("trace", trainscope::fuzz::trace);
}
TEST_CASE("the readers of TOML take their corpus") {
  replay("toml", trainscope::fuzz::toml);
}
TEST_CASE("the reader of saved runs takes its corpus") {
  replay("run", trainscope::fuzz::run);
}
TEST_CASE("the command line takes its corpus") {
  replay("arguments", trainscope::fuzz::arguments);
}
TEST_CASE("the readers of image files take their corpus") {
  replay("images", trainscope::fuzz::images);
}
