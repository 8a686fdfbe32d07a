// Whole files in and out, and where Trainscope's own files are.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

namespace trainscope {

// The bytes of a file. Throws InputError when it is missing, a folder, unreadable or longer than
// `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::size_t limit);

// Writes beside the target and renames, so that a reader never sees half a file. Throws InputError
// saying what to write instead when the path cannot be written.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// The same for output that is produced in pieces by `produce`.
void write_file(const std::filesystem::path& path,
                const std::function<void(std::ostream&)>& produce);

// The folder that holds assets/ and scenarios/: $TRAINSCOPE_HOME, else found upward from the
// program, else the source tree it was built from. Throws MissingError when there is none.
std::filesystem::path home_folder();

}  // namespace trainscope
