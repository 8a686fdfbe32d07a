// The envelope of our own binary files: a mark that says what the file is, the number of its
// format, a checksum, and the content, deflated by zlib.
//
//   8 bytes  the mark          4  the format        4  CRC-32 of all that follows
//   8  bytes of the content, once unpacked          the zlib stream
//
// Numbers are little-endian. The checksum is looked at before anything is unpacked, and unpacking
// never takes more room than the content's stated and plausible size.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "trace/bytes.h"

namespace trainscope::trace {

struct Envelope {
  std::string_view mark;     // 8 bytes
  std::uint32_t format = 1;  // of what is written; the newest that is read
  std::string what;          // for messages: "a saved run"
  std::uint32_t oldest = 1;  // the oldest format that is read
  std::string remedy = {};   // what to do about an older one: "run its lesson again and save that"
};

bool has_mark(const Envelope& envelope, std::string_view bytes);

// Same content, same bytes.
std::string pack(const Envelope& envelope, std::string_view content);

// Throws InputError, one sentence naming `name`: no such file at all, a newer format or one too
// old, cut short, damaged, or larger than this machine should be asked to hold.
std::string unpack(const Envelope& envelope, std::string_view bytes, const std::string& name);

// The same while it is read: another thread unpacks, and what there is can be read meanwhile.
class Unpacking : public ByteSource {
 public:
  // Throws what unpack() throws, but for content that does not unpack, or for whose unpacking there
  // is no memory: that is said once the bytes that are missing are asked for. Keeps a view of the
  // bytes.
  Unpacking(const Envelope& envelope, std::string_view bytes, const std::string& name);
  ~Unpacking() override;

  const char* data() const override { return content_.get(); }
  std::size_t size() const override { return size_; }
  std::size_t wait_for(std::size_t count) override;
  void let_go(std::size_t count) override;
  // Waits for the end; throws where there is another one than was stated.
  void finish();

 private:
  void work(std::string_view packed);
  [[noreturn]] void fail() const;  // once it has ended

  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::string name_;
  std::size_t size_ = 0;
  std::unique_ptr<char, Free> content_;
  std::size_t gone_ = 0;  // bytes of it, from the start on, that are let go
  std::atomic<std::size_t> filled_ = 0;
  enum class State : std::uint8_t { kGoesOn, kComplete, kDamaged, kNoMemory };
  std::atomic<State> state_ = State::kGoesOn;
  std::mutex mutex_;
  std::condition_variable more_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace trainscope::trace
