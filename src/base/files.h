// Whole files in and out, and where Trainscope's own files are.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace trainscope {

// What stands at a path; none where there is nothing, and where the path is too long for anything
// to be there. Throws InputError saying why where that cannot be told: a folder on the way that may
// not be searched, a link that leads back to itself.
std::filesystem::file_status status_of(const std::filesystem::path& path);
bool is_there(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
bool is_plain_file(const std::filesystem::path& path);

// The files of a folder that end in `ending` (".toml"), sorted; the second: those of its folders
// too. Throws InputError for a folder that cannot be read.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            std::string_view ending);
std::vector<std::filesystem::path> all_files_in(const std::filesystem::path& folder,
                                                std::string_view ending);

// Makes a folder, and those that it is in. Throws InputError saying why it cannot be made.
void make_folder(const std::filesystem::path& folder);

// The bytes of a file, all of them. Throws InputError when it is missing, a folder, longer than
// `limit` bytes, or cannot be read to its end.
std::string read_file(const std::filesystem::path& path, std::size_t limit);

// The same of a file that begins with `mark`. Of any other only its beginning is read, so that one
// without an end is not read on and on.
std::string read_marked_file(const std::filesystem::path& path, std::string_view mark,
                             std::size_t limit);

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
