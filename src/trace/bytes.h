// Numbers and texts as bytes, and back: what the binary parts of our own files are made of.
//
// Whole numbers take seven bits a byte, the lowest first; signed ones are folded so that small
// magnitudes stay short; reals are their eight bytes, so that every NaN comes back; a text is its
// length and its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainscope::trace {

class ByteWriter {
 public:
  void whole(std::uint64_t value);
  void integer(std::int64_t value);
  void real(double value);
  void text(std::string_view value);
  void raw(std::string_view bytes) { bytes_.append(bytes); }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads from bytes that it does not own. Everything throws InputError, "NAME: is damaged: …", when
// the bytes end too early or a number lies outside its bounds.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string name) : rest_(bytes), name_(std::move(name)) {}

  std::uint64_t whole();
  std::int64_t integer();
  double real();
  std::string_view text();

  // A whole number below `limit`; `what` is for the message: "a span's lane".
  std::uint32_t below(std::uint64_t limit, const char* what);
  // An integer that fits into 32 bits.
  std::int32_t small();
  // How many things follow, each of at least `least_bytes`: never more than the rest can hold.
  std::uint32_t count(std::size_t least_bytes, const char* what);

  std::size_t left() const { return rest_.size(); }
  [[noreturn]] void damaged(const std::string& why) const;

 private:
  std::string_view take(std::size_t size);

  std::string_view rest_;
  std::string name_;
};

}  // namespace trainscope::trace
