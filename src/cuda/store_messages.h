// What the store's ranks and its server say to each other: a head of fixed length, a key, a value.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace trainscope::cuda {

constexpr std::uint16_t kStoreVersion = 2;

enum class MessageKind : std::uint16_t {
  // A rank's, each answered by one of the server's.
  kHello = 1,  // number: of ranks
  kSet = 2,
  kGet = 3,      // number: how long to wait, in ms
  kBarrier = 4,  // as kGet
  kGetOf = 5,    // as kGet, of what the rank of the head sets, who may hang up
  kPeek = 6,
  kWho = 7,  // answered by the ranks that have hung up
  // The server's.
  kDone = 16,
  kTimeOut = 17,  // value: the ranks that a barrier misses
  kRefused = 18,  // value: why
  kGone = 19,     // value: the ranks that a barrier misses and that have hung up
  kNothing = 20,
};

struct MessageHead {
  MessageKind kind = MessageKind::kHello;
  std::uint16_t version = kStoreVersion;
  std::uint32_t key_bytes = 0;
  std::uint32_t rank = 0;  // who asks; of kGetOf, who is asked
  std::uint64_t value_bytes = 0;
  std::uint64_t number = 0;
};

// On the wire: "TSst", version, kind, key_bytes, rank, value_bytes, number; lowest byte first.
constexpr std::size_t kHeadBytes = 32;
using HeadBytes = std::array<unsigned char, kHeadBytes>;

HeadBytes encode(const MessageHead& head);

// Nothing where it does not begin as a message of the store. Lengths are not checked.
std::optional<MessageHead> decode(const HeadBytes& bytes);

// How long the server waits at most, whatever it was told: a month.
constexpr std::chrono::milliseconds kMostWait = std::chrono::hours(24 * 30);

}  // namespace trainscope::cuda
