// Collectives of ranks that share a device: a ring of copies and additions on the ranks' streams.

#include "cuda/collectives.h"

#include <catch2/catch.hpp>

#include "cuda/emulated_device.h"
#include "host/ring.h"

using namespace trainscope;
using program::CollectiveKind;

namespace {

// Ranks of one process, each with numbers that it gives and others that it gets; `pieces` of them
// lie apart.
struct Ranks {
  program::Program program;
  int ranks;

  Ranks(int count, CollectiveKind kind, const std::vector<std::int64_t>& pieces, bool in_place)
      : ranks(count) {
    program.communicators.push_back({"default process group", ranks, {}, ranks});
    program.threads.push_back({"host", program::ThreadRole::kMain, 0, {}});
    program::Collective one;
    one.kind = kind;
    for (int rank = 0; rank < ranks; ++rank) {
      program.streams.push_back({"stream 7", 7, program::StreamKind::kNonBlocking, 0, rank, rank});
      one.stream = static_cast<program::Index>(rank);
      one.send = add_payload(rank, pieces);
      one.receive = in_place ? one.send : add_payload(rank, pieces);
      one.bytes = 0;
      for (const std::int64_t piece : pieces) one.bytes += 4 * piece;
      program.threads.front().commands.push_back({one});
    }
  }

  // Numbers that no two ranks have alike.
  program::Index add_payload(int rank, const std::vector<std::int64_t>& pieces) {
    program.payloads.emplace_back();
    for (const std::int64_t piece : pieces) {
      program::Buffer buffer{"x", 4 * piece};
      buffer.device = rank;
      buffer.role = program::Role::kParameter;
      buffer.initial = {program::Initial::Kind::kUniform, 1.0 + 0.3 * rank};
      program.payloads.back().push_back(static_cast<program::Index>(program.buffers.size()));
      program.buffers.push_back(buffer);
    }
    return static_cast<program::Index>(program.payloads.size() - 1);
  }

  const program::Collective& of(std::size_t rank) const {
    return std::get<program::Collective>(program.threads.front().commands[rank].action);
  }
  std::vector<cuda::RankCall> calls() const {
    std::vector<cuda::RankCall> all;
    for (std::size_t rank = 0; rank < program.streams.size(); ++rank)
      all.push_back({static_cast<int>(rank), static_cast<cuda::CallId>(rank + 1), 1, &of(rank)});
    return all;
  }
};

using Numbers = std::vector<std::vector<float>>;  // by buffer

Numbers first_numbers(const program::Program& program) {
  const host::InitialValues initial(program);
  Numbers numbers;
  for (program::Index i = 0; i < program.buffers.size(); ++i) {
    numbers.emplace_back(static_cast<std::size_t>(program.buffers[i].elements()));
    initial.read(i, numbers.back());
  }
  return numbers;
}

Numbers by_host(const Ranks& ranks, int times) {
  Numbers numbers = first_numbers(ranks.program);
  std::vector<host::Pieces> sends, receives;
  const auto pieces = [&](program::Index payload) {
    host::Pieces all;
    for (const program::Index buffer : ranks.program.payloads[payload])
      all.push_back(numbers[buffer]);
    return all;
  };
  for (std::size_t rank = 0; rank < ranks.program.streams.size(); ++rank) {
    const program::Collective& one = ranks.of(rank);
    sends.push_back(pieces(one.send));
    const bool gets = one.kind != CollectiveKind::kReduce || rank == 0;
    receives.push_back(gets ? pieces(one.receive) : host::Pieces());
  }
  std::vector<float> room;
  for (int i = 0; i < times; ++i)
    host::carry_out(ranks.of(0).kind, host::NumberFormat::kFloat32, sends, receives, room);
  return numbers;
}

Numbers by_device(const Ranks& ranks, int times, int gpus, std::uint32_t seed) {
  test::EmulatedOptions options;
  options.seed = seed;
  options.gpus = gpus;
  test::EmulatedDevice device(options);
  std::vector<cuda::StreamHandle> streams;
  for (const program::Stream& stream : ranks.program.streams)
    streams.push_back(device.make_stream(stream.kind, 0, stream.device));
  cuda::Buffers buffers(ranks.program, device, streams);
  cuda::CollectiveMemory memory(ranks.program, device, buffers, streams);
  cuda::Collectives ring(ranks.program, device, memory, streams);
  device.synchronise();
  cuda::CallId next = 100;
  cuda::ThreadLog log;
  for (int i = 0; i < times; ++i) ring.carry_out(ranks.calls(), [&] { return ++next; }, log);
  device.synchronise();
  Numbers numbers;
  for (program::Index i = 0; i < ranks.program.buffers.size(); ++i) {
    const auto* begin = static_cast<const float*>(buffers.at(i));
    numbers.emplace_back(begin, begin + ranks.program.buffers[i].elements());
  }
  return numbers;
}

void check_same(const Ranks& ranks, int times, int gpus, std::uint32_t seed) {
  INFO(ranks.ranks << " ranks on " << gpus << " GPUs, " << program::name_of(ranks.of(0).kind)
                   << ", seed " << seed);
  CHECK(by_device(ranks, times, gpus, seed) == by_host(ranks, times));
}

constexpr CollectiveKind kComputed[] = {CollectiveKind::kAllReduce, CollectiveKind::kBroadcast,
                                        CollectiveKind::kReduce};

}  // namespace

TEST_CASE("a ring on streams gives the host ring's bits, whatever order the device works in") {
  for (const CollectiveKind kind : kComputed)
    for (const int count : {1, 2, 3, 4, 7})
      for (const std::int64_t elements : {1, 5, 64})
        for (std::uint32_t seed = 1; seed <= 3; ++seed)
          check_same(Ranks(count, kind, {elements}, seed % 2 == 0), 1, 1, seed);
}

TEST_CASE("numbers that lie in pieces are sent as one, and ranks may have GPUs of their own") {
  for (const CollectiveKind kind : kComputed)
    for (const bool in_place : {false, true})
      for (const int gpus : {1, 2, 4}) check_same(Ranks(4, kind, {3, 1, 10}, in_place), 1, gpus, 7);
}

TEST_CASE("a collective may follow the one before on the same numbers") {
  for (const CollectiveKind kind : kComputed)
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      check_same(Ranks(3, kind, {9}, true), 4, 1, seed);
      check_same(Ranks(4, kind, {2, 6}, true), 3, 1, seed);
    }
}

TEST_CASE("payloads that are not FP32 are refused by name") {
  Ranks ranks(2, CollectiveKind::kAllReduce, {4}, true);
  ranks.program.buffers[1].name = "bucket 0";
  ranks.program.buffers[1].type = program::ElementType::kFp16;
  test::EmulatedDevice device;
  std::vector<cuda::StreamHandle> streams{
      device.make_stream(program::StreamKind::kNonBlocking, 0, 0),
      device.make_stream(program::StreamKind::kNonBlocking, 0, 1)};
  cuda::Buffers buffers(ranks.program, device, streams);
  CHECK_THROWS_WITH(cuda::CollectiveMemory(ranks.program, device, buffers, streams),
                    Catch::Matchers::Contains("bucket 0"));
}
