// The odd things that real files hold, one by one.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "trace/given_events.h"

using namespace trainscope;
using namespace trainscope::trace;
using test::complete;
using test::events;
using test::lost;

namespace {

std::unique_ptr<Trace> read(const std::string& text) {
  return read_chrome_trace("t.json", text);
}

}  // namespace

TEST_CASE("times are exact to the nanosecond, whatever their form") {
  const auto trace = events(complete("1712000000000000.001", "0.999") + "," +
                            complete("1712000000000001.000", "1") + "," +
                            complete("\"1712000000000002.5\"", "\"0.25\"") + "," +
                            complete("1.712000000000003e15", "1e-3"));
  REQUIRE(trace->spans().size() == 4);
  CHECK(trace->spans()[0].start == 0);
  CHECK(trace->spans()[0].duration == 999);
  CHECK(trace->spans()[1].start == 999);
  CHECK(trace->spans()[1].duration == 1'000);
  CHECK(trace->spans()[2].start == 2'499);
  CHECK(trace->spans()[2].duration == 250);
  CHECK(trace->spans()[3].start == 2'999);
  CHECK(trace->spans()[3].duration == 1);
  CHECK(trace->origin().clock_start == 1'712'000'000'000'000'001);
}

TEST_CASE("the next batch is loaded by the thread that asks, or waited for, in every schema") {
  const auto next = [](const char* cat, const char* iterator) {
    return fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": "enumerate(DataLoader)#{}.__next__", "pid": 1,)"
        R"( "tid": 1, "ts": 1, "dur": 2}})",
        cat, iterator);
  };
  for (const char* cat : {"Operator", "cpu_op", "user_annotation"}) {
    INFO(cat);
    const auto trace = events(next(cat, "_SingleProcessDataLoaderIter") + "," +
                              next(cat, "_MultiProcessingDataLoaderIter") + "," +
                              next(cat, "_StatefulSingleProcessDataLoaderIter") + "," +
                              next(cat, "_StatefulMultiProcessingDataLoaderIter"));
    REQUIRE(trace->spans().size() == 4);
    for (const SpanId loads : {0, 2}) CHECK(trace->spans()[loads].category == Category::kLoader);
    for (const SpanId waits : {1, 3}) {
      CHECK(trace->spans()[waits].category == Category::kHeld);
      CHECK(trace->spans()[waits].cause == Cause::kData);
    }
  }
  // Its shadow on the device is a mark.
  CHECK(events(next("gpu_user_annotation", "_SingleProcessDataLoaderIter"))->spans()[0].category ==
        Category::kAnnotation);
}

TEST_CASE("a call is held by the copy of pageable memory that it asks for, and by no other") {
  for (const auto& [copied, category] :
       {std::pair{"HtoD (Pageable -> Device)", Category::kHeld},
        std::pair{"DtoH (Device -> Pageable)", Category::kHeld},
        std::pair{"HtoD (Pinned -> Device)", Category::kHostApi},
        std::pair{"DtoD (Device -> Device)", Category::kHostApi}}) {
    INFO(copied);
    const auto trace = events(
        R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 1, "tid": 1,)"
        R"( "ts": 1, "dur": 9, "args": {"correlation": 5}},)" +
        fmt::format(
            R"({{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy {}", "pid": 0, "tid": 7,)"
            R"( "ts": 2, "dur": 7, "args": {{"correlation": 5, "stream": 7, "bytes": 64}}}})",
            copied));
    REQUIRE(trace->spans().size() == 2);
    CHECK(trace->spans()[0].category == category);
    CHECK((trace->spans()[0].cause == Cause::kStaging) == (category == Category::kHeld));
  }
}

TEST_CASE("the base time stands in the origin, wherever it stands in the file") {
  const auto trace = read(R"({"traceEvents": [)" + complete("5.5", "1") +
                          R"(], "baseTimeNanoseconds": 1700000000000000000})");
  CHECK(trace->spans()[0].start == 0);
  CHECK(trace->origin().clock_start == 1'700'000'000'000'005'500);
}

