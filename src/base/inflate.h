// zlib's unpacking, with its state freed whatever happens.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace trainscope {

// Whether bytes begin as a gzip file does (RFC 1952, 2.3.1).
inline bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1F\x8B");
}

// One stream after another, each in pieces. Sizes are those of the pieces, of any length: zlib's
// own counts have 32 bits on some systems and are not used.
class Inflate {
 public:
  enum class Format : std::uint8_t { kZlib, kGzip };
  // Of a stream so far: it goes on, came to its own end, or is none of that format.
  enum class State : std::uint8_t { kGoesOn, kEnded, kDamaged };

  // Throws std::bad_alloc.
  explicit Inflate(Format format);
  ~Inflate();
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;

  // The next stream begins; the first has begun.
  void begin();
  // Unpacks the front of `packed`, which is removed from that, into the front of `room`, up to 1
  // GiB of each; returns how much of the room was filled. A stream that goes on has then used all
  // of one of them, or those 1 GiB. Call it only while the stream goes on. Throws std::bad_alloc:
  // zlib's own room is made with the first bytes.
  std::size_t unpack(std::string_view& packed, std::span<char> room);
  State state() const { return state_; }
  // zlib's words for what is damaged.
  const char* fault() const { return stream_.msg ? stream_.msg : "unknown fault"; }

 private:
  z_stream stream_{};
  State state_ = State::kGoesOn;
};

}  // namespace trainscope
