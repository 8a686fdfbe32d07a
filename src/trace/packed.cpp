#include "trace/packed.h"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <span>

#include "base/error.h"
#include "base/inflate.h"
#include "base/memory.h"
#include "base/platform.h"

namespace trainscope::trace {
namespace {

constexpr std::size_t kMark = 8, kHead = kMark + 4 + 4, kStart = kHead + 8;
constexpr std::uint64_t kMostContent = std::uint64_t{4} << 30;

// Deflate can promise a thousand bytes for one. Content up to this size may be packed at any ratio;
// beyond it a file must be at least a sixty-fourth of what it unpacks to.
constexpr std::uint64_t kFreely = std::uint64_t{256} << 20, kMostRatio = 64;

bool plausible(std::uint64_t content, std::uint64_t packed) {
  return content <= kFreely || content / kMostRatio <= packed;
}

void put(std::string& bytes, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i, value >>= 8) bytes.push_back(static_cast<char>(value));
}

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// zlib's compressBound and compress2, whose sizes have 32 bits on some systems.
std::string deflated(std::string_view content, int level) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 30;
  const std::size_t size = content.size();
  std::string packed(size + (size >> 12) + (size >> 14) + (size >> 25) + 13, '\0');
  z_stream stream{};
  if (deflateInit(&stream, level) != Z_OK) throw std::bad_alloc();
  std::size_t filled = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    const std::size_t given = std::min(content.size(), kAtOnce);
    const std::size_t room = std::min(packed.size() - filled, kAtOnce);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));  // only read
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(packed.data() + filled);
    stream.avail_out = static_cast<uInt>(room);
    result = deflate(&stream, given == content.size() ? Z_FINISH : Z_NO_FLUSH);
    content.remove_prefix(given - stream.avail_in);
    filled += room - stream.avail_out;
  }
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::bad_alloc();
  packed.resize(filled);
  return packed;
}

// What was deflated, block by block.
class Inflater {
 public:
  explicit Inflater(std::string_view packed) : rest_(packed) {}

  // Unpacks into `block`; returns how much of it was filled, 0 at the end or where it is damaged.
  std::size_t fill(std::span<char> block) {
    std::size_t filled = 0;
    bool moved = true;  // else it ends early
    while (inflate_.state() == Inflate::State::kGoesOn && moved && filled < block.size()) {
      const std::size_t left = rest_.size();
      const std::size_t count = inflate_.unpack(rest_, block.subspan(filled));
      moved = count > 0 || rest_.size() < left;
      filled += count;
    }
    return filled;
  }
  // The stream came to its own end, with nothing behind it.
  bool complete() const { return inflate_.state() == Inflate::State::kEnded && rest_.empty(); }

 private:
  Inflate inflate_{Inflate::Format::kZlib};
  std::string_view rest_;
};

[[noreturn]] void fail_damaged(const std::string& name, const char* why) {
  throw InputError(name + ": is damaged: " + why + "; save it again, or copy it again");
}

// What an envelope holds, as it stands there.
struct Packed {
  std::uint64_t size = 0;  // once unpacked, as stated
  std::string_view bytes;
};

Packed open_envelope(const Envelope& envelope, std::string_view bytes, const std::string& name) {
  if (!has_mark(envelope, bytes)) throw InputError(name + ": this is not " + envelope.what);
  if (bytes.size() < kStart) fail_damaged(name, "it is cut short");
  const std::uint64_t format = number_at(bytes, kMark, 4);
  if (format > envelope.format)
    throw InputError(name + ": is " + envelope.what + " of format " + std::to_string(format) +
                     ", and this Trainscope reads formats up to " +
                     std::to_string(envelope.format) + "; open it with a newer Trainscope");
  if (format == 0) fail_damaged(name, "its format has no number");
  if (format < envelope.oldest)
    throw InputError(name + ": is " + envelope.what + " of format " + std::to_string(format) +
                     ", of an older Trainscope, and this one reads formats from " +
                     std::to_string(envelope.oldest) + " on; " + envelope.remedy);
  if (number_at(bytes, kMark + 4, 4) != checksum(bytes.substr(kHead)))
    fail_damaged(name, "its checksum does not fit; part of it is missing or was changed");
  const Packed packed{number_at(bytes, kHead, 8), bytes.substr(kStart)};
  if (packed.size > kMostContent || !plausible(packed.size, packed.bytes.size()))
    fail_damaged(name, "it claims a size that its content cannot have");
  return packed;
}

}  // namespace

