#include "data/unpacked_file.h"

#include <fmt/format.h>

#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/inflate.h"

namespace trainscope::data {
namespace {

// Appends what the first member of `packed` holds, which is removed from that, until there are more
// than `limit` bytes; the state goes on where it ends early or is longer.
Inflate::State append_member(Inflate& gunzip, std::string_view& packed, std::size_t limit,
                             std::string& bytes) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  gunzip.begin();
  bool more = true;  // to read, or to write of what was read
  while (gunzip.state() == Inflate::State::kGoesOn && more && bytes.size() <= limit) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kBlock);
    const std::size_t count = gunzip.unpack(packed, {bytes.data() + before, kBlock});
    bytes.resize(before + count);
    more = !packed.empty() || count == kBlock;
  }
  return gunzip.state();
}

}  // namespace

std::string read_unpacked(const std::filesystem::path& path, std::size_t limit) {
  std::string file = read_file(path, limit);
  if (!is_gzip(file)) return file;
  std::string_view packed = file;
  std::string bytes;
  Inflate gunzip(Inflate::Format::kGzip);
  while (is_gzip(packed)) {  // what is behind the last member is none of it
    const Inflate::State state = append_member(gunzip, packed, limit, bytes);
    if (bytes.size() > limit)
      throw InputError(
          fmt::format("{}: holds more than the {} bytes that are read", path.string(), limit));
    if (state == Inflate::State::kGoesOn)
      throw InputError(path.string() + ": the gzip file ends early; copy it again");
    if (state == Inflate::State::kDamaged)
      throw InputError(path.string() + ": the gzip file is damaged; copy it again");
  }
  return bytes;
}

}  // namespace trainscope::data
