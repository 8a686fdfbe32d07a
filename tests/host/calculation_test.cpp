// Operations with the operands that a program gives them, where those differ from the functions'.

#include "host/calculation.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "host/interpreter.h"

using namespace trainscope;
using program::Index;
using program::Part;
using program::Program;

namespace {

Index add_buffer(Program& program, std::int64_t elements) {
  program::Buffer buffer;
  buffer.name = "buffer";
  buffer.bytes = elements * program::size_of(buffer.type);
  program.buffers.push_back(buffer);
  return static_cast<Index>(program.buffers.size() - 1);
}

program::Operation operation(const program::Function& function, std::vector<Index> reads,
                             std::vector<Index> writes) {
  program::Operation one;
  one.function = function;
  one.reads = std::move(reads);
  one.writes = std::move(writes);
  return one;
}

void fill(host::Results values, const std::vector<float>& from) {
  REQUIRE(values.size() == from.size());
  std::copy(from.begin(), from.end(), values.begin());
}

}  // namespace

TEST_CASE("a table of positions that is longer than the sequence has no gradient in its rest") {
  Program program;
  const Index x = add_buffer(program, 2 * 2 * 3), table = add_buffer(program, 4 * 3);
  const Index y = add_buffer(program, 2 * 2 * 3), dtable = add_buffer(program, 4 * 3);
  host::Interpreter interpreter(program);
  fill(interpreter.values(x), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  fill(interpreter.values(table), {10, 20, 30, 40, 50, 60, 7, 7, 7, 7, 7, 7});
  fill(interpreter.values(dtable), std::vector<float>(12, -1));
  program::AddPositions positions{2, 2, 3};
  interpreter.run(operation(positions, {x, table}, {y}));
  const host::Values sums = interpreter.values(y);
  CHECK(std::vector<float>(sums.begin(), sums.end()) ==
        std::vector<float>{10, 21, 32, 43, 54, 65, 16, 27, 38, 49, 60, 71});
  positions.part = Part::kWeightGradient;
  interpreter.run(operation(positions, {x}, {dtable}));
  const host::Values gradient = interpreter.values(dtable);
  CHECK(std::vector<float>(gradient.begin(), gradient.end()) ==
        std::vector<float>{6, 8, 10, 12, 14, 16, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("parts of a sequence are put together, taken apart, and one of them is copied") {
  Program program;
  const Index by_rank = add_buffer(program, 12), whole = add_buffer(program, 12);
  const Index apart = add_buffer(program, 12), part = add_buffer(program, 4);
  host::Interpreter interpreter(program);
  // Of three ranks, two samples each with a run of two.
  fill(interpreter.values(by_rank), {0, 1, 60, 61, 2, 3, 62, 63, 4, 5, 64, 65});
  const auto values = [&](Index buffer) {
    const host::Values all = interpreter.values(buffer);
    return std::vector<float>(all.begin(), all.end());
  };
  interpreter.run(operation(program::CopyRuns{2, 2, 3, 1, 2}, {by_rank}, {whole}));
  CHECK(values(whole) == std::vector<float>{0, 1, 2, 3, 4, 5, 60, 61, 62, 63, 64, 65});
  interpreter.run(operation(program::CopyRuns{2, 3, 2, 1, 3}, {whole}, {apart}));
  CHECK(values(apart) == values(by_rank));
  interpreter.run(operation(program::CopyRuns{2, 2, 1, 3, 1, 1}, {whole}, {part}));
  CHECK(values(part) == std::vector<float>{2, 3, 62, 63});
}

TEST_CASE("several matrices are turned round one by one, and back") {
  Program program;
  const Index rows = add_buffer(program, 12), columns = add_buffer(program, 12);
  const Index again = add_buffer(program, 12);
  host::Interpreter interpreter(program);
  const auto values = [&](Index buffer) {
    const host::Values all = interpreter.values(buffer);
    return std::vector<float>(all.begin(), all.end());
  };
  // Of two images three pixels, each with two channels.
  fill(interpreter.values(rows), {0, 10, 1, 11, 2, 12, 20, 30, 21, 31, 22, 32});
  interpreter.run(operation(program::CopyRuns{1, 2, 3, 1, 2}, {rows}, {columns}));
  CHECK(values(columns) == std::vector<float>{0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32});
  interpreter.run(operation(program::CopyRuns{1, 3, 2, 1, 3}, {columns}, {again}));
  CHECK(values(again) == values(rows));
}

TEST_CASE("attention of three projections is that of one which holds all three") {
  const bool flash = GENERATE(false, true);
  constexpr std::int64_t kBatch = 2, kHeads = 2, kLength = 5, kWidth = 4;
  constexpr std::int64_t kRow = kHeads * kWidth, kTokens = kBatch * kLength;
  const std::int64_t kept_size = kBatch * kHeads * kLength * (flash ? 1 : kLength);
  Program program;
  std::vector<Index> three, dthree;
  const Index packed = add_buffer(program, 3 * kTokens * kRow);
  const Index dpacked = add_buffer(program, 3 * kTokens * kRow);
  for (int i = 0; i < 3; ++i) three.push_back(add_buffer(program, kTokens * kRow));
  for (int i = 0; i < 3; ++i) dthree.push_back(add_buffer(program, kTokens * kRow));
  const Index y1 = add_buffer(program, kTokens * kRow), y3 = add_buffer(program, kTokens * kRow);
  const Index kept1 = add_buffer(program, kept_size), kept3 = add_buffer(program, kept_size);
  const Index dy = add_buffer(program, kTokens * kRow);
  host::Interpreter interpreter(program);
  // The number of token t, projection i, place c.
  const auto packed_place = [](std::int64_t t, std::int64_t i, std::int64_t c) {
    return static_cast<std::size_t>((t * 3 + i) * kRow + c);
  };
  for (std::int64_t t = 0; t < kTokens; ++t)
    for (std::int64_t c = 0; c < kRow; ++c) {
      const auto place = static_cast<std::size_t>(t * kRow + c);
      interpreter.values(dy)[place] = static_cast<float>((t * 7 + c * 3) % 11) / 11;
      for (std::int64_t i = 0; i < 3; ++i)
        interpreter.values(packed)[packed_place(t, i, c)] =
            interpreter.values(three[static_cast<std::size_t>(i)])[place] =
                static_cast<float>((t * 5 + i * 13 + c * 17) % 19) / 19 - 0.5F;
    }
  program::Attention one{kBatch, kHeads, kLength, kWidth, true, flash}, apart = one;
  apart.packed = false;
  interpreter.run(operation(one, {packed}, {y1, kept1}));
  interpreter.run(operation(apart, three, {y3, kept3}));
  one.part = apart.part = Part::kInputGradient;
  std::vector<Index> reads1{dy, packed, kept1}, reads3{dy, three[0], three[1], three[2], kept3};
  if (flash) {
    reads1.push_back(y1);
    reads3.push_back(y3);
  }
  interpreter.run(operation(one, reads1, {dpacked}));
  interpreter.run(operation(apart, reads3, dthree));

  CHECK(std::ranges::equal(interpreter.values(y1), interpreter.values(y3)));
  CHECK(std::ranges::any_of(interpreter.values(y1), [](float value) { return value != 0; }));
  for (std::int64_t t = 0; t < kTokens; ++t)
    for (std::int64_t c = 0; c < kRow; ++c)
      for (std::int64_t i = 0; i < 3; ++i)
        CHECK(interpreter.values(dpacked)[packed_place(t, i, c)] ==
              interpreter.values(
                  dthree[static_cast<std::size_t>(i)])[static_cast<std::size_t>(t * kRow + c)]);
}

// [tokens, heads of keys, width] for each of the heads of queries that share one.
TEST_CASE("heads of queries that share one of keys are as many heads that have the same") {
  const bool flash = GENERATE(false, true);
  constexpr std::int64_t kBatch = 2, kHeads = 6, kKeyHeads = 2, kLength = 5, kWidth = 4;
  constexpr std::int64_t kTokens = kBatch * kLength, kEach = kHeads / kKeyHeads;
  constexpr std::int64_t kAll = kTokens * kHeads * kWidth, kShared = kAll / kEach;
  const std::int64_t kept_size = kBatch * kHeads * kLength * (flash ? 1 : kLength);
  Program program;
  const auto add = [&](std::int64_t elements) { return add_buffer(program, elements); };
  const Index q = add(kAll), k = add(kShared), v = add(kShared), all_k = add(kAll);
  const Index all_v = add(kAll), y = add(kAll), kept = add(kept_size), whole_y = add(kAll);
  const Index whole_kept = add(kept_size), dy = add(kAll), dq = add(kAll), dk = add(kShared);
  const Index dv = add(kShared), whole_dq = add(kAll), whole_dk = add(kAll), whole_dv = add(kAll);
  host::Interpreter interpreter(program);
  for (const Index one : {q, k, v, dy})
    for (std::size_t i = 0; i < interpreter.values(one).size(); ++i)
      interpreter.values(one)[i] = static_cast<float>((i * 7 + one * 5) % 23) / 23 - 0.5F;
  const auto place = [](std::int64_t i) {  // of a shared number, by its place among all
    const std::int64_t token = i / (kHeads * kWidth), head = i / kWidth % kHeads;
    return static_cast<std::size_t>((token * kKeyHeads + head / kEach) * kWidth + i % kWidth);
  };
  for (std::int64_t i = 0; i < kAll; ++i)
    for (const auto& [to, from] : {std::pair{all_k, k}, {all_v, v}})
      interpreter.values(to)[static_cast<std::size_t>(i)] = interpreter.values(from)[place(i)];
  program::Attention whole{kBatch, kHeads, kLength, kWidth, true, flash};
  whole.packed = false;
  program::Attention grouped = whole;
  grouped.kv_heads = kKeyHeads;
  interpreter.run(operation(grouped, {q, k, v}, {y, kept}));
  interpreter.run(operation(whole, {q, all_k, all_v}, {whole_y, whole_kept}));
  grouped.part = whole.part = Part::kInputGradient;
  std::vector<Index> reads{dy, q, k, v, kept}, whole_reads{dy, q, all_k, all_v, whole_kept};
  if (flash) {
    reads.push_back(y);
    whole_reads.push_back(whole_y);
  }
  interpreter.run(operation(grouped, reads, {dq, dk, dv}));
  interpreter.run(operation(whole, whole_reads, {whole_dq, whole_dk, whole_dv}));
  CHECK(std::ranges::equal(interpreter.values(y), interpreter.values(whole_y)));
  CHECK(std::ranges::equal(interpreter.values(dq), interpreter.values(whole_dq)));
  for (const auto& [sum, terms] : {std::pair{dk, whole_dk}, {dv, whole_dv}}) {
    std::vector<double> expected(kShared);
    for (std::int64_t i = 0; i < kAll; ++i)
      expected[place(i)] += interpreter.values(terms)[static_cast<std::size_t>(i)];
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(interpreter.values(sum)[i] == Approx(expected[i]).margin(1e-7));
    CHECK(std::ranges::any_of(expected, [](double value) { return value != 0; }));
  }
}