TEST_CASE("complete events that cannot be kept are counted with the reason") {
  const auto trace =
      events(complete("1", "2") + R"(,{"ph": "X", "name": "no ts", "dur": 1})" +
             R"(,{"ph": "X", "name": "no dur", "ts": 1})" + "," + complete("\"soon\"", "1") + "," +
             complete("1", "[2]") + "," + complete("1", "-2") + "," + complete("1e30", "1") + "," +
             complete("1", "99999999999999999999") + "," + complete("null", "1") + "," +
             complete("true", "1") + "," + complete("NaN", "1") + "," + complete("-1e300", "1"));
  CHECK(trace->spans().size() == 1);
  CHECK(trace->dropped_events() == 11);
  CHECK(lost(*trace, "complete event without a start (\"ts\")") == 2);
  CHECK(lost(*trace, "complete event without a duration (\"dur\")") == 1);
  CHECK(lost(*trace, "complete event whose start (\"ts\") is no number") == 3);
  CHECK(lost(*trace, "complete event whose duration (\"dur\") is no number") == 1);
  CHECK(lost(*trace, "complete event of negative duration") == 1);
  CHECK(lost(*trace, "complete event whose start (\"ts\") is too large") == 2);
  CHECK(lost(*trace, "complete event whose duration (\"dur\") is too large") == 1);
}

TEST_CASE("events that are not complete ones are counted apart") {
  const auto trace = events(
      complete("1", "2") +
      R"(,{"ph": "i", "s": "g", "name": "Iteration Start", "pid": "Traces", "tid": "", "ts": 1})"
      R"(,{"ph": "B", "name": "b", "ts": 1}, {"ph": "E", "ts": 2}, {"name": "no phase"})"
      R"(,17, "text", [{}], null, {"ph": ""})");
  CHECK(trace->spans().size() == 1);
  CHECK(trace->dropped_events() == 0);
  CHECK(lost(*trace, "instant event") == 1);
  CHECK(lost(*trace, "event of a phase (\"ph\": \"B\") that is not read") == 1);
  CHECK(lost(*trace, "event of a phase (\"ph\": \"E\") that is not read") == 1);
  CHECK(lost(*trace, "event without a phase (\"ph\")") == 2);
  CHECK(lost(*trace, "element of traceEvents that is no event") == 4);
}

TEST_CASE("numbers in quotes and streams by name are the same threads") {
  const auto trace = events(
      R"({"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": "9", "ts": 1,
          "dur": 1, "args": {"correlation": 5, "external id": 3}},
         {"ph": "s", "id": 5, "pid": 9, "tid": 9, "ts": 1, "cat": "async", "name": "launch"},
         {"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 3, "dur": 1,
          "args": {"device": 0, "stream": 7, "correlation": 5, "grid": [2, 3, 4],
                   "block": [32, 1, 1], "registers per thread": 40, "shared memory": 1024,
                   "est. achieved occupancy %": 50}},
         {"ph": "f", "id": 5, "pid": 0, "tid": "stream 7", "ts": 3, "cat": "async",
          "name": "launch", "bp": "e"},
         {"ph": "X", "cat": "Trace", "name": "p", "pid": "Spans", "tid": "", "ts": 1, "dur": 9})");
  REQUIRE(trace->lanes().size() == 3);
  CHECK(trace->lanes()[0].name == "thread 9");
  CHECK(trace->lanes()[0].group == "process 9");
  CHECK(trace->lanes()[1].name == "stream 7");
  CHECK(trace->lanes()[1].group == "GPU 0");
  CHECK(trace->lanes()[1].kind == LaneKind::kStream);
  CHECK(trace->lanes()[1].thread == 7);
  CHECK(trace->lanes()[2].group == "Spans");
  REQUIRE(trace->flows().size() == 1);
  CHECK(trace->flows()[0].from == 0);
  CHECK(trace->flows()[0].to == 1);
  const auto& kernel = std::get<KernelDetail>(*trace->detail(trace->spans()[1]));
  CHECK(kernel.grid[2] == 4);
  CHECK(kernel.block[0] == 32);
  CHECK(kernel.registers_per_thread == 40);
  CHECK(kernel.shared_bytes == 1024);
  CHECK(kernel.occupancy == 0.5);
}

