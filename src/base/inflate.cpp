#include "base/inflate.h"

#include <algorithm>
#include <cassert>
#include <new>

namespace trainscope {
namespace {

constexpr std::size_t kAtOnce = std::size_t{1} << 30;

Inflate::State state_after(int result) {
  if (result == Z_STREAM_END) return Inflate::State::kEnded;
  // Z_BUF_ERROR: there was nothing left to read.
  return result == Z_OK || result == Z_BUF_ERROR ? Inflate::State::kGoesOn
                                                 : Inflate::State::kDamaged;
}

}  // namespace

Inflate::Inflate(Format format) {
  constexpr int kWindow = MAX_WBITS, kAsGzip = 16;
  if (inflateInit2(&stream_, format == Format::kGzip ? kWindow + kAsGzip : kWindow) != Z_OK)
    throw std::bad_alloc();
}

Inflate::~Inflate() {
  inflateEnd(&stream_);
}

void Inflate::begin() {
  inflateReset(&stream_);
  state_ = State::kGoesOn;
}

std::size_t Inflate::unpack(std::string_view& packed, std::span<char> room) {
  assert(state_ == State::kGoesOn);
  const std::size_t given = std::min(packed.size(), kAtOnce),
                    wanted = std::min(room.size(), kAtOnce);
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // only read
  stream_.avail_in = static_cast<uInt>(given);
  stream_.next_out = reinterpret_cast<Bytef*>(room.data());
  stream_.avail_out = static_cast<uInt>(wanted);
  const int result = inflate(&stream_, Z_NO_FLUSH);
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  state_ = state_after(result);
  packed.remove_prefix(given - stream_.avail_in);
  return wanted - stream_.avail_out;
}

}  // namespace trainscope
