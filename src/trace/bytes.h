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

// Bytes that come in from the start on while they are read. They stay where they are until they are
// let go.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual const char* data() const = 0;
  virtual std::size_t size() const = 0;  // of all that will come
  // Waits until the first `count` are there, or all; how many are. Throws InputError when one of
  // them cannot come.
  virtual std::size_t wait_for(std::size_t count) = 0;
  // The first `count` will not be looked at again.
  virtual void let_go(std::size_t count) = 0;
};

// Reads from bytes that it does not own. Everything throws InputError, "NAME: is damaged: …", when
// the bytes end too early or a number lies outside its bounds.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string name)
      : at_(bytes.data()), there_(at_ + bytes.size()), end_(there_), name_(std::move(name)) {}
  ByteReader(ByteSource& source, std::string name)
      : at_(source.data()),
        there_(at_),
        end_(at_ + source.size()),
        source_(&source),
        name_(std::move(name)) {}

  std::uint64_t whole() {
    // Most numbers are one byte.
    if (at_ < there_ && static_cast<unsigned char>(*at_) < 0x80)
      return static_cast<unsigned char>(*at_++);
    return long_whole();
  }
  std::int64_t integer() {
    const std::uint64_t folded = whole();
    return static_cast<std::int64_t>((folded >> 1) ^ (~(folded & 1) + 1));
  }
  double real();
  std::string_view text();  // until more is read

  // A whole number below `limit`; `what` is for the message: "a span's lane".
  std::uint32_t below(std::uint64_t limit, const char* what) {
    const std::uint64_t value = whole();
    if (value >= limit || value > UINT32_MAX) out_of_range(what);
    return static_cast<std::uint32_t>(value);
  }
  // An integer that fits into 32 bits.
  std::int32_t small();
  // How many things follow, each of at least `least_bytes`: never more than the rest can hold.
  std::uint32_t count(std::size_t least_bytes, const char* what);
  // A reader of the next `count` whole numbers or integers alone; this one goes on behind them. So
  // several columns can be read beside each other, before anything else is.
  ByteReader column(std::uint32_t count);

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  [[noreturn]] void damaged(const std::string& why) const;

 private:
  std::uint64_t long_whole();
  [[noreturn]] void out_of_range(const char* what) const;
  std::string_view take(std::size_t size);
  // Waits for `size` more bytes, or all that there will be; whether there are any.
  bool wait_for(std::size_t size);
  // The same, and what was read is needed no more.
  void need(std::size_t size);

  const char* at_;
  const char* there_;  // what is behind has yet to come
  const char* end_;
  ByteSource* source_ = nullptr;
  std::string name_;
};

}  // namespace trainscope::trace
