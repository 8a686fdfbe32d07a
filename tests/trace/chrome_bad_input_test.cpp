// Files that are no traces: one sentence, and never a crash.
#include <zlib.h>

#include <catch2/catch.hpp>
#include <random>
#include <sstream>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "trace/chrome_reader.h"
#include "trace/chrome_writer.h"
#include "trace/gzip_stream.h"
#include "trace/random_trace.h"

using namespace trainscope;
using namespace trainscope::trace;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

std::string packed(const std::string& text) {
  std::ostringstream out;
  GzipStream gzip(out);
  gzip << text;
  gzip.finish();
  return std::move(out).str();
}

// The message of the InputError that reading throws, or "" if it does not.
std::string fault_of(const std::string& bytes, const ReadOptions& options = {}) {
  try {
    read_chrome_trace("t.json", bytes, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const std::string good_trace =
    R"({"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]})";

}  // namespace

TEST_CASE("files that are missing, folders or empty are named") {
  const test::TemporaryFolder folder;
  const auto fault = [&](const std::filesystem::path& path) {
    try {
      read_chrome_trace(path);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string missing = (folder.path() / "none.json").string();
  CHECK(fault(missing) == missing + ": there is no such file");
  CHECK_THAT(fault(folder.path()), Contains("this is a folder"));
  CHECK_THAT(fault(folder.write("empty.json", "")), Contains("empty.json: the file is empty"));
  CHECK_THAT(fault(folder.write("blank.json", " \n\t ")), Contains("holds nothing"));
  CHECK_THAT(fault(folder.write("empty.gz", packed(""))), Contains("holds nothing"));
}

TEST_CASE("a file that is ours twice over, or that turns ours between its events, harms nothing") {
  const std::string event = R"({"ph": "X", "name": "a", "ts": 1, "dur": 2, "pid": 0, "tid": 1})";
  const std::string header = R"("trainscope": {"format": 1, "lanes": []})";
  const std::string events = R"("traceEvents": [)" + event + ", " + event + "]";
  const std::string twice = "holds \"trainscope\" twice";
  CHECK_THAT(fault_of("{" + header + ", " + events + ", " + header + "}"), Contains(twice));
  CHECK_THAT(fault_of("{" + header + ", " + header + ", " + events + "}"), Contains(twice));
  const auto turned =
      read_chrome_trace("t.json", "{" + events + ", " + header + R"(, "traceEvents": []})");
  CHECK(turned->spans().size() == 2);
  CHECK(turned->dropped().empty());
}

TEST_CASE("sizes and correlations beyond all bounds are taken for none") {
  const std::string copy =
      R"({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "ts": 1, "dur": 2, "pid": 0,
          "tid": 7, "args": {"bytes": 9223372036854775000, "correlation": -9223372036854775808}})";
  const auto trace =
      read_chrome_trace("t.json", R"({"traceEvents": [)" + copy + ", " + copy + ", " + copy + "]}");
  std::int64_t bytes = 0;
  trace::for_each(trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    bytes += std::get<trace::CopyDetail>(*trace->detail(span)).bytes;
    CHECK(span.correlation == 0);
  });
  CHECK(bytes == 3 * (std::int64_t{1} << 50));
}

TEST_CASE("a gzipped trace is known by its bytes, not by its name") {
  const test::TemporaryFolder folder;
  CHECK(read_chrome_trace(folder.write("a.json", packed(good_trace)))->spans().size() == 1);
  CHECK(read_chrome_trace(folder.write("a.json.gz", good_trace))->spans().size() == 1);
  // Several members one behind the other, and zeros that fill a block.
  const std::string members = packed(good_trace.substr(0, 20)) + packed(good_trace.substr(20));
  CHECK(read_chrome_trace("x", members)->spans().size() == 1);
  CHECK(read_chrome_trace("x", packed(good_trace) + std::string(512, '\0'))->spans().size() == 1);
}

