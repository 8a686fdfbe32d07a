// Collectives of ranks that share a device: a ring of copies and additions on the ranks' streams.

#include "cuda/collectives.h"

#include <catch2/catch.hpp>

#include "cuda/emulated_device.h"
#include "host/cast.h"
#include "host/float_types.h"
#include "host/ring.h"

using namespace trainscope;
using program::CollectiveKind;
using program::ElementType;

namespace {

// Ranks of one process, each with numbers that it gives and others that it gets; `pieces` of them
// lie apart.
struct Ranks {
  program::Program program;
  int ranks;
  ElementType type;

  Ranks(int count, CollectiveKind kind, const std::vector<std::int64_t>& pieces, bool in_place,
        ElementType its_type = ElementType::kFp32)
      : ranks(count), type(its_type) {
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
      for (const std::int64_t piece : pieces) one.bytes += program::size_of(type) * piece;
      program.threads.front().commands.push_back({one});
    }
  }

  // Numbers that no two ranks have alike.
  program::Index add_payload(int rank, const std::vector<std::int64_t>& pieces) {
    program.payloads.emplace_back();
    for (const std::int64_t piece : pieces) {
      program::Buffer buffer{"x", program::size_of(type) * piece};
      buffer.type = type;
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
    host::cast(host::format_of(program.buffers[i].type), numbers.back());
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
    host::carry_out(ranks.of(0), host::format_of(ranks.type), sends, receives, room);
  return numbers;
}

std::vector<float> numbers_at(const void* memory, const program::Buffer& buffer) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < buffer.elements(); ++i)
    numbers.push_back(buffer.type == ElementType::kFp16
                          ? host::to_float(static_cast<const host::Float16*>(memory)[i])
                      : buffer.type == ElementType::kBf16
                          ? host::to_float(static_cast<const host::Bfloat16*>(memory)[i])
                          : static_cast<const float*>(memory)[i]);
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
    numbers.push_back(numbers_at(buffers.at(i), ranks.program.buffers[i]));
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

TEST_CASE("narrow numbers are summed as the host's ring rounds them, by a ring or the library") {
  for (const ElementType type : {ElementType::kFp16, ElementType::kBf16})
    for (const CollectiveKind kind : kComputed)
      for (const int count : {2, 3, 4})
        for (const int gpus : {1, count})
          for (const std::vector<std::int64_t>& pieces :
               {std::vector<std::int64_t>{37}, std::vector<std::int64_t>{3, 1, 10}})
            check_same(Ranks(count, kind, pieces, true, type), 2, gpus, 3);
}

TEST_CASE("the largest of all ranks' numbers are found by a ring as by the library") {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16})
    for (const int count : {1, 2, 4})
      for (const int gpus : {1, count}) {
        Ranks ranks(count, CollectiveKind::kAllReduce, {5, 9}, true, type);
        for (program::Command& command : ranks.program.threads.front().commands)
          std::get<program::Collective>(command.action).maximum = true;
        check_same(ranks, 1, gpus, 5);
      }
}

TEST_CASE("numbers of several types are told to all as bytes") {
  for (const int gpus : {1, 3}) {
    Ranks ranks(3, CollectiveKind::kBroadcast, {5, 4, 3}, true, ElementType::kBf16);
    for (std::size_t i = 0; i < ranks.program.buffers.size(); ++i)
      if (i % 3 == 1) {  // of each rank the second
        ranks.program.buffers[i].type = ElementType::kFp32;
        ranks.program.buffers[i].bytes *= 2;
      }
    const Numbers found = by_device(ranks, 1, gpus, 1), first = first_numbers(ranks.program);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == first[i % 3]);
  }
}