TEST_CASE("args that stand before the category are read all the same") {
  const auto trace = events(
      R"json({"args": {"stream": 7, "device": 1, "correlation": 8, "bytes": 4096}, "ts": 1, "dur": 4,
          "name": "Memcpy DtoH (Device -> Pinned)", "pid": 1, "tid": 7, "cat": "gpu_memcpy",
          "ph": "X"})json");
  REQUIRE(trace->spans().size() == 1);
  CHECK(trace->spans()[0].category == Category::kCopyD2H);
  CHECK(trace->spans()[0].correlation == 8);
  const auto& copy = std::get<CopyDetail>(*trace->detail(trace->spans()[0]));
  CHECK(copy.bytes == 4096);
  CHECK(copy.from == Memory::kDevice);
  CHECK(copy.to == Memory::kPinned);
  CHECK(copy.device == 1);
}

TEST_CASE("the allocator's totals and counters become lanes of samples") {
  const auto trace = events(
      complete("10", "2") +
      R"(,{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1,
           "ts": 12, "args": {"Device Type": 1, "Device Id": 0, "Bytes": 512,
           "Total Allocated": 1536, "Total Reserved": 2097152}}
         ,{"ph": "i", "name": "[memory]", "pid": 1, "tid": 2, "ts": 11,
           "args": {"Device Type": 0, "Device Id": -1, "Total Allocated": 64}}
         ,{"ph": "C", "name": "power", "pid": "GPU 0 Counters", "tid": 0, "ts": 13,
           "args": {"": 250.5}}
         ,{"ph": "C", "name": "queue", "pid": 1, "ts": 14, "args": {"full": 3, "empty": "x"}})");
  REQUIRE(trace->samples().size() == 5);
  const auto named = [&](std::uint32_t i) { return trace->lanes()[trace->samples()[i].lane].name; };
  CHECK(named(0) == "host memory allocated");
  CHECK(trace->samples()[0].time == 1'000);
  CHECK(trace->samples()[0].value == 64);
  CHECK(named(1) == "GPU 0 memory allocated");
  CHECK(trace->samples()[1].value == 1536);
  CHECK(named(2) == "GPU 0 memory reserved");
  CHECK(named(3) == "power");
  CHECK(trace->samples()[3].value == 250.5);
  CHECK(named(4) == "queue full");
  CHECK(lost(*trace, "counter value that is no number") == 1);
}

TEST_CASE("memory events without totals add up, to what is above the least") {
  const auto change = [](int ts, int device, int bytes) {
    return R"(,{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": )" + std::to_string(ts) +
           R"(, "args": {"Device Type": 1, "Device Id": )" + std::to_string(device) +
           R"(, "Bytes": )" + std::to_string(bytes) + "}}";
  };
  // What is freed first was there before the trace began. The file's order is no order of time.
  const auto trace = events(complete("10", "20") + change(14, 0, 300) + change(12, 0, -100) +
                            change(13, 1, 50) + change(16, 0, -300) +
                            R"(,{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 17,
                                "args": {"Device Type": 1, "Device Id": 0}},
                               {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 18,
                                "args": {"Device Type": 1, "Device Id": 0, "Bytes": "many"}})");
  REQUIRE(trace->samples().size() == 4);
  const auto name = [&](std::uint32_t i) { return trace->lanes()[trace->samples()[i].lane].name; };
  const auto value = [&](std::uint32_t i) { return trace->samples()[i].value; };
  CHECK(name(0) == "GPU 0 memory above its least");
  CHECK(value(0) == 0);
  CHECK(name(1) == "GPU 1 memory above its least");
  CHECK(value(1) == 50);
  CHECK(value(2) == 300);
  CHECK(value(3) == 0);
  CHECK(lost(*trace, "memory event without totals and bytes") == 1);
  CHECK(lost(*trace, "counter value that is no number") == 1);
}