TEST_CASE("a gzip file that is cut off or damaged is refused") {
  const std::string whole = packed(good_trace + std::string(5000, ' '));
  for (std::size_t size = 2; size < whole.size(); ++size)
    REQUIRE_THAT(fault_of(whole.substr(0, size)), Contains("gzip file ends early"));
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 0x55;
  CHECK_THAT(fault_of(damaged), StartsWith("t.json: the gzip file"));
  CHECK_THAT(fault_of(whole + "rubbish"), Contains("gzip file"));
  CHECK_THAT(fault_of("\x1f\x8brubbish, not gzip"), Contains("gzip file is damaged"));
}

TEST_CASE("JSON that is cut off says so and where") {
  for (std::size_t size = 1; size + 1 < good_trace.size(); ++size) {
    INFO(good_trace.substr(0, size));
    REQUIRE_THAT(fault_of(good_trace.substr(0, size)),
                 Contains("the JSON ends early, at byte " + std::to_string(size)));
  }
}

TEST_CASE("what stands behind the JSON is no sign of a file that was cut off") {
  for (const char* more : {"xyz", " \n,", "]", "{}"}) {
    INFO(more);
    CHECK_THAT(fault_of(good_trace + more), Contains("holds more behind its JSON value"));
  }
}

TEST_CASE("a byte that is not UTF-8 costs its letter alone, and is counted") {
  const std::string text =
      "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"caf\xe9 \xff\", \"ts\": 1, \"dur\": 2}]}";
  const auto trace = read_chrome_trace("t.json", text);
  REQUIRE(trace->spans().size() == 1);
  CHECK(trace->name(trace->spans()[0]) == "caf? ?");
  REQUIRE(trace->dropped().size() == 1);
  CHECK(trace->dropped()[0].count == 2);
  CHECK_FALSE(trace->dropped()[0].complete_event);
  CHECK_THAT(trace->dropped()[0].reason, Contains("not UTF-8"));
}

TEST_CASE("a list of events that a program did not close is read to its last event") {
  const std::string event = R"({"ph": "X", "name": "a", "ts": 1, "dur": 2})";
  for (const char* end : {"", ",", ",\n", "\n", " , \n", "]", "]\n"}) {
    INFO(end);
    CHECK(read_chrome_trace("t.json", "[" + event + ",\n" + event + end)->spans().size() == 2);
  }
  CHECK_THAT(fault_of("[" + event + ", {\"ph\": "), Contains("ends early"));
  CHECK_THAT(fault_of("[" + event + ", {\"args\": {}"), StartsWith("t.json: the JSON"));
  CHECK_THAT(fault_of("{\"traceEvents\": [" + event), StartsWith("t.json: the JSON"));
}

TEST_CASE("text that is no JSON is refused with the place") {
  CHECK_THAT(fault_of("hello"), Contains("JSON"));
  CHECK_THAT(fault_of("{\"traceEvents\": [{\"ph\" \"X\"}]}"), Contains("broken near byte"));
  CHECK_THAT(fault_of("{\"traceEvents\":\n [{\"name\": \"a\x01\"}]}"),
             Contains("broken at byte 29"));
  CHECK_THAT(fault_of("{\"traceEvents\": [}]"), StartsWith("t.json: "));
  CHECK_THAT(fault_of(good_trace + "{}"), StartsWith("t.json: "));
  CHECK_THAT(fault_of("\x89PNG\r\n\x1a\n"), Contains("byte 0 is not UTF-8"));
  CHECK_THAT(fault_of("{\"a\": 1}\n{\"b\": 2}\n"), Contains("files of one value a line"));
  CHECK_THAT(fault_of("SQLite format 3\0rest"), Contains("a report of Nsight Systems"));
  CHECK_THAT(fault_of(std::string(3000, '\0')), StartsWith("t.json: "));
  CHECK_THAT(fault_of("{\"traceEvents\": [{\"name\": \"a\nb\"}]}"), StartsWith("t.json: "));
}

