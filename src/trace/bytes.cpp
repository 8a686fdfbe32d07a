#include "trace/bytes.h"

#include <bit>
#include <limits>

#include "base/error.h"

namespace trainscope::trace {

void ByteWriter::whole(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
  bytes_.push_back(static_cast<char>(value));
}

void ByteWriter::integer(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  whole((bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

void ByteWriter::real(double value) {
  auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i, bits >>= 8) bytes_.push_back(static_cast<char>(bits));
}

void ByteWriter::text(std::string_view value) {
  whole(value.size());
  bytes_.append(value);
}

void ByteReader::damaged(const std::string& why) const {
  throw InputError(name_ + ": is damaged: " + why + "; save it again");
}

std::string_view ByteReader::take(std::size_t size) {
  if (size > rest_.size()) damaged("it ends too early");
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::uint64_t ByteReader::whole() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) damaged("it ends too early");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  damaged("a number in it is too long");
}

std::int64_t ByteReader::integer() {
  const std::uint64_t folded = whole();
  return static_cast<std::int64_t>((folded >> 1) ^ (~(folded & 1) + 1));
}

double ByteReader::real() {
  const std::string_view bytes = take(8);
  std::uint64_t bits = 0;
  for (std::size_t i = 8; i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  return std::bit_cast<double>(bits);
}

std::string_view ByteReader::text() {
  const std::uint64_t size = whole();
  if (size > rest_.size()) damaged("a text in it is longer than the file");
  return take(static_cast<std::size_t>(size));
}

std::uint32_t ByteReader::below(std::uint64_t limit, const char* what) {
  const std::uint64_t value = whole();
  if (value >= limit || value > UINT32_MAX) damaged(std::string(what) + " is out of range");
  return static_cast<std::uint32_t>(value);
}

std::int32_t ByteReader::small() {
  const std::int64_t value = integer();
  if (value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max())
    damaged("a number in it is out of range");
  return static_cast<std::int32_t>(value);
}

std::uint32_t ByteReader::count(std::size_t least_bytes, const char* what) {
  const std::uint64_t value = whole();
  if (value > rest_.size() / least_bytes || value >= UINT32_MAX)
    damaged("it claims more " + std::string(what) + " than it has room for");
  return static_cast<std::uint32_t>(value);
}

}  // namespace trainscope::trace
