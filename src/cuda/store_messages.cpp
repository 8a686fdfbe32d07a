#include "cuda/store_messages.h"

#include <algorithm>
#include <string_view>

namespace trainscope::cuda {
namespace {

constexpr std::string_view kMagic = "TSst";

template <class Number>
unsigned char* put(unsigned char* at, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i)
    *at++ = static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * i));
  return at;
}

template <class Number>
const unsigned char* take(const unsigned char* at, Number& number) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) value |= std::uint64_t{*at++} << (8 * i);
  number = static_cast<Number>(value);
  return at;
}

}  // namespace

HeadBytes encode(const MessageHead& head) {
  HeadBytes bytes{};
  unsigned char* at = std::copy(kMagic.begin(), kMagic.end(), bytes.data());
  at = put(at, head.version);
  at = put(at, head.kind);
  at = put(at, head.key_bytes);
  at = put(at, head.rank);
  at = put(at, head.value_bytes);
  put(at, head.number);
  return bytes;
}

std::optional<MessageHead> decode(const HeadBytes& bytes) {
  if (!std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) return std::nullopt;
  MessageHead head;
  const unsigned char* at = bytes.data() + kMagic.size();
  at = take(at, head.version);
  at = take(at, head.kind);
  at = take(at, head.key_bytes);
  at = take(at, head.rank);
  at = take(at, head.value_bytes);
  take(at, head.number);
  return head;
}

}  // namespace trainscope::cuda
