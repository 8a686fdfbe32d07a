// What L2 holds from one kernel to the next, against the same told with a plain list.
#include "sim/l2_residency.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <set>

#include "machine/roofline.h"
#include "program/second_reads.h"

using namespace trainscope;
using program::Index;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

program::Program buffers(const std::vector<std::int64_t>& sizes) {
  program::Program program;
  for (const std::int64_t bytes : sizes)
    program.buffers.push_back({"buffer", bytes, program::MemoryKind::kDevice});
  return program;
}

program::Operation kernel(const program::Program& program, std::vector<Index> reads,
                          std::vector<Index> writes) {
  program::Operation operation;
  for (const auto* list : {&reads, &writes})
    for (const Index buffer : *list)
      operation.bytes += static_cast<double>(program.buffers[buffer].bytes);
  operation.reads = std::move(reads);
  operation.writes = std::move(writes);
  return operation;
}

const machine::Gpu& h200() {  // L2 of 60 MiB
  static const machine::Machine machine = machine::load_machine("h200-1");
  return machine.gpu;
}

// The buffers that there are, the one touched last first.
class PlainResidency {
 public:
  PlainResidency(const program::Program& program, const machine::Gpu& gpu)
      : program_(program), gpu_(gpu) {}

  double touch(const program::Operation& operation) {
    if (operation.reads.empty() && operation.writes.empty()) {
      order_.insert(order_.begin(), {program::kNoIndex, operation.bytes});
      return 0;
    }
    std::set<Index> own(operation.reads.begin(), operation.reads.end());
    own.insert(operation.writes.begin(), operation.writes.end());
    double hits = 0;
    for (const Index buffer : std::set<Index>(operation.reads.begin(), operation.reads.end()))
      hits += bytes_of(buffer) * hits_of(buffer, own);
    for (const Index buffer : in_order_of_touch(own)) {
      std::erase_if(order_, [&](const auto& one) { return one.first == buffer; });
      order_.insert(order_.begin(), {buffer, bytes_of(buffer)});
    }
    return std::floor(hits / operation.bytes * 64) / 64;
  }

 private:
  double bytes_of(Index buffer) const {
    return static_cast<double>(program_.buffers[buffer].bytes);
  }
  std::size_t place_of(Index buffer) const {
    const auto found = std::find_if(order_.begin(), order_.end(),
                                    [&](const auto& one) { return one.first == buffer; });
    return static_cast<std::size_t>(found - order_.begin());
  }
  double hits_of(Index buffer, const std::set<Index>& own) const {
    const std::size_t place = place_of(buffer);
    if (place == order_.size()) return 0;
    double footprint = 0;
    for (const Index one : own) footprint += bytes_of(one);
    for (std::size_t i = 0; i < place; ++i)
      if (!own.contains(order_[i].first)) footprint += order_[i].second;
    const double most = 5 * static_cast<double>(gpu_.l2_bytes);
    return footprint > most ? 0 : machine::l2_hits(gpu_, footprint);
  }
  std::vector<Index> in_order_of_touch(const std::set<Index>& own) const {
    std::vector<Index> sorted(own.begin(), own.end());
    std::stable_sort(sorted.begin(), sorted.end(), [&](Index a, Index b) {
      const bool new_a = place_of(a) == order_.size(), new_b = place_of(b) == order_.size();
      if (new_a != new_b) return new_a;
      return !new_a && place_of(a) > place_of(b);
    });
    return sorted;
  }

  const program::Program& program_;
  const machine::Gpu& gpu_;
  std::vector<std::pair<Index, double>> order_;
};

}  // namespace

TEST_CASE("a kernel reads from L2 what the kernel before it wrote, as far as that fits") {
  const auto share = [](std::int64_t bytes) {
    const program::Program program = buffers({bytes, bytes, bytes});
    sim::L2Residency l2(program, h200());
    CHECK(l2.touch(kernel(program, {0}, {1})) == 0);
    return l2.touch(kernel(program, {1}, {2}));
  };
  CHECK(share(kMiB) == 0.5);  // what it writes goes to memory in the end
  CHECK(share(25 * kMiB) == 0.5);
  CHECK(share(35 * kMiB) < 0.5);
  CHECK(share(35 * kMiB) > 0);
  CHECK(share(500 * kMiB) == 0);
}

