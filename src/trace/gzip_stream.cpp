#include "trace/gzip_stream.h"

#include <zlib.h>

#include <array>
#include <new>

namespace trainscope::trace {

class GzipStream::Buffer : public std::streambuf {
 public:
  explicit Buffer(std::ostream& out) : out_(out) {
    constexpr int kGzip = 15 + 16, kMemory = 8;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
    setp(plain_.data(), plain_.data() + plain_.size());
  }
  ~Buffer() override { deflateEnd(&stream_); }

  bool pack(int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(pbase());
    stream_.avail_in = static_cast<uInt>(pptr() - pbase());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(packed_.data());
      stream_.avail_out = static_cast<uInt>(packed_.size());
      deflate(&stream_, flush);
      out_.write(packed_.data(), static_cast<std::streamsize>(packed_.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
    setp(plain_.data(), plain_.data() + plain_.size());
    return out_.good();
  }

 protected:
  int_type overflow(int_type c) override {
    if (!pack(Z_NO_FLUSH)) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }

 private:
  std::ostream& out_;
  z_stream stream_{};
  std::array<char, 1 << 16> plain_;
  std::array<char, 1 << 16> packed_;
};

GzipStream::GzipStream(std::ostream& packed)
    : std::ostream(nullptr), buffer_(std::make_unique<Buffer>(packed)) {
  rdbuf(buffer_.get());
}

GzipStream::~GzipStream() = default;

void GzipStream::finish() {
  if (!buffer_->pack(Z_FINISH)) setstate(std::ios::badbit);
}

}  // namespace trainscope::trace
