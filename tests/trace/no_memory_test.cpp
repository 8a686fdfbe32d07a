// Where zlib gets no memory. The linker puts __wrap_inflate between it and those that call it.
#include <zlib.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include "base/inflate.h"
#include "trace/gzip_stream.h"
#include "trace/packed.h"
#include "trace/padded_bytes.h"

using namespace trainscope;
using namespace trainscope::trace;

namespace {

std::atomic<bool> is_full = false;

struct FullMemory {
  FullMemory() { is_full = true; }
  ~FullMemory() { is_full = false; }
};

std::string gzipped(const std::string& text) {
  std::ostringstream packed;
  GzipStream stream(packed);
  stream << text;
  stream.finish();
  return packed.str();
}

}  // namespace

extern "C" {
int __real_inflate(z_streamp stream, int flush);
int __wrap_inflate(z_streamp stream, int flush) {
  return is_full ? Z_MEM_ERROR : __real_inflate(stream, flush);
}
}

TEST_CASE("what has no room to be unpacked is not called damaged") {
  const Envelope envelope{"TESTMARK", 3, "a test"};
  const std::string packed = pack(envelope, "content");
  CHECK(unpack(envelope, packed, "f.bin") == "content");
  const FullMemory full;
  CHECK_THROWS_WITH(unpack(envelope, packed, "f.bin"),
                    "f.bin: does not fit into this machine's memory; end other programs, or open "
                    "it on a machine with more");
}

TEST_CASE("nor is a gzipped trace") {
  const std::string packed = gzipped("{}");
  CHECK(load_text("t.json.gz", packed, 100).text() == "{}");
  const FullMemory full;
  CHECK_THROWS_WITH(load_text("t.json.gz", packed, 100),
                    "t.json.gz: does not fit into this machine's memory; record fewer steps");
}
