// What other tools find in a file that we write: PyTorch's names, as HTA and Perfetto expect them.
#include "trace/chrome_writer.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

using namespace trainscope;
using namespace trainscope::trace;
using nlohmann::json;

namespace {

Span span(Trace& trace, LaneId lane, Category category, const std::string& name, Nanos start,
          Nanos duration) {
  Span span;
  span.lane = lane;
  span.category = category;
  span.name = trace.intern(name);
  span.start = start;
  span.duration = duration;
  return span;
}

// Two ranks: a step, a launch and its kernel, a copy, a collective, and the copy engine's own lane.
struct Example {
  Trace trace{Origin{OriginKind::kSimulated, "h200-2", "mlp", 0}};
  WriteOptions options;

  Example() {
    for (int rank = 0; rank < 2; ++rank) add_rank(rank);
    options.devices.push_back({.id = 0, .name = "H200"});
    options.devices.back().multiprocessors = 132;
  }

  void add_rank(int rank) {
    const std::string group = "rank " + std::to_string(rank);
    const LaneId steps = trace.add_lane({"steps", LaneKind::kSteps, rank, -1, 0, 0, group});
    const LaneId host = trace.add_lane({"host main", LaneKind::kHostThread, rank, -1, 0, 0, group});
    const LaneId stream = trace.add_lane({"compute", LaneKind::kStream, rank, 0, 0, 0, "GPU 0"});
    const LaneId comm = trace.add_lane({"comm", LaneKind::kStream, rank, 0, 0, 1, "GPU 0"});
    const LaneId engine = trace.add_lane({"H2D", LaneKind::kCopyEngine, rank, 0, 0, 0, "GPU 0"});
    const LaneId memory = trace.add_lane({"allocated", LaneKind::kCounter, rank, 0, 0, 0, "GPU 0"});
    trace.add_span(span(trace, steps, Category::kAnnotation, "ProfilerStep#1", 0, 90'000));
    add_kernel(host, stream);
    add_copy(host, stream, engine);
    Span collective =
        span(trace, comm, Category::kCollective, "all_reduce bucket 0", 40'000, 9'000);
    CollectiveDetail detail;
    detail.operation = "allreduce";
    detail.group_size = 2;
    collective.detail = trace.add_detail(detail);
    trace.add_span(collective);
    trace.add_sample({5'000, 1024.0, memory});
  }

  void add_kernel(LaneId host, LaneId stream) {
    Span launch = span(trace, host, Category::kHostApi, "cudaLaunchKernel", 1'234, 5'000);
    launch.correlation = 11;
    const SpanId from = trace.add_span(launch);
    Span kernel = span(trace, stream, Category::kForward, "sgemm \"128x64\"", 8'000, 4'321);
    kernel.correlation = 11;
    kernel.cause = Cause::kLaunch;
    kernel.cause_span = from;
    kernel.line = 12;
    KernelDetail detail;
    detail.grid[0] = 264;
    detail.block[0] = 256;
    detail.occupancy = 0.75;
    kernel.detail = trace.add_detail(detail);
    trace.add_flow({from, trace.add_span(kernel), FlowKind::kLaunch});
  }

  void add_copy(LaneId host, LaneId stream, LaneId engine) {
    Span call = span(trace, host, Category::kHeld, "cudaMemcpyAsync", 20'000, 5'000);
    call.correlation = 12;
    const SpanId from = trace.add_span(call);
    Span copy = span(trace, stream, Category::kCopyH2D, "x.to(device)", 21'000, 4'000);
    copy.correlation = 12;
    copy.detail = trace.add_detail(CopyDetail{8'000, Memory::kPageable, Memory::kDevice, 0, 0});
    trace.add_flow({from, trace.add_span(copy), FlowKind::kLaunch});
    copy.lane = engine;
    trace.add_span(copy);
  }

  std::string text() const {
    std::ostringstream out;
    write_chrome_trace(trace, out, options);
    return std::move(out).str();
  }
};

json event_named(const json& file, const std::string& name) {
  for (const json& event : file["traceEvents"])
    if (event["name"] == name) return event;
  return {};
}

std::vector<json> events_of(const json& file, const std::string& cat) {
  std::vector<json> found;
  for (const json& event : file["traceEvents"])
    if (event.value("cat", "") == cat) found.push_back(event);
  return found;
}

}  // namespace

TEST_CASE("a file of one rank looks as PyTorch would have written it") {
  Example example;
  example.options.rank = 1;
  const std::string text = example.text();
  const json file = json::parse(text);
  CHECK(file["schemaVersion"] == 1);
  CHECK(file["displayTimeUnit"] == "ms");
  CHECK(file["baseTimeNanoseconds"] == 0);
  CHECK(file["traceEvents"][0]["ph"] == "M");
  CHECK(file["deviceProperties"][0]["numSms"] == 132);
  // HTA takes the first match of this in the file for the rank.
  std::smatch found;
  REQUIRE(std::regex_search(text, found, std::regex("\"rank\":\\s+(\\d+)")));
  CHECK(found[1] == "1");

  const json launch = event_named(file, "cudaLaunchKernel");
  const json kernel = event_named(file, "sgemm \"128x64\"");
  CHECK(kernel["cat"] == "kernel");
  CHECK(kernel["pid"] == 0);
  CHECK(kernel["tid"] == 7);
  CHECK(kernel["ts"] == 8.0);
  CHECK(kernel["dur"] == 4.321);
  CHECK(kernel["args"]["stream"] == 7);
  CHECK(kernel["args"]["device"] == 0);
  CHECK(kernel["args"]["correlation"] == launch["args"]["correlation"]);
  CHECK(kernel["args"]["grid"] == json({264, 1, 1}));
  CHECK(kernel["args"]["blocks per SM"] == 2.0);
  CHECK(kernel["args"]["warps per SM"] == 16.0);
  CHECK(kernel["args"]["est. achieved occupancy %"] == 75);
  CHECK(kernel["args"]["Trainscope line"] == 12);
  CHECK(kernel["args"]["Trainscope cause"] == "its launch");
  CHECK(text.find("\"ts\": 1.234, \"dur\": 5.000") != text.npos);

  CHECK(launch["cat"] == "cuda_runtime");
  CHECK(launch["args"]["correlation"] > 65'535);  // or HTA trips over a file this small
  const json step = event_named(file, "ProfilerStep#1");
  CHECK(step["cat"] == "user_annotation");
  CHECK(step["pid"] == launch["pid"]);
}

TEST_CASE("copies and collectives have names that HTA knows") {
  Example example;
  example.options.rank = 0;
  const json file = json::parse(example.text());
  const auto copies = events_of(file, "gpu_memcpy");
  REQUIRE(copies.size() == 1);  // the copy engine's lane is no stream
  CHECK(copies[0]["name"] == "Memcpy HtoD (Pageable -> Device)");
  CHECK(copies[0]["args"]["Trainscope name"] == "x.to(device)");
  CHECK(copies[0]["args"]["bytes"] == 8'000);
  CHECK(copies[0]["args"]["memory bandwidth (GB/s)"] == 2.0);
  const auto kernels = events_of(file, "kernel");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[1]["name"].get<std::string>().starts_with("nccl"));
  CHECK(kernels[1]["args"]["Collective name"] == "allreduce");
  CHECK(kernels[1]["args"]["stream"] != kernels[0]["args"]["stream"]);
}

TEST_CASE("what PyTorch has no lane for stands apart, out of HTA's sight") {
  Example example;
  example.options.rank = 0;
  const json file = json::parse(example.text());
  const auto own = events_of(file, "trainscope");
  REQUIRE(own.size() == 1);
  CHECK(own[0]["name"] == "x.to(device)");
  CHECK_FALSE(own[0]["args"].contains("stream"));
  for (const char* cat : {"kernel", "gpu_memcpy", "cuda_runtime"})
    for (const json& event : events_of(file, cat)) CHECK(event["pid"] != own[0]["pid"]);
}

TEST_CASE("arrows are numbered by correlation and stand behind the events they touch") {
  Example example;
  example.options.rank = 0;
  const json file = json::parse(example.text());
  json before;
  int starts = 0, ends = 0;
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] == "X") before = event;
    if (event["ph"] != "s" && event["ph"] != "f") continue;
    CHECK(event["cat"] == "ac2g");
    CHECK(event["id"] == before["args"]["correlation"]);
    for (const char* key : {"pid", "tid", "ts"}) CHECK(event[key] == before[key]);
    if (event["ph"] == "f") CHECK(event["bp"] == "e");
    ++(event["ph"] == "s" ? starts : ends);
  }
  CHECK(starts == 2);
  CHECK(ends == 2);
}

TEST_CASE("several ranks in one file share neither processes nor arrows") {
  const json file = json::parse(Example().text());
  std::set<json> pids, ids;
  for (const json& event : file["traceEvents"]) {
    if (event["name"] == "process_name") CHECK(pids.insert(event["pid"]).second);
    if (event["ph"] == "s") CHECK(ids.insert(event["id"]).second);
  }
  CHECK(pids.size() == 6);  // host, GPU and machine of two ranks
  CHECK(ids.size() == 4);
}

TEST_CASE("every pid and tid is a whole number") {
  const json file = json::parse(Example().text());
  REQUIRE(!file["traceEvents"].empty());
  for (const json& event : file["traceEvents"]) {
    CHECK(event["pid"].is_number_integer());
    CHECK(event["tid"].is_number_integer());
  }
}

TEST_CASE("synchronisation records can be left out") {
  Trace trace({});
  trace.add_lane({"stream", LaneKind::kStream, 0, 0, 0, 7, ""});
  Span wait = span(trace, 0, Category::kSync, "Stream Sync", 0, 10);
  wait.detail = trace.add_detail(SyncDetail{"Stream Sync", 0, 7});
  trace.add_span(wait);
  std::ostringstream with, without;
  write_chrome_trace(trace, with);
  WriteOptions options;
  options.sync_records = false;
  write_chrome_trace(trace, without, options);
  CHECK(events_of(json::parse(with.str()), "cuda_sync").size() == 1);
  CHECK(events_of(json::parse(with.str()), "cuda_sync")[0]["args"]["stream"] == 7);
  CHECK(events_of(json::parse(without.str()), "cuda_sync").empty());
}

TEST_CASE("an output that cannot be written is named") {
  CHECK_THROWS_WITH(write_chrome_trace(Trace({}), std::filesystem::path("/dev/null/out.json")),
                    Catch::Matchers::Contains("/dev/null/out.json: cannot be written"));
}

TEST_CASE("how training goes is in the file as counters of the training process") {
  Trace trace({});
  Lane lane;
  lane.name = "host main";
  lane.kind = LaneKind::kHostThread;
  lane.process = 4242;
  trace.add_lane(lane);
  trace.add_span(span(trace, 0, Category::kHostWork, "work", 0, 10));
  TrainingStep step;
  step.time = 7000;
  step.has_loss = true;
  step.loss = 2.5;
  step.loss_scale = 65536;
  trace.add_step(step);
  std::ostringstream out;
  write_chrome_trace(trace, out, {});
  CHECK_THAT(out.str(), Catch::Contains(R"({"ph": "C", "name": "loss", "pid": 4242)"));
  CHECK_THAT(out.str(), Catch::Contains(R"({"ph": "C", "name": "loss scale", "pid": 4242)"));
  CHECK_THAT(out.str(), Catch::Contains("2.5"));
}
