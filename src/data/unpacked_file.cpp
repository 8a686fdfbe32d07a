#include "data/unpacked_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <new>
#include <string_view>

#include "base/error.h"
#include "base/files.h"

namespace trainscope::data {
namespace {

// zlib's state, freed whatever happens.
class Gunzip {
 public:
  Gunzip() {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~Gunzip() { inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  // Appends what the first member of `packed` holds, which is removed from that, until there are
  // more than `limit` bytes. Returns zlib's result: Z_STREAM_END, Z_OK: it ends early or is longer.
  int append_member(std::string_view& packed, std::size_t limit, std::string& bytes) {
    constexpr std::size_t kBlock = std::size_t{1} << 20;
    inflateReset(&stream_);
    int result = Z_OK;
    bool more = true;  // to read, or to write of what was read
    while (result == Z_OK && more && bytes.size() <= limit) {
      const std::size_t before = bytes.size(), given = std::min(packed.size(), kBlock);
      bytes.resize(before + kBlock);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // only read
      stream_.avail_in = static_cast<uInt>(given);
      stream_.next_out = reinterpret_cast<Bytef*>(bytes.data() + before);
      stream_.avail_out = static_cast<uInt>(kBlock);
      result = inflate(&stream_, Z_NO_FLUSH);
      packed.remove_prefix(given - stream_.avail_in);
      bytes.resize(before + kBlock - stream_.avail_out);
      more = !packed.empty() || stream_.avail_out == 0;
    }
    return result;
  }

 private:
  z_stream stream_{};
};

bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1F\x8B");
}

}  // namespace

std::string read_unpacked(const std::filesystem::path& path, std::size_t limit) {
  std::string file = read_file(path, limit);
  if (!is_gzip(file)) return file;
  std::string_view packed = file;
  std::string bytes;
  Gunzip gunzip;
  while (is_gzip(packed)) {  // what is behind the last member is none of it
    const int result = gunzip.append_member(packed, limit, bytes);
    if (bytes.size() > limit)
      throw InputError(
          fmt::format("{}: holds more than the {} bytes that are read", path.string(), limit));
    if (result == Z_OK || result == Z_BUF_ERROR)
      throw InputError(path.string() + ": the gzip file ends early; copy it again");
    if (result != Z_STREAM_END)
      throw InputError(path.string() + ": the gzip file is damaged; copy it again");
  }
  return bytes;
}

}  // namespace trainscope::data
