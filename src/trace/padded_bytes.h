// The bytes of a text file, plain or gzipped, in one buffer with the padding that simdjson wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace trainscope::trace {

// A growing buffer that never initialises what it has not been given. Move-only.
class PaddedBytes {
 public:
  static constexpr std::size_t kPadding = 64;  // zeros behind the text

  PaddedBytes() = default;
  explicit PaddedBytes(std::string_view text);

  std::string_view text() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }
  char* bytes() { return data_.get(); }  // of the text, to be changed in place

  // Room for `count` more bytes behind the text; commit() says how many of them are text now.
  char* grow(std::size_t count);
  void commit(std::size_t count) { size_ += count; }
  void reserve(std::size_t size);

  // Writes the padding; call it once the text is complete.
  void finish();

 private:
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };
  std::unique_ptr<char, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  // without the padding
};

inline constexpr std::uint64_t kMaxTextBytes = 0xFFFFFFFF;  // what simdjson can index

// Reads the file, unpacking it if its first bytes are gzip's. Throws InputError, naming the file,
// when it is missing, a folder, unreadable, damaged, or longer than `limit` once unpacked.
PaddedBytes load_text(const std::filesystem::path& path, std::uint64_t limit = kMaxTextBytes);

// The same for bytes that are in memory already; `name` is for messages.
PaddedBytes load_text(std::string_view name, std::string_view bytes,
                      std::uint64_t limit = kMaxTextBytes);

}  // namespace trainscope::trace