TEST_CASE("a trace may be a bare list, or begin with a byte order mark") {
  const std::string one = complete("1", "1");
  CHECK(read("[" + one + "]")->spans().size() == 1);
  CHECK(read("\xEF\xBB\xBF{\"traceEvents\": [" + one + "]}")->spans().size() == 1);
  CHECK(read("{\"traceEvents\": []}")->spans().empty());
  CHECK(read("[" + one + "]")->origin().detail == "Chrome trace");
}

TEST_CASE("names may be missing, null, numbers or full of escapes") {
  const auto trace = events(
      R"({"ph": "X", "ts": 1, "dur": 1}, {"ph": "X", "name": null, "ts": 1, "dur": 1},
         {"ph": "X", "name": 17, "ts": 1, "dur": 1},
         {"ph": "X", "name": "a\"\\\/\n\u00e9\ud83d\ude80\ud800", "ts": 1, "dur": 1},
         {"ph": "X", "name": {"a": [1]}, "ts": 1, "dur": 1, "pid": [1], "tid": {"b": 2}})");
  REQUIRE(trace->spans().size() == 5);
  CHECK(trace->name(trace->spans()[0]) == "");
  CHECK(trace->name(trace->spans()[1]) == "");
  CHECK(trace->name(trace->spans()[2]) == "17");
  CHECK(trace->name(trace->spans()[3]) == "a\"\\/\n\xC3\xA9\xF0\x9F\x9A\x80\xEF\xBF\xBD");
}

TEST_CASE("of a key that stands twice the last one counts") {
  const auto trace = events(R"({"ph": "X", "ts": 5, "ts": 6, "dur": 1, "name": "a", "name": "b"})");
  REQUIRE(trace->spans().size() == 1);
  CHECK(trace->name(trace->spans()[0]) == "b");
  CHECK(trace->origin().clock_start == 6'000);
}

TEST_CASE("a file of one rank says of how many it is one") {
  const auto of = [](const std::string& info) {
    return read(R"({"distributedInfo": {)" + info + R"(}, "traceEvents": [)" + complete("1", "1") +
                "]}")
        ->origin()
        .detail;
  };
  CHECK(of(R"("rank": 1, "world_size": 2)") == "Chrome trace, rank 1 of 2");
  CHECK(of(R"("rank": 0, "world_size": 1)") == "Chrome trace");
  CHECK(of(R"("rank": 0)") == "Chrome trace");
}

TEST_CASE("lanes are named by metadata, and rows that hold nothing are left out") {
  const auto trace = read(
      R"({"distributedInfo": {"backend": "nccl", "rank": 3, "ranks": "[0, 1]"}, "traceEvents": [)" +
      complete("1", "1") +
      R"(,{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "ts": 0,
           "args": {"name": "thread 1 (python) "}}
         ,{"ph": "M", "name": "process_name", "pid": 5, "tid": 0, "args": {"name": "GPU 5"}}
         ,{"ph": "M", "name": "thread_name", "pid": 5, "tid": 7, "args": {"name": "stream 7 "}}
         ,{"ph": "M", "name": "thread_name", "pid": null}]})");
  REQUIRE(trace->lanes().size() == 1);
  CHECK(trace->lanes()[0].name == "thread 1 (python)");
  CHECK(trace->lanes()[0].group == "rank 3");
  CHECK(trace->lanes()[0].rank == 3);
}

