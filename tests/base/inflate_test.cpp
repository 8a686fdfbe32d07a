#include "base/inflate.h"

#include <catch2/catch.hpp>
#include <string>

using namespace trainscope;

namespace {

// zlib's own packing. 31: its largest window, as a gzip file (zlib.h, deflateInit2).
std::string gzipped(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string bytes(text.size() + 1000, '\0'), from = text;
  stream.next_in = reinterpret_cast<Bytef*>(from.data());
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  bytes.resize(bytes.size() - stream.avail_out);
  deflateEnd(&stream);
  return bytes;
}

// Whole, read so many bytes at once and unpacked into so much room at once.
std::string unpacked(Inflate& inflate, std::string_view packed, std::size_t read,
                     std::size_t room) {
  std::string text, block(room, '\0');
  while (inflate.state() == Inflate::State::kGoesOn) {
    std::string_view piece = packed.substr(0, read);
    const std::size_t given = piece.size();
    const std::size_t count = inflate.unpack(piece, block);
    text.append(block, 0, count);
    packed.remove_prefix(given - piece.size());
    if (count == 0 && given == piece.size()) break;  // cut off
  }
  return text;
}

std::string numbers() {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * i) + " ";
  return text;
}

}  // namespace

TEST_CASE("a stream is unpacked in pieces of any size, one after another") {
  const std::string text = numbers(), packed = gzipped(text);
  REQUIRE(is_gzip(packed));
  CHECK_FALSE(is_gzip(text));
  Inflate inflate(Inflate::Format::kGzip);
  for (const std::size_t read : {std::size_t{1}, std::size_t{7}, packed.size()})
    for (const std::size_t room : {std::size_t{1}, std::size_t{1000}, text.size() + 1}) {
      CAPTURE(read, room);
      inflate.begin();
      CHECK(unpacked(inflate, packed, read, room) == text);
      CHECK(inflate.state() == Inflate::State::kEnded);
    }
}

TEST_CASE("what is behind a stream's end is left, and what is cut off goes on") {
  const std::string text = numbers(), packed = gzipped(text);
  std::string room(text.size() + 1, '\0');
  Inflate inflate(Inflate::Format::kGzip);
  const std::string longer = packed + "more";
  std::string_view rest = longer;
  CHECK(inflate.unpack(rest, room) == text.size());
  CHECK(inflate.state() == Inflate::State::kEnded);
  CHECK(rest == "more");
  inflate.begin();
  CHECK(unpacked(inflate, packed.substr(0, packed.size() - 9), 100, 100).size() <= text.size());
  CHECK(inflate.state() == Inflate::State::kGoesOn);
}

TEST_CASE("what is damaged, or of another format, is said to be") {
  std::string packed = gzipped(numbers());
  packed[packed.size() - 6] ^= 1;  // of its checksum
  Inflate inflate(Inflate::Format::kGzip);
  CHECK(unpacked(inflate, packed, 1000, 1000) == numbers());
  CHECK(inflate.state() == Inflate::State::kDamaged);
  CHECK(std::string(inflate.fault()) == "incorrect data check");
  Inflate other(Inflate::Format::kZlib);
  unpacked(other, gzipped("a"), 1000, 1000);
  CHECK(other.state() == Inflate::State::kDamaged);
}
