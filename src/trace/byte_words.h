// What the parts of a trace's bytes have in common: differences, ids, words of an enumeration,
// times. Parts of trace_bytes.h.
#pragma once

#include <cstdint>
#include <string>

#include "trace/bytes.h"
#include "trace/trace.h"
#include "trace/trace_bytes.h"

namespace trainscope::trace {

// Differences wrap around, so that none can overflow.
inline std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// An id near `expected`, or none.
inline void put_id(ByteWriter& out, std::uint32_t id, std::int64_t expected) {
  if (id == kNone) return out.whole(0);
  const std::int64_t away = std::int64_t{id} - expected;
  out.whole(1 + (static_cast<std::uint64_t>(away) << 1 ^ (away < 0 ? ~std::uint64_t{0} : 0)));
}

inline std::uint32_t take_id(ByteReader& in, std::int64_t expected, std::uint32_t limit,
                             const char* what) {
  const std::uint64_t folded = in.whole();
  if (folded == 0) return kNone;
  const std::uint64_t bits = folded - 1;
  const std::int64_t id = sum(static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1)), expected);
  if (id < 0 || id >= std::int64_t{limit}) in.damaged(std::string(what) + " is out of range");
  return static_cast<std::uint32_t>(id);
}

template <typename Enum>
void put_word(ByteWriter& out, Enum word) {
  out.whole(static_cast<std::uint64_t>(word));
}
template <typename Enum>
Enum take_word(ByteReader& in, Enum last, const char* what) {
  return static_cast<Enum>(in.below(static_cast<std::uint64_t>(last) + 1, what));
}

inline void check_start(const ByteReader& in, Nanos start, const char* what) {
  if (start <= kEarliest || start >= kLatest) in.damaged(std::string(what) + " is out of range");
}

}  // namespace trainscope::trace