TEST_CASE("an arrow that does not touch an event's start is drawn from the span around it") {
  const auto trace = events(
      R"({"ph": "X", "name": "outer", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
         {"ph": "X", "name": "inner", "pid": 1, "tid": 1, "ts": 10, "dur": 10},
         {"ph": "X", "name": "later", "pid": 1, "tid": 2, "ts": 50, "dur": 10},
         {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": "0x1f", "pid": 1, "tid": 1, "ts": 15},
         {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": "0x1f", "pid": 1, "tid": 2, "ts": 55},
         {"ph": "s", "cat": "fwdbwd", "id": 2, "pid": 1, "tid": 1, "ts": 30},
         {"ph": "f", "cat": "fwdbwd", "id": 2, "pid": 1, "tid": 2, "ts": 50},
         {"ph": "s", "cat": "ac2g", "id": 3, "pid": 1, "tid": 1, "ts": 500},
         {"ph": "f", "cat": "ac2g", "id": 3, "pid": 1, "tid": 9, "ts": 5},
         {"ph": "s", "cat": "mystery", "id": 4, "pid": 1, "tid": 1, "ts": 30})");
  REQUIRE(trace->flows().size() == 2);
  CHECK(trace->flows()[0].from == 1);
  CHECK(trace->flows()[0].to == 2);
  CHECK(trace->flows()[0].kind == FlowKind::kLaunch);
  CHECK(trace->flows()[1].from == 0);
  CHECK(trace->flows()[1].kind == FlowKind::kForwardBackward);
  CHECK(lost(*trace, "end of an arrow that touches no span") == 2);
  CHECK(lost(*trace, "end of an arrow of an unknown category") == 1);
}

TEST_CASE("a correlation below zero, or whose lower half is none, joins nothing") {
  const auto trace = events(
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1,
          "args": {"correlation": -1}},
         {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 2, "dur": 1,
          "args": {"correlation": 4294967296}})");
  CHECK(trace->spans()[0].correlation == 0);
  CHECK(trace->spans()[1].correlation == 0);
  CHECK(lost(*trace, "correlation number out of range") == 1);
}

TEST_CASE("calls and work are joined by correlations of 64 bits, too") {
  const auto trace = events(
      R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1,
          "dur": 1, "args": {"correlation": 6000000005}},
         {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 3,
          "dur": 1, "args": {"correlation": 6000000006}},
         {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 1,
          "args": {"stream": 7, "correlation": 6000000006}})");
  CHECK(trace->spans()[2].cause_span == 1);
  CHECK(trace->dropped_events() == 0);
  CHECK(lost(*trace, "correlation number out of range") == 0);
}

TEST_CASE("a kernel that is said to carry out a collective is one, whatever it is called") {
  const auto kernel = [](const std::string& name, const std::string& args) {
    return events(R"({"ph": "X", "cat": "kernel", "name": ")" + name +
                  R"(", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {)" + args + "}}");
  };
  const std::string symmetric = "void c10d::symmetric_memory::two_shot_all_reduce_kernel<16>()";
  const auto said = kernel(symmetric, R"("Collective name": "allreduce", "Group size": 8)");
  CHECK(said->spans()[0].category == Category::kCollective);
  CHECK(std::get<CollectiveDetail>(*said->detail(said->spans()[0])).group_size == 8);
  CHECK(kernel(symmetric, R"("stream": 7)")->spans()[0].category == Category::kKernel);
  CHECK(kernel("mscclKernel_Sum_half_Simple_false", R"("stream": 7)")->spans()[0].category ==
        Category::kCollective);
}

TEST_CASE("a collective says its process group, whose ranks a file has as text") {
  const auto trace = events(
      R"({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
          "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"Collective name": "allreduce",
          "Group size": 2, "Process Group Name": "tp", "Process Group Description": "mesh_tp",
          "Process Group Ranks": "[0, 2]", "Seq": 4}})");
  const auto& collective = std::get<CollectiveDetail>(*trace->detail(trace->spans()[0]));
  CHECK(collective.group == "tp (mesh_tp)");
  CHECK(collective.members == "[0, 2]");
  CHECK(collective.group_size == 2);
}

TEST_CASE("mangled names of kernels are read as programmers wrote them") {
  const auto trace = events(
      R"({"ph": "X", "cat": "kernel", "name": "_Z4gemmIfEvi", "pid": 0, "tid": 7, "ts": 1,
          "dur": 1})");
  CHECK(trace->name(trace->spans()[0]) == "void gemm<float>(int)");
}