bool has_mark(const Envelope& envelope, std::string_view bytes) {
  return bytes.starts_with(envelope.mark);
}

std::string pack(const Envelope& envelope, std::string_view content) {
  // Level 1: a third larger than the default on our traces, and four times as fast.
  std::string packed = deflated(content, 1);
  if (!plausible(content.size(), packed.size())) packed = deflated(content, 0);
  std::string covered;
  covered.reserve(8 + packed.size());
  put(covered, content.size(), 8);
  covered += packed;
  std::string bytes(envelope.mark);
  put(bytes, envelope.format, 4);
  put(bytes, checksum(covered), 4);
  return bytes + covered;
}

std::string unpack(const Envelope& envelope, std::string_view bytes, const std::string& name) {
  Unpacking unpacking(envelope, bytes, name);
  unpacking.finish();
  return {unpacking.data(), unpacking.size()};
}

Unpacking::Unpacking(const Envelope& envelope, std::string_view bytes, const std::string& name)
    : name_(name) {
  const Packed packed = open_envelope(envelope, bytes, name);
  size_ = static_cast<std::size_t>(packed.size);
  // The room is the system's until it is written to: a size that is not true costs nothing.
  content_.reset(static_cast<char*>(std::malloc(size_ + 1)));
  if (!content_) throw std::bad_alloc();
  expect_to_fill(content_.get(), size_);
  thread_ = std::thread([this, packed] { work(packed.bytes); });
}

Unpacking::~Unpacking() {
  stop_ = true;
  thread_.join();
}

// In pieces, so that what is there can be read soon; the one byte more finds content that goes on.
void Unpacking::work(std::string_view packed) {
  constexpr std::size_t kPiece = 1 << 20;
  State end = State::kDamaged;
  try {
    Inflater inflater(packed);
    std::size_t filled = 0, wanted = 0, got = 0;
    do {
      wanted = std::min(kPiece, size_ + 1 - filled);
      got = inflater.fill({content_.get() + filled, wanted});
      filled += got;
      filled_.store(std::min(filled, size_), std::memory_order_release);
      {
        const std::lock_guard lock(mutex_);
      }  // no reader lies between its look and its sleep
      more_.notify_all();
    } while (got == wanted && filled <= size_ && !stop_);
    if (filled == size_ && inflater.complete()) end = State::kComplete;
  } catch (const std::bad_alloc&) {
    end = State::kNoMemory;
  }
  {
    const std::lock_guard lock(mutex_);
    state_ = end;
  }
  more_.notify_all();
}

std::size_t Unpacking::wait_for(std::size_t count) {
  count = std::min(count, size_);
  std::unique_lock lock(mutex_);
  more_.wait(lock, [&] {
    return filled_.load(std::memory_order_acquire) >= count || state_ != State::kGoesOn;
  });
  const std::size_t filled = filled_.load(std::memory_order_acquire);
  if (filled < count) fail();
  return filled;
}

// Many megabytes at once. Their room goes back to the system, which gives it to what is read.
void Unpacking::let_go(std::size_t count) {
  constexpr std::size_t kAtOnce = std::size_t{16} << 20;
  if (count >= gone_ + kAtOnce) gone_ = platform::give_back(content_.get(), gone_, count);
}

void Unpacking::fail() const {
  if (state_ == State::kNoMemory)
    throw InputError(name_ +
                     ": does not fit into this machine's memory; end other programs, or open it on "
                     "a machine with more");
  fail_damaged(name_, "its content does not unpack");
}

void Unpacking::finish() {
  std::unique_lock lock(mutex_);
  more_.wait(lock, [&] { return state_ != State::kGoesOn; });
  if (state_ != State::kComplete) fail();
}

}  // namespace trainscope::trace