TEST_CASE("JSON that is no trace says what was found and what is wanted") {
  CHECK_THAT(fault_of("{\"nodes\": [], \"schema\": \"1.0\"}"),
             Contains("an object with nodes, schema") && Contains("\"traceEvents\""));
  CHECK_THAT(fault_of("{}"), Contains("an empty object"));
  CHECK_THAT(fault_of("[1, 2]"), Contains("a list without events"));
  CHECK_THAT(fault_of("[]"), Contains("a list without events"));
  CHECK_THAT(fault_of("3"), Contains("a single value"));
  CHECK_THAT(fault_of("{\"traceEvents\": {}}"), Contains("traceEvents that are no list"));
}

TEST_CASE("what nests deeply is neither followed nor feared") {
  const std::string open(2'000'000, '['), closed(2'000'000, ']');
  CHECK_THAT(fault_of(open), StartsWith("t.json: "));
  CHECK_THAT(fault_of(open + closed), StartsWith("t.json: "));
  const auto within = [&](const std::string& key) {
    return "{\"a\": " + open + closed +
           ", \"traceEvents\": [{\"ph\": \"X\", \"ts\": 1, \"dur\": 1, " + "\"" + key +
           "\": " + open + closed + "}]}";
  };
  CHECK(read_chrome_trace("x", within("args"))->spans().size() == 1);
  CHECK(read_chrome_trace("x", within("name"))->spans().size() == 1);
  CHECK(read_chrome_trace("x", within("pid"))->spans().size() == 1);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  CHECK_THAT(fault_of(objects), StartsWith("t.json: "));
}

TEST_CASE("more JSON than is read is refused before it is all unpacked") {
  const std::string long_text = good_trace + std::string(1 << 20, ' ');
  const ReadOptions options{100'000};
  CHECK_THAT(fault_of(long_text, options), Contains("more than the 100000 bytes"));
  CHECK_THAT(fault_of(packed(long_text), options), Contains("more than the 100000 bytes"));
  CHECK(fault_of(good_trace, options).empty());
  // 200 MB of zeros in 200 kB: no trace packs so well.
  std::ostringstream out;
  GzipStream gzip(out);
  for (int i = 0; i < 200; ++i) gzip << std::string(1 << 20, '0');
  gzip.finish();
  CHECK_THAT(fault_of(std::move(out).str()), Contains("which no trace does"));
}

TEST_CASE("our own object in a file is checked") {
  const auto with = [](const std::string& object) {
    return "{\"trainscope\": " + object + ", \"traceEvents\": []}";
  };
  CHECK_THAT(fault_of(with("{\"format\": 2}")), Contains("newer Trainscope (format 2"));
  CHECK_THAT(fault_of(with("{\"format\": 1, \"lanes\": [{\"kind\": \"none\"}]}")),
             Contains("\"trainscope\" is damaged"));
  CHECK_THAT(fault_of(with("[]")), Contains("damaged"));
  CHECK_THAT(fault_of(with("{}")), Contains("damaged"));
  CHECK_THAT(fault_of(with("{\"format\": 1, \"lanes\": 7}")), StartsWith("t.json: "));
  CHECK(fault_of(with("{\"format\": 1}")).empty());
}

TEST_CASE("files with bytes changed, removed or doubled are read or refused, never more") {
  std::mt19937 random(1);
  std::ostringstream out;
  write_chrome_trace(*test::RandomTrace(5).make(6, 30), out);
  const std::string whole = std::move(out).str();
  const auto upto = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (std::size_t i = upto(4); i < 5; ++i) {
      const std::size_t at = upto(text.size() - 1), length = upto(30);
      constexpr std::string_view kParts = "\"{}[]:,0-9eE.\\ntx";
      switch (upto(2)) {
        case 0:
          text[at] = kParts[upto(kParts.size() - 1)];
          break;
        case 1:
          text.erase(at, length);
          break;
        default:
          text.insert(at, text.substr(upto(text.size() - 1), length));
      }
    }
    (void)fault_of(text);
  }
}
