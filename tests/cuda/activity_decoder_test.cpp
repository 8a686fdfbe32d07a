#include "cuda/activity_decoder.h"

#include <catch2/catch.hpp>

using namespace trainscope;
using namespace trainscope::cuda;

namespace {

// trainscope::kernels::(anonymous namespace)::look_kernel<float>(float const*, unsigned long,
// float*)
constexpr const char* kLook = "_ZN10trainscope7kernels12_GLOBAL__N_111look_kernelIfEEvPKT_mPf";

TracedKernel kernel(std::uint64_t start, std::uint64_t end, std::uint32_t correlation) {
  TracedKernel record;
  record.start = start;
  record.end = end;
  record.correlation = correlation;
  record.name = kLook;
  record.grid[0] = 4;
  record.block[0] = 256;
  record.registers = 24;
  record.shared_bytes = 1024;
  return record;
}

}  // namespace

TEST_CASE("work joins the call that it was made in, also when that is told later") {
  ActivityDecoder decoder;
  decoder.add(kernel(100, 200, 7));
  decoder.add(TracedCall{7, 41});
  decoder.add(TracedCall{8, 42});
  decoder.add(TracedCopy{300, 400, 8, 4096, 1, 3});
  decoder.add(TracedFill{500, 600, 8, 64});
  const Activities all = decoder.take();
  REQUIRE(all.records.size() == 3);
  CHECK(all.records[0].call == 41);
  CHECK(all.records[0].name == "look_kernel<float>");
  CHECK(all.records[0].grid[0] == 4);
  CHECK(all.records[0].registers == 24);
  CHECK(all.records[1].kind == ActivityKind::kCopy);
  CHECK(all.records[1].from == program::MemoryKind::kPageable);
  CHECK(all.records[1].to == program::MemoryKind::kDevice);
  CHECK(all.records[1].bytes == 4096);
  CHECK(all.records[2].kind == ActivityKind::kMemset);
  CHECK(all.foreign == 0);
  CHECK(decoder.take().records.empty());
}

TEST_CASE("several kernels of one graph's launch join the one call") {
  ActivityDecoder decoder;
  decoder.add(TracedCall{7, 3});
  for (std::uint64_t i = 0; i < 5; ++i) decoder.add(kernel(100 + 10 * i, 105 + 10 * i, 7));
  const Activities all = decoder.take();
  REQUIRE(all.records.size() == 5);
  for (const Activity& one : all.records) CHECK(one.call == 3);
}

TEST_CASE("records of others, without times, or lost are counted and not kept") {
  ActivityDecoder decoder;
  decoder.add(kernel(100, 200, 9));  // of no call of ours
  decoder.add(TracedCall{7, 1});
  decoder.add(kernel(0, 0, 7));      // never done
  decoder.add(kernel(300, 200, 7));  // impossible
  decoder.add_dropped(5);
  const Activities all = decoder.take();
  CHECK(all.records.empty());
  CHECK(all.foreign == 1);
  CHECK(all.untimed == 2);
  CHECK(all.dropped == 5);
  CHECK(all.cut == 0);
  decoder.add_cut();
  CHECK(decoder.take().cut == 1);
  CHECK(decoder.take().cut == 0);
}

namespace {

// Of a graph's node, with a number that is wrong.
TracedKernel of_graph(std::uint64_t start, std::uint32_t graph, std::uint64_t node) {
  TracedKernel record = kernel(start, start + 5, 8);
  record.graph = graph;
  record.node = node;
  return record;
}

std::vector<CallId> calls_of(const Activities& all) {
  std::vector<CallId> calls;
  for (const Activity& one : all.records) calls.push_back(one.call);
  return calls;
}

}  // namespace

TEST_CASE(
    "work of graphs is told by the order of its starts where the tracer's numbers are wrong") {
  ActivityDecoder decoder;
  decoder.add(TracedCall{8, 60});  // that wrong number is another call's
  decoder.add(kernel(50, 60, 8));
  decoder.add(TracedCall{8, 1});  // and its launch has it, too
  for (const CallId call : {1U, 2U, 3U}) decoder.add(TracedLaunch{4, 2, call});
  decoder.add(TracedLaunch{5, 3, 7});
  for (const std::uint64_t node : {10U, 11U})
    for (const std::uint64_t start : {300U, 100U, 200U})
      decoder.add(of_graph(start + node, 4, node));
  decoder.add(of_graph(150, 3, 10));  // as the graph is numbered that the launched one is made of
  const Activities all = decoder.take();
  CHECK(calls_of(all) == std::vector<CallId>{60, 3, 1, 2, 3, 1, 2, 7});
  CHECK(all.foreign == 0);
}

TEST_CASE("work of a graph is of the first launches where later ones were not done") {
  ActivityDecoder decoder;
  for (const CallId call : {1U, 2U, 3U}) decoder.add(TracedLaunch{4, 2, call});
  for (const std::uint64_t start : {200U, 100U}) decoder.add(of_graph(start, 4, 10));
  CHECK(calls_of(decoder.take()) == std::vector<CallId>{2, 1});
}

TEST_CASE("work of a graph is of no call where some of it was lost, or has no time") {
  for (const int lacks : {0, 1, 2}) {
    ActivityDecoder decoder;
    for (const CallId call : {1U, 2U, 3U}) decoder.add(TracedLaunch{4, 2, call});
    decoder.add(of_graph(100, 4, 10));
    if (lacks == 0) decoder.add_dropped(1);
    if (lacks == 1) decoder.add_cut();
    if (lacks == 2) decoder.add(of_graph(0, 4, 10));
    const Activities all = decoder.take();
    CHECK(all.records.empty());
    CHECK(all.foreign == 1);
  }
}

TEST_CASE("a kernel's name is short, and one that cannot be read stays as it is") {
  CHECK(short_kernel_name(kLook) == "look_kernel<float>");
  CHECK(short_kernel_name("sm90_xmma_gemm_f16f16") == "sm90_xmma_gemm_f16f16");
  CHECK(short_kernel_name(nullptr) == "kernel");
}
