// Programs of the workload copy that go to the GPU, through a kernel and back.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "support/built_program.h"

using namespace trainscope;
using Catch::Matchers::Contains;
using program::Program;
using test::listing_of;
using test::program_of;

namespace {

Program round_trip(const std::vector<std::string>& more) {
  std::vector<std::string> settings{"workload=copy", "copy.direction=round_trip",
                                    "copy.memory=pinned", "transfer.non_blocking=true",
                                    "copy.bytes=4000"};
  settings.insert(settings.end(), more.begin(), more.end());
  return program_of(settings);
}

// "up 0", "kernel 0", "down 0": what is issued, with its stream.
std::vector<std::string> issued(const Program& program) {
  std::vector<std::string> words;
  for (const auto& command : program.threads[0].commands) {
    if (const auto* copy = std::get_if<program::Copy>(&command.action)) {
      const bool up = program.buffers[copy->to].kind == program::MemoryKind::kDevice;
      words.push_back((up ? "up " : "down ") + std::to_string(copy->stream));
    } else if (const auto* launch = std::get_if<program::Launch>(&command.action)) {
      words.push_back("kernel " + std::to_string(launch->stream));
    }
  }
  return words;
}

// Most bytes of the device that names mean at once.
std::int64_t most_allocated(const Program& program) {
  std::int64_t now = 0, most = 0;
  for (const auto& command : program.threads[0].commands) {
    if (const auto* alloc = std::get_if<program::Alloc>(&command.action))
      now += program.buffers[alloc->buffer].bytes;
    if (const auto* free = std::get_if<program::Free>(&command.action))
      now -= program.buffers[free->buffer].bytes;
    most = std::max(most, now);
  }
  return most;
}

}  // namespace

TEST_CASE("depth first issues a chunk's copy, kernel and copy back before the next chunk's") {
  const Program program = round_trip({"copy.chunks=3", "copy.streams=2"});
  CHECK(issued(program) == std::vector<std::string>{"up 0", "kernel 0", "down 0", "up 1",
                                                    "kernel 1", "down 1", "up 0", "kernel 0",
                                                    "down 0"});
  CHECK_THAT(listing_of(program), Contains("for i in range(3):\n"
                                           "    with torch.cuda.stream(streams[i % 2]):\n"
                                           "        x = h[i].to(\"cuda\", non_blocking=True)\n"
                                           "        y = f(x)\n"
                                           "        out[i].copy_(y, non_blocking=True)\n"
                                           "torch.cuda.synchronize()\n"));
}

TEST_CASE("breadth first issues all copies, then all kernels, then all copies back") {
  const Program program =
      round_trip({"copy.chunks=3", "copy.streams=2", "copy.order=breadth_first"});
  CHECK(issued(program) == std::vector<std::string>{"up 0", "up 1", "up 0", "kernel 0", "kernel 1",
                                                    "kernel 0", "down 0", "down 1", "down 0"});
  CHECK_THAT(listing_of(program), Contains("x, y = {}, {}\n") && Contains("        y[i] = f(x[i])\n"
                                                                          "for i in range(3):\n"));
}

TEST_CASE("one stream is the default one, and needs no with") {
  const Program program = round_trip({"copy.chunks=2", "stream.kind=blocking"});
  REQUIRE(program.streams.size() == 1);
  CHECK(program.streams[0].name == "stream 7");
  CHECK(program.streams[0].kind == program::StreamKind::kBlocking);
  CHECK(listing_of(program).find("Stream") == std::string::npos);
  for (const program::Stream& stream : round_trip({"copy.streams=3"}).streams)
    CHECK(stream.kind == program::StreamKind::kNonBlocking);
}

TEST_CASE("chunks are cut as torch.chunk cuts, and each byte goes up and down once") {
  // 1000 numbers; of 7 chunks six have 143, of 999 each has 2 and there are 500.
  for (const auto& [wanted, expected] : {std::pair{1, 1}, {3, 3}, {7, 7}, {999, 500}, {4096, 1000}})
    for (const char* order : {"copy.order=depth_first", "copy.order=breadth_first"}) {
      CAPTURE(wanted, order);
      const Program program = round_trip({"copy.chunks=" + std::to_string(wanted), order});
      std::int64_t up = 0, down = 0, computed = 0;
      for (const auto& command : program.threads[0].commands) {
        if (const auto* copy = std::get_if<program::Copy>(&command.action)) {
          const bool to_gpu = program.buffers[copy->to].kind == program::MemoryKind::kDevice;
          std::int64_t& at = to_gpu ? up : down;
          CHECK((to_gpu ? copy->from_begin : copy->to_begin) == at);
          at += copy->bytes;
        } else if (const auto* launch = std::get_if<program::Launch>(&command.action)) {
          computed += program.operations[launch->operation].m;
        }
      }
      CHECK(up == 4000);
      CHECK(down == 4000);
      CHECK(computed == 1000);
      CHECK(issued(program).size() == 3 * static_cast<std::size_t>(expected));
      CHECK_THAT(listing_of(program), Contains(".chunk(" + std::to_string(expected) + ")"));
    }
}

TEST_CASE("a name lets its tensor go once it means the next; breadth first keeps all chunks") {
  CHECK(most_allocated(round_trip({"copy.chunks=4"})) == 3 * 1000);
  CHECK(most_allocated(round_trip({"copy.chunks=4", "copy.order=breadth_first"})) == 8 * 1000);
  CHECK(most_allocated(round_trip({"copy.chunks=4", "steps=3"})) == 3 * 1000);
  CHECK(most_allocated(round_trip({"steps=3"})) == 3 * 4000);
}

TEST_CASE("a kernel has the arithmetic that is asked for, in multiply-adds") {
  const Program twice = round_trip({});
  CHECK(twice.operations[0].flops == 1000);
  CHECK(std::holds_alternative<program::Multiply>(twice.operations[0].function));
  CHECK_THAT(listing_of(twice), Contains("f = lambda x: 2 * x\n"));
  for (const auto& [asked, expected] : {std::pair{2, 2}, {3, 4}, {4096, 4096}}) {
    const Program program =
        round_trip({"copy.chunks=2", "copy.count=5", "copy.flops=" + std::to_string(asked)});
    CHECK(program.operations[0].flops == 500 * expected);
    CHECK(program.operations[0].bytes == 2 * 2000);
    CHECK(program.step_flops == 5 * 1000 * expected);
    CHECK_THAT(listing_of(program), Contains("i < " + std::to_string(expected / 2) + ";"));
  }
}

TEST_CASE("a copy that blocks is waited for, on its stream") {
  const Program program =
      round_trip({"copy.chunks=2", "copy.streams=2", "transfer.non_blocking=false"});
  std::vector<program::Index> waits;
  for (const auto& command : program.threads[0].commands)
    if (const auto* sync = std::get_if<program::StreamSync>(&command.action))
      waits.push_back(sync->stream);
  CHECK(waits == std::vector<program::Index>{0, 0, 1, 1});
  CHECK_THAT(listing_of(program), Contains("non_blocking=False"));
}

TEST_CASE("a round trip refuses bytes that are no whole numbers") {
  CHECK_THROWS_WITH(round_trip({"copy.bytes=4001"}), Contains("multiple of 4"));
  CHECK_THROWS_WITH(round_trip({"copy.bytes=2"}), Contains("multiple of 4"));
}
