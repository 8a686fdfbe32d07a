// The emulator gives kernels what the CUDA C++ Programming Guide says, and refuses what it leaves
// undefined.
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "kernels/block.cuh"
#include "kernels/pack.cuh"

using namespace trainscope;
using namespace trainscope::kernels;
using Catch::Matchers::Contains;

namespace {

Shape shape(unsigned blocks, unsigned threads, std::size_t shared = 0) {
  return {{blocks, 1, 1}, {threads, 1, 1}, shared};
}

__global__ void write_indices(std::vector<int>* counts) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  ++(*counts)[block * threads + thread];
}

__global__ void reverse_in_shared(int* values) {
  __shared__ int kept[64];
  kept[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
}

__global__ void reverse_without_barrier(int* values) {
  __shared__ int kept[64];
  kept[threadIdx.x] = values[threadIdx.x];
  values[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
}

__global__ void half_a_barrier() {
  if (threadIdx.x < 7) return;
  __syncthreads();
}

__global__ void two_barriers() {
  if (threadIdx.x < 7) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void lost_lane(float* value) {
  if (threadIdx.x == 3) return;
  *value = __shfl_xor_sync(kAllLanes, 1.0F, 1);
}

__global__ void unnamed_lane(float* value) {
  if (threadIdx.x < 16) *value = __shfl_sync(0xffffU, 1.0F, 20);
}

__global__ void exchanges(int* results) {
  const int lane = static_cast<int>(threadIdx.x);
  int* own = results + 6 * lane;
  own[0] = __shfl_sync(kAllLanes, lane, 5);
  own[1] = __shfl_up_sync(kAllLanes, lane, 3);
  own[2] = __shfl_down_sync(kAllLanes, lane, 3);
  own[3] = __shfl_xor_sync(kAllLanes, lane, 9);
  own[4] = static_cast<int>(__ballot_sync(kAllLanes, lane % 3 == 0));
  // The halves of a warp meet apart.
  const unsigned half = lane < 16 ? 0xffffU : 0xffff0000U;
  own[5] = __any_sync(half, lane == 20) + 2 * __all_sync(half, lane < 16);
}

__global__ void votes(int* results) {
  results[2 * threadIdx.x] = __syncthreads_count(threadIdx.x % 5 == 0);
  results[2 * threadIdx.x + 1] = __syncthreads_or(threadIdx.x == 1000);
}

__global__ void count_atomically(unsigned* total, int* largest, unsigned* first) {
  atomicAdd(total, 1U);
  atomicMax(largest, static_cast<int>(threadIdx.x));
  atomicCAS(first, 0U, 1U + threadIdx.x);
}

__global__ void sum_of_block(const float* values, float* totals) {
  const float total = block_sum(values[threadIdx.x]);
  totals[threadIdx.x] = total + block_max(values[threadIdx.x]);
}

__global__ void read_pack(const float* from, float* to) {
  *to = load_pack<4>(from).values[0];
}

__global__ void stop() {
  if (threadIdx.x == 2) __trap();
  __syncthreads();
}

__global__ void read_fresh_shared(float* value) {
  *value = static_cast<float*>(emulator::dynamic_shared())[threadIdx.x];
}

}  // namespace

TEST_CASE("every thread of every block runs once, whatever the order") {
  for (const std::uint64_t seed : {0, 1, 2}) {
    std::vector<int> counts(2 * 3 * 2 * 4 * 5 * 2);
    launch("write_indices", write_indices, Stream{seed}, {{2, 3, 2}, {4, 5, 2}}, &counts);
    CHECK(counts == std::vector<int>(counts.size(), 1));
  }
}

TEST_CASE("a barrier parts what is written from what is read") {
  for (const std::uint64_t seed : {0, 1, 2}) {
    std::vector<int> values(64);
    std::iota(values.begin(), values.end(), 0);
    launch("reverse_in_shared", reverse_in_shared, Stream{seed}, shape(1, 64), values.data());
    for (int i = 0; i < 64; ++i) CHECK(values[static_cast<std::size_t>(i)] == 63 - i);
  }
}

TEST_CASE("without a barrier results depend on the order, which a seed shows") {
  std::vector<std::vector<int>> results;
  for (const std::uint64_t seed : {1, 2}) {
    results.emplace_back(64);
    std::iota(results.back().begin(), results.back().end(), 1);
    launch("race", reverse_without_barrier, Stream{seed}, shape(1, 64), results.back().data());
  }
  CHECK(results[0] != results[1]);
}

TEST_CASE("a barrier that some threads do not reach names kernel, line and thread") {
  for (const std::uint64_t seed : {0, 1}) {
    CHECK_THROWS_WITH(launch("half_a_barrier", half_a_barrier, Stream{seed}, shape(1, 32)),
                      Contains("kernel half_a_barrier: thread (7, 0, 0) of block (0, 0, 0)") &&
                          Contains("a barrier, kernels/emulator_test.cpp:") &&
                          Contains("25 of 32 threads reached a barrier, 7 ended"));
  }
  CHECK_THROWS_WITH(launch("two_barriers", two_barriers, Stream{}, shape(1, 32)),
                    Contains("waits at another barrier"));
}

TEST_CASE("an exchange that a lane never joins or does not name is refused") {
  float value = 0;
  CHECK_THROWS_WITH(launch("lost_lane", lost_lane, Stream{}, shape(1, 32), &value),
                    Contains("waits for ever at an exchange of its warp"));
  CHECK_THROWS_WITH(launch("lost_lane", lost_lane, Stream{}, shape(1, 24), &value),
                    Contains("names lane 24, which the warp does not have"));
  CHECK_THROWS_WITH(launch("unnamed_lane", unnamed_lane, Stream{}, shape(1, 32), &value),
                    Contains("reads from lane 20, which the mask does not name"));
}

TEST_CASE("lanes of a warp read one another's values") {
  for (const std::uint64_t seed : {0, 1, 2}) {
    std::vector<int> results(6 * 32);
    launch("exchanges", exchanges, Stream{seed}, shape(1, 32), results.data());
    for (int lane = 0; lane < 32; ++lane) {
      const int* own = &results[static_cast<std::size_t>(6 * lane)];
      CHECK(own[0] == 5);
      CHECK(own[1] == (lane < 3 ? lane : lane - 3));
      CHECK(own[2] == (lane > 28 ? lane : lane + 3));
      CHECK(own[3] == (lane ^ 9));
      CHECK(own[4] == 0x49249249);
      CHECK(own[5] == (lane < 16 ? 2 : 1));
    }
  }
}

TEST_CASE("a barrier counts what its threads say") {
  std::vector<int> results(2 * 70);
  launch("votes", votes, Stream{3}, shape(1, 70), results.data());
  for (std::size_t t = 0; t < 70; ++t) {
    CHECK(results[2 * t] == 14);
    CHECK(results[2 * t + 1] == 0);
  }
}

TEST_CASE("atomics see every thread") {
  unsigned total = 0;
  int largest = -1;
  unsigned first = 0;
  launch("count", count_atomically, Stream{4}, shape(3, 50), &total, &largest, &first);
  CHECK(total == 150);
  CHECK(largest == 49);
  CHECK(first >= 1);
}

TEST_CASE("a block's sum and largest value reach all its threads") {
  for (const unsigned threads : {32U, 64U, 256U, 1024U}) {
    std::vector<float> values(threads);
    std::iota(values.begin(), values.end(), 1.0F);
    std::vector<float> totals(threads);
    launch("sum_of_block", sum_of_block, Stream{threads}, shape(1, threads), values.data(),
           totals.data());
    const auto n = static_cast<float>(threads);
    CHECK(totals == std::vector<float>(threads, n * (n + 1) / 2 + n));
  }
}

TEST_CASE("a load of several values must be aligned") {
  alignas(16) float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  float value = 0;
  launch("read_pack", read_pack, Stream{}, shape(1, 1), values + 4, &value);
  CHECK(value == 5);
  CHECK_THROWS_WITH(launch("read_pack", read_pack, Stream{}, shape(1, 1), values + 1, &value),
                    Contains("kernel read_pack") && Contains("not aligned"));
}

TEST_CASE("a trap ends the grid, also where others wait") {
  CHECK_THROWS_WITH(launch("stop", stop, Stream{}, shape(2, 64)),
                    Contains("kernel stop, thread (2, 0, 0)") && Contains("__trap()"));
}

TEST_CASE("shared memory holds nothing when a block begins") {
  float value = 0;
  launch("read_fresh_shared", read_fresh_shared, Stream{}, shape(1, 1, 4), &value);
  CHECK(std::isnan(value));
}

TEST_CASE("a launch beyond what a device allows is refused") {
  std::vector<int> counts;
  CHECK_THROWS_WITH(launch("large", write_indices, Stream{}, shape(1, 1025), &counts),
                    "kernel large: a block has 1 to 1024 threads, at most 64 deep");
  CHECK_THROWS_WITH(launch("none", write_indices, Stream{}, shape(0, 32), &counts),
                    "kernel none: a grid has at least one block");
  CHECK_THROWS_WITH(launch("full", write_indices, Stream{}, shape(1, 32, 70000), &counts),
                    "kernel full: a block has at most 64 KiB of shared memory");
}
