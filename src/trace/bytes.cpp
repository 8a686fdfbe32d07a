#include "trace/bytes.h"

#include <algorithm>
#include <bit>
#include <cstring>
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

bool ByteReader::wait_for(std::size_t size) {
  size = std::min(size, left());
  if (source_ && size > static_cast<std::size_t>(there_ - at_))
    there_ = source_->data() + source_->wait_for(source_->size() - left() + size);
  return size > 0;
}

void ByteReader::need(std::size_t size) {
  if (!source_ || size <= static_cast<std::size_t>(there_ - at_)) return;
  source_->let_go(source_->size() - left());
  wait_for(size);
}

std::string_view ByteReader::take(std::size_t size) {
  if (size > left()) damaged("it ends too early");
  need(size);
  const std::string_view taken(at_, size);
  at_ += size;
  return taken;
}

std::uint64_t ByteReader::long_whole() {
  constexpr std::size_t kMost = 10;
  std::uint64_t value = 0;
  need(kMost);
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == there_) damaged("it ends too early");
    const auto byte = static_cast<unsigned char>(*at_++);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  damaged("a number in it is too long");
}

namespace {

// The last byte of a number has no high bit: how many such bytes there are among eight.
std::uint32_t ends_among(const char* eight) {
  std::uint64_t word = 0;
  std::memcpy(&word, eight, sizeof word);
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  return static_cast<std::uint32_t>((((~word >> 7) & kOnes) * kOnes) >> 56);
}

}  // namespace

ByteReader ByteReader::column(std::uint32_t count) {
  ByteReader column(*this);
  while (count > 0) {
    if (!wait_for(1)) damaged("it ends too early");
    for (; there_ - at_ >= 8; at_ += 8) {
      const std::uint32_t ends = ends_among(at_);
      if (ends >= count) break;
      count -= ends;
    }
    // The rest byte by byte: the column's last number, or what is there of the bytes so far.
    for (int i = 0; i < 8 && at_ < there_ && count > 0; ++i)
      if (static_cast<unsigned char>(*at_++) < 0x80) --count;
  }
  column.source_ = nullptr;
  column.there_ = column.end_ = at_;
  return column;
}

double ByteReader::real() {
  const std::string_view bytes = take(8);
  std::uint64_t bits = 0;
  for (std::size_t i = 8; i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  return std::bit_cast<double>(bits);
}

std::string_view ByteReader::text() {
  const std::uint64_t size = whole();
  if (size > left()) damaged("a text in it is longer than the file");
  return take(static_cast<std::size_t>(size));
}

void ByteReader::out_of_range(const char* what) const {
  damaged(std::string(what) + " is out of range");
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
  if (value > left() / least_bytes || value >= UINT32_MAX)
    damaged("it claims more " + std::string(what) + " than it has room for");
  return static_cast<std::uint32_t>(value);
}

}  // namespace trainscope::trace
