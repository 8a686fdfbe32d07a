#include "trace/padded_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <new>

#include "base/error.h"
#include "base/inflate.h"
#include "base/platform.h"

namespace trainscope::trace {
namespace {

constexpr std::size_t kBlock = 1 << 20;

[[noreturn]] void fail(std::string_view name, const std::string& sentence) {
  throw InputError(std::string(name) + ": " + sentence);
}

[[noreturn]] void fail_too_long(std::string_view name, std::uint64_t limit) {
  fail(name, "holds more than the " + std::to_string(limit) +
                 " bytes of JSON that are read; record fewer steps");
}

// Where bytes come from: fills the buffer, returns how many came, 0 at the end.
using Source = std::function<std::size_t(char* buffer, std::size_t size)>;

// Unpacks one gzip file, which may hold several members one behind the other.
class Gunzip {
 public:
  Gunzip(std::string_view name, std::uint64_t limit) : name_(name), limit_(limit) {}

  void feed(std::string_view packed, PaddedBytes& text) {
    const std::size_t size = packed.size();
    while (!packed.empty()) {
      if (member_done_ && !start_member(packed.front())) return;
      step(packed, text);
    }
    packed_ += size;
  }

  void finish() const {
    if (!member_done_)
      fail(name_, "the gzip file ends early, after " + std::to_string(packed_) +
                      " bytes; copy or record it again");
  }

 private:
  // Behind a member stand another one, zeros that fill a block, or nothing.
  bool start_member(char first) {
    if (first == 0) return false;
    inflate_.begin();
    member_done_ = false;
    return true;
  }

  void step(std::string_view& packed, PaddedBytes& text) {
    const std::size_t room = std::max(kBlock, text.size() / 2), before = packed.size();
    text.commit(inflate_.unpack(packed, {text.grow(room), room}));
    taken_ += before - packed.size();
    if (text.size() > limit_) fail_too_long(name_, limit_);
    refuse_bomb(text.size());
    member_done_ = inflate_.state() == Inflate::State::kEnded;
    if (inflate_.state() == Inflate::State::kDamaged)
      fail(name_, "the gzip file is damaged at byte " + std::to_string(taken_) + " (" +
                      inflate_.fault() + "); copy or record it again");
  }

  // Traces shrink ten to sixty times; a file made to fill the memory shrinks a thousand times.
  void refuse_bomb(std::uint64_t unpacked) const {
    constexpr std::uint64_t kHarmless = std::uint64_t{64} << 20, kRatio = 200;
    if (unpacked > kHarmless && unpacked / kRatio > taken_)
      fail(name_, "unpacks to more than " + std::to_string(kRatio) +
                      " times its size, which no trace does; it is not read");
  }

  std::string name_;
  std::uint64_t limit_;
  Inflate inflate_{Inflate::Format::kGzip};
  bool member_done_ = false;
  std::uint64_t packed_ = 0;  // bytes fed
  std::uint64_t taken_ = 0;   // bytes used
};

void gunzip(std::string_view name, std::string_view first, const Source& source,
            std::uint64_t limit, PaddedBytes& text) {
  Gunzip gunzip(name, limit);
  gunzip.feed(first, text);
  const auto block = std::make_unique<char[]>(kBlock);
  while (const std::size_t count = source(block.get(), kBlock))
    gunzip.feed({block.get(), count}, text);
  gunzip.finish();
}

// Whether a text may go on as JSON with events does: after a byte order mark and white space.
bool may_be_json(std::string_view start) {
  if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  return first == start.npos ? start.size() < kBlock : start[first] == '{' || start[first] == '[';
}

void copy_plain(std::string_view name, std::string_view first, const Source& source,
                std::uint64_t limit, PaddedBytes& text) {
  first.copy(text.grow(first.size()), first.size());
  text.commit(first.size());
  for (;;) {
    if (text.size() > limit) fail_too_long(name, limit);
    const std::size_t count = source(text.grow(kBlock), kBlock);
    if (count == 0) return;
    text.commit(count);
  }
}

PaddedBytes load(std::string_view name, const Source& source, std::uint64_t size,
                 std::uint64_t limit) try {
  const auto first = std::make_unique<char[]>(kBlock);
  const std::size_t count = source(first.get(), kBlock);
  const std::string_view start(first.get(), count);
  if (start.empty()) fail(name, "the file is empty; name a trace that a profiler has written");
  PaddedBytes text;
  if (is_gzip(start)) {
    gunzip(name, start, source, limit, text);
  } else {
    if (size > limit) fail_too_long(name, limit);
    // What has no known size may have no end.
    if (size == 0 && !may_be_json(start))
      fail(name,
           "does not begin with { or [ as JSON does; name a trace that a profiler has written");
    text.reserve(size + kBlock);
    copy_plain(name, start, source, limit, text);
  }
  text.finish();
  return text;
} catch (const std::bad_alloc&) {
  fail(name, "does not fit into this machine's memory; record fewer steps");
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

PaddedBytes::PaddedBytes(std::string_view text) {
  text.copy(grow(text.size()), text.size());
  commit(text.size());
  finish();
}

void PaddedBytes::reserve(std::size_t size) {
  if (data_ && size <= capacity_) return;
  // realloc moves large blocks by remapping pages, without copying them.
  char* larger = static_cast<char*>(std::realloc(data_.get(), size + kPadding));
  if (!larger) throw std::bad_alloc();
  [[maybe_unused]] const char* moved = data_.release();
  data_.reset(larger);
  capacity_ = size;
}

char* PaddedBytes::grow(std::size_t count) {
  if (!data_ || capacity_ - size_ < count) reserve(size_ + count);
  return data_.get() + size_;
}

void PaddedBytes::finish() {
  reserve(size_);
  std::memset(data_.get() + size_, 0, kPadding);
}

PaddedBytes load_text(const std::filesystem::path& path, std::uint64_t limit) {
  const std::string name = path.string();
  const auto reason = [] { return std::string("cannot be read (") + std::strerror(errno) + ")"; };
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status))
    fail(name, "this is a folder, not a file; name a trace in it");
  const std::unique_ptr<std::FILE, Close> file(platform::open_to_read(path));
  if (!file && errno == ENOENT) fail(name, "there is no such file");
  if (!file) fail(name, reason() + "; check its permissions");
  std::setvbuf(file.get(), nullptr, _IONBF, 0);  // large blocks need no buffer between
  const auto source = [&](char* buffer, std::size_t size) {
    for (;;) {
      const std::size_t count = std::fread(buffer, 1, size, file.get());
      if (count > 0 || std::feof(file.get())) return count;
      if (errno != EINTR) fail(name, reason());
      std::clearerr(file.get());
    }
  };
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  const bool sized = std::filesystem::is_regular_file(status) && !unknown;
  return load(name, source, sized ? size : 0, limit);
}

PaddedBytes load_text(std::string_view name, std::string_view bytes, std::uint64_t limit) {
  std::string_view rest = bytes;
  const auto source = [&](char* buffer, std::size_t size) {
    const std::size_t count = std::min(size, rest.size());
    rest.copy(buffer, count);
    rest.remove_prefix(count);
    return count;
  };
  return load(name, source, bytes.size(), limit);
}

}  // namespace trainscope::trace