TEST_CASE("what came between takes room in L2, each buffer once") {
  const program::Program program = buffers({10 * kMiB, 60 * kMiB, kMiB});
  sim::L2Residency l2(program, h200());
  l2.touch(kernel(program, {}, {0}));
  CHECK(l2.touch(kernel(program, {0}, {})) == 1);
  l2.touch(kernel(program, {}, {1}));
  const double after = l2.touch(kernel(program, {0}, {}));
  CHECK(after < 1);
  l2.touch(kernel(program, {}, {2}));
  l2.touch(kernel(program, {}, {2}));
  l2.touch(kernel(program, {}, {2}));
  CHECK(l2.touch(kernel(program, {0}, {})) == 1);
}

TEST_CASE("batch norm finds in L2 what it reads a second time, if the channels at work fit") {
  const auto share = [](std::int64_t side) {
    program::BatchNorm norm{32, 64, side, side};
    const std::int64_t bytes = 4 * norm.batch * norm.channels * side * side;
    const program::Program program = buffers({bytes, bytes});
    program::Operation operation = kernel(program, {0}, {1});
    operation.function = norm;
    operation.bytes += program::second_read(norm, bytes).bytes;
    sim::L2Residency l2(program, h200());
    return l2.touch(operation);
  };
  CHECK(share(14) == 0);                          // read once
  CHECK(share(28) == std::floor(64.0 / 3) / 64);  // of three passes, the second reading
  CHECK(share(112) < share(28) / 2);              // 64 channels of 1.6 MB
}

// PyTorch 2.1, FP32, 131072 rows on an A100 80GB PCIe: 8.50, 12.5 and 20.1 ms; rows that are read
// once take 1.63 TB/s (NeuSight, scripts/asplos/data/dataset/test/softmax.csv).
TEST_CASE("rows that are read three times come from L2 as far as was measured on an A100") {
  const machine::Gpu gpu = machine::load_machine("a100-80-pcie-1").gpu;
  const auto passes = [&](std::int64_t columns) {
    const program::LogSoftmax softmax{131072, columns};
    const std::int64_t bytes = 4 * softmax.rows * softmax.classes;
    const program::Program program = buffers({bytes, bytes});
    program::Operation operation = kernel(program, {0}, {1});
    operation.function = softmax;
    operation.threads = 512;
    operation.bytes += program::second_read(softmax, bytes).bytes;
    sim::L2Residency l2(program, gpu);
    return 4 * (1 - l2.touch(operation));
  };
  CHECK(passes(2048) == Approx(2));
  const auto measured = [](double columns, double seconds) {
    return seconds * 1.6255e12 / (4 * 131072 * columns);
  };
  for (const auto& [columns, seconds] :
       {std::pair{10240, 8.499e-3}, std::pair{12288, 12.517e-3}, std::pair{16384, 20.058e-3}}) {
    CAPTURE(columns);
    CHECK(passes(columns) == Approx(measured(columns, seconds)).epsilon(0.1));
  }
}

TEST_CASE("a GPU whose L2's bandwidth is not known serves nothing from it") {
  machine::Gpu gpu = h200();
  gpu.l2_bytes_per_s = 0;
  const program::Program program = buffers({kMiB});
  sim::L2Residency l2(program, gpu);
  CHECK(l2.touch(kernel(program, {0}, {})) == 0);
  CHECK(l2.touch(kernel(program, {0}, {})) == 0);
}

TEST_CASE("what L2 serves is what a plain list of the buffers says, kernel after kernel") {
  std::mt19937 random(8);
  const auto upto = [&](int most) { return static_cast<int>(random() % unsigned(most + 1)); };
  for (int round = 0; round < 20; ++round) {
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < 3 + upto(30); ++i) sizes.push_back((1 + upto(20)) * kMiB / 2);
    const program::Program program = buffers(sizes);
    sim::L2Residency l2(program, h200());
    PlainResidency plain(program, h200());
    double served = 0;
    for (int k = 0; k < 2000; ++k) {
      std::vector<Index> reads, writes;
      const auto some = [&] {
        return static_cast<Index>(upto(static_cast<int>(sizes.size()) - 1));
      };
      for (int i = upto(3); i > 0; --i) reads.push_back(some());
      for (int i = upto(2); i > 0; --i) writes.push_back(some());
      std::sort(reads.begin(), reads.end());
      reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
      program::Operation one = kernel(program, reads, writes);
      if (reads.empty() && writes.empty()) one.bytes = upto(40) * static_cast<double>(kMiB);
      CAPTURE(round, k);
      const double share = l2.touch(one);
      REQUIRE(share == plain.touch(one));
      served += share;
    }
    CHECK(served > 0);
  }
}
