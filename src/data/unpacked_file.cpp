#include "data/unpacked_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "base/error.h"

namespace trainscope::data {
namespace {

struct Close {
  void operator()(gzFile file) const { gzclose(file); }
};
using File = std::unique_ptr<gzFile_s, Close>;

File open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw InputError(path.string() + ": this is a folder, not a file");
  File file(gzopen(path.c_str(), "rb"));  // reads a file that is not gzipped as it is
  if (!file) throw InputError(path.string() + ": cannot be read; check its permissions");
  return file;
}

// Set when a packed file is damaged or ends in its middle.
void check_whole(const File& file, const std::filesystem::path& path) {
  int error = Z_OK;
  gzerror(file.get(), &error);
  if (error == Z_BUF_ERROR)
    throw InputError(path.string() + ": the gzip file ends early; copy it again");
  if (error != Z_OK) throw InputError(path.string() + ": the gzip file is damaged; copy it again");
}

}  // namespace

std::string read_unpacked(const std::filesystem::path& path, std::size_t limit) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  const File file = open(path);
  std::string bytes;
  for (;;) {
    const std::size_t size = bytes.size();
    bytes.resize(size + kBlock);
    const int count = gzread(file.get(), bytes.data() + size, kBlock);
    bytes.resize(size + static_cast<std::size_t>(std::max(count, 0)));
    check_whole(file, path);
    if (count <= 0) return bytes;
    if (bytes.size() > limit)
      throw InputError(
          fmt::format("{}: holds more than the {} bytes that are read", path.string(), limit));
  }
}

}  // namespace trainscope::data
