#include "trace/packed.h"

#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace trainscope;
using namespace trainscope::trace;

namespace {

const Envelope kEnvelope{"TESTMARK", 3, "a test"};

std::string noise(std::size_t size) {
  std::mt19937 random(4);
  std::string text(size, '\0');
  for (char& byte : text) byte = static_cast<char>(random());
  return text;
}

void refuses(const std::string& bytes, const std::string& part) {
  CHECK_THROWS_WITH(unpack(kEnvelope, bytes, "f.bin"),
                    Catch::StartsWith("f.bin: ") && Catch::Contains(part));
}

}  // namespace

TEST_CASE("content comes back from its envelope, whatever its size") {
  for (const std::size_t size : {0, 1, 1000, 1 << 20, (1 << 20) + 1, 5'000'000}) {
    CHECK(unpack(kEnvelope, pack(kEnvelope, noise(size)), "f.bin") == noise(size));
    const std::string even(size, 'x');
    CHECK(unpack(kEnvelope, pack(kEnvelope, even), "f.bin") == even);
  }
}

TEST_CASE("content that packs beyond all reason can still be opened") {
  const std::string content(300'000'000, 'x');
  const std::string bytes = pack(kEnvelope, content);
  CHECK(unpack(kEnvelope, bytes, "f.bin") == content);
}

TEST_CASE("an envelope that is cut, changed or of another kind is refused with one sentence") {
  const std::string bytes = pack(kEnvelope, noise(300));
  for (std::size_t size = 0; size < 8; ++size) refuses(bytes.substr(0, size), "is not a test");
  for (std::size_t size = 8; size < bytes.size(); ++size)
    refuses(bytes.substr(0, size), "is damaged");
  for (std::size_t i = 12; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    refuses(changed, "is damaged");
  }
  refuses(bytes + "more", "is damaged");
}

TEST_CASE("content can be read while it is unpacked, up to where it does not unpack") {
  const std::string content = noise(5'000'000);
  std::string bytes = pack(kEnvelope, content);
  {
    Unpacking unpacking(kEnvelope, bytes, "f.bin");
    CHECK(unpacking.size() == content.size());
    for (const std::size_t count : {1, 3'000'000, 5'000'000, 9'000'000}) {
      const std::size_t there = unpacking.wait_for(static_cast<std::size_t>(count));
      REQUIRE(there >= std::min<std::size_t>(content.size(), count));
      CHECK(std::string_view(unpacking.data(), there) ==
            std::string_view(content).substr(0, there));
    }
    unpacking.finish();
  }
  // The stated size is one less, and the checksum that of the bytes as they are.
  bytes[16] = static_cast<char>(bytes[16] - 1);
  const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data() + 16), bytes.size() - 16);
  for (std::size_t i = 0; i < 4; ++i) bytes[12 + i] = static_cast<char>(sum >> (8 * i));
  Unpacking unpacking(kEnvelope, bytes, "f.bin");
  CHECK(unpacking.wait_for(1'000'000) >= 1'000'000);
  CHECK_THROWS_WITH(unpacking.finish(),
                    "f.bin: is damaged: its content does not unpack; save it "
                    "again, or copy it again");
}

TEST_CASE("content that nobody reads to its end is let go") {
  const std::string bytes = pack(kEnvelope, noise(5'000'000));
  for (int i = 0; i < 20; ++i) CHECK(Unpacking(kEnvelope, bytes, "f.bin").wait_for(1) >= 1);
}

TEST_CASE("a newer format is refused with what to do about it") {
  const std::string newer = pack({"TESTMARK", 4, "a test"}, "content");
  refuses(newer, "is a test of format 4, and this Trainscope reads formats up to 3; open it with");
  CHECK(unpack(kEnvelope, pack({"TESTMARK", 2, "a test"}, "content"), "f.bin") == "content");
}

TEST_CASE("a format that is no longer read is refused with what to do about it") {
  const Envelope envelope{"TESTMARK", 3, "a test", 2, "write it again"};
  CHECK(unpack(envelope, pack({"TESTMARK", 2, "a test"}, "content"), "f.bin") == "content");
  CHECK_THROWS_WITH(unpack(envelope, pack({"TESTMARK", 1, "a test"}, "content"), "f.bin"),
                    "f.bin: is a test of format 1, of an older Trainscope, and this one reads "
                    "formats from 2 on; write it again");
}
