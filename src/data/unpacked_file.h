// The bytes of a file that is plain or gzipped.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace trainscope::data {

// Throws InputError, naming the file, when it cannot be read, is damaged, ends early or unpacks to
// more than `limit` bytes.
std::string read_unpacked(const std::filesystem::path& path, std::size_t limit);

}  // namespace trainscope::data
