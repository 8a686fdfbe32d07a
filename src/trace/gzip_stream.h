// An output stream that packs what is written to it into another stream as one gzip file. The same
// bytes in give the same bytes out: no time, no name.
#pragma once

#include <memory>
#include <ostream>
#include <streambuf>

namespace trainscope::trace {

class GzipStream : public std::ostream {
 public:
  explicit GzipStream(std::ostream& packed);
  ~GzipStream() override;

  // Writes what is left. Without it the file is incomplete.
  void finish();

 private:
  class Buffer;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace trainscope::trace
