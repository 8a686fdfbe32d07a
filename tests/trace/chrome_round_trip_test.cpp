#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "support/skip.h"
#include "support/traces.h"
#include "trace/chrome_reader.h"
#include "trace/chrome_writer.h"
#include "trace/random_trace.h"
#include "trace/ranks.h"
#include "trace/same_trace.h"

using namespace trainscope;
using namespace trainscope::trace;
using test::difference;

namespace {

std::string written(const Trace& trace, const WriteOptions& options = {}) {
  std::ostringstream out;
  write_chrome_trace(trace, out, options);
  return std::move(out).str();
}

}  // namespace

TEST_CASE("any trace that is written is read back the same") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto trace = test::RandomTrace(seed).make(1 + static_cast<int>(seed % 17), 60);
    const std::string text = written(*trace);
    const auto back = read_chrome_trace("out.json", text);
    INFO("seed " << seed);
    REQUIRE(difference(*trace, *back) == "");
    REQUIRE(back->dropped_events() == 0);
    REQUIRE(written(*back) == text);
  }
}

TEST_CASE("what is written is strict JSON in UTF-8, whatever the names hold") {
  for (unsigned seed = 1000; seed < 1060; ++seed)
    REQUIRE(nlohmann::json::accept(written(*test::RandomTrace(seed).make(9, 40))));
}

TEST_CASE("an empty trace is written and read back") {
  const Trace empty(Origin{OriginKind::kMeasured, "NVIDIA H200", "driver 580", 0});
  const auto back = read_chrome_trace("out.json", written(empty));
  CHECK(difference(empty, *back) == "");
}

TEST_CASE("spans on one tid nest, and those of a stream do not even overlap") {
  int nested = 0, on_streams = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    const auto trace = test::RandomTrace(seed).make(5, 300);
    const auto file = nlohmann::json::parse(written(*trace));
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<double, double>>> open;
    for (const auto& event : file["traceEvents"]) {
      if (event["ph"] != "X") continue;
      auto& stack = open[{event["pid"].get<std::int64_t>(), event["tid"].get<std::int64_t>()}];
      const double start = event["ts"].get<double>(), end = start + event["dur"].get<double>();
      while (!stack.empty() && stack.back().second <= start) stack.pop_back();
      INFO("seed " << seed);
      REQUIRE((stack.empty() || end <= stack.back().second));
      const bool on_stream = event["args"].contains("stream") && event["args"]["stream"] > 0;
      if (on_stream) REQUIRE(stack.empty());
      nested += stack.empty() ? 0 : 1;
      on_streams += on_stream ? 1 : 0;
      stack.emplace_back(start, end);
    }
  }
  CHECK(nested > 0);
  CHECK(on_streams > 0);
}

TEST_CASE("real traces survive being written and read") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces on this machine");
  const auto files = test::real_traces();
  REQUIRE(!files.empty());
  for (const std::filesystem::path& file : files) {
    INFO(file.filename().string());
    const auto trace = read_chrome_trace(file);
    const std::string text = written(*trace);
    const auto back = read_chrome_trace("x", text);
    CHECK(difference(*trace, *back) == "");
    CHECK(written(*back) == text);
  }
}

TEST_CASE("gzip by the file's name, and the same bytes each time") {
  const test::TemporaryFolder folder;
  const auto trace = test::RandomTrace(3).make(6, 100);
  write_chrome_trace(*trace, folder.path() / "plain.json");
  write_chrome_trace(*trace, folder.path() / "packed.json.gz");
  const std::string plain = read_file(folder.path() / "plain.json", 1 << 24);
  const std::string packed = read_file(folder.path() / "packed.json.gz", 1 << 24);
  CHECK(plain == written(*trace));
  CHECK(packed.starts_with("\x1f\x8b"));
  CHECK(packed.size() < plain.size());
  CHECK(packed.substr(4, 4) == std::string(4, '\0'));  // no time of writing
  write_chrome_trace(*trace, folder.path() / "again.json.gz");
  CHECK(read_file(folder.path() / "again.json.gz", 1 << 24) == packed);
  CHECK(difference(*trace, *read_chrome_trace(folder.path() / "packed.json.gz")) == "");
}

TEST_CASE("several ranks are written as one file each: its part of the trace") {
  const test::TemporaryFolder folder;
  const auto trace = test::RandomTrace(11).make(12, 200);
  const std::vector<int> ranks = ranks_of(*trace);
  REQUIRE(ranks.size() > 1);
  write_chrome_folder(*trace, folder.path() / "run");
  for (const int rank : ranks) {
    const auto file = folder.path() / "run" / ("rank_" + std::to_string(rank) + ".json.gz");
    CHECK(difference(*part_of_rank(*trace, rank), *read_chrome_trace(file)) == "");
  }
}

TEST_CASE("a rank that stands for others is written as each of them") {
  const test::TemporaryFolder folder;
  Trace trace({});
  Span span;
  span.lane = trace.add_lane({"stream 7", LaneKind::kStream, 0, 0, 0, 7, "GPU 0"});
  span.duration = 10;
  span.name = trace.intern("kernel");
  span.category = Category::kKernel;
  trace.add_span(span);
  WriteOptions options;
  options.world_size = 3;
  write_chrome_folder(trace, folder.path() / "run", options, ".json");
  for (int rank = 0; rank < 3; ++rank) {
    const auto file = folder.path() / "run" / ("rank_" + std::to_string(rank) + ".json");
    const auto json = nlohmann::json::parse(read_file(file, 1 << 20));
    CHECK(json["distributedInfo"]["rank"] == rank);
    CHECK(json["distributedInfo"]["world_size"] == 3);
    CHECK(read_chrome_trace(file)->lanes()[0].device == rank);
  }
}

TEST_CASE("a file of ours with events taken out keeps the causes of the rest") {
  Trace trace({});
  trace.add_lane({"host", LaneKind::kHostThread, 0, -1, 0, 0, ""});
  for (int i = 0; i < 3; ++i) {
    Span span;
    span.start = 100 * (3 - i);  // not in the order of the file
    span.duration = 10;
    span.name = trace.intern("span " + std::to_string(i));
    span.cause_span = i == 0 ? kNone : static_cast<SpanId>(i - 1);
    span.cause = Cause::kProgram;
    trace.add_span(span);
  }
  auto file = nlohmann::json::parse(written(trace));
  auto& events = file["traceEvents"];
  const auto first = std::find_if(events.begin(), events.end(),
                                  [](const auto& event) { return event["name"] == "span 0"; });
  events.erase(first);
  const auto back = read_chrome_trace("x", file.dump());  // sorts keys: our object comes last
  REQUIRE(back->spans().size() == 2);
  CHECK(back->name(back->spans()[0]) == "span 1");
  CHECK(back->spans()[0].cause_span == kNone);
  CHECK(back->spans()[1].cause_span == 0);
  CHECK(back->lanes().size() == 1);
}
