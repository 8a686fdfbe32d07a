#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/toml.h"
#include "fuzz/targets.h"
#include "machine/machine.h"
#include "scenario/check.h"
#include "scenario/lesson.h"
#include "scenario/published.h"

namespace trainscope::fuzz {
namespace {

// The readers take files; this one is in memory where there is such a place. Its name is an id.
std::filesystem::path scratch_file() {
  std::error_code error;
  const std::filesystem::path memory = "/dev/shm";
  const auto root = std::filesystem::is_directory(memory, error)
                        ? memory
                        : std::filesystem::temp_directory_path();
  const auto folder = root / ("trainscope-fuzz-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  return folder / "fuzz.toml";
}

template <typename Read>
void try_to(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    check_sentence(error.what());
  }
}

void read_lesson(const std::filesystem::path& file) {
  const scenario::Lesson lesson = scenario::load_lesson(file);
  lesson.side("A");
  lesson.side("B");
  for (const scenario::Step& step : lesson.steps) try_to([&] { scenario::fill_in(step.text, {}); });
}

}  // namespace

void toml(std::string_view bytes) {
  try_to([&] { parse_toml(bytes, "fuzz.toml"); });
  const std::filesystem::path file = scratch_file();
  write_file(file, bytes);
  try_to([&] { read_lesson(file); });
  try_to([&] { machine::load_machine(file.string()); });
  try_to([&] { machine::check_gpu_file(file); });
  try_to([&] { scenario::load_config(file); });
  try_to([&] { scenario::check_claims_file(file); });
  try_to([&] { scenario::load_published(file); });
  std::filesystem::remove_all(file.parent_path());
}

}  // namespace trainscope::fuzz
