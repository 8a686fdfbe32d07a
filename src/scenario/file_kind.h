// What a file is that Trainscope can read: told by its name, and of .toml by its keys. A folder is
// read as a trace: each file in it as one rank's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace trainscope::scenario {

enum class FileKind : std::uint8_t {
  kLesson,
  kTranslation,  // of a lesson: ID.LANG.toml beside ID.toml
  kMachine,
  kGpu,
  kClaims,
  kGlossary,
  kWords,      // of the window and of handouts in another language
  kPublished,  // measurements that others published
  kErrors,     // how far simulated speeds are from these
  kConfig,
  kRun,    // *.tsrun
  kTrace,  // *.json, *.json.gz, a folder of them
  kOther,
};
std::string_view name_of(FileKind kind);  // "lesson"

// By the name alone: whether it is worth looking into. Of .toml, kConfig stands for all that it can
// be.
FileKind kind_by_name(const std::filesystem::path& file);

// Looks into what ends in .toml; a folder is a trace. Throws InputError when it cannot be read.
FileKind kind_of(const std::filesystem::path& file);

}  // namespace trainscope::scenario
