// Our occupancy against NVIDIA's own rules: the header cuda_occupancy.h where a toolkit is, and
// always what that header said of the kernels in tests/golden/occupancy.csv.
#include "machine/occupancy.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <sstream>

#include "base/error.h"
#include "machine/architecture.h"
#include "machine/shipped_gpus.h"

#ifdef TRAINSCOPE_HAS_CUDA_OCCUPANCY
#include <cuda_occupancy.h>
#else
#include "support/skip.h"
#endif

using namespace trainscope;
using namespace trainscope::machine;
using Catch::Matchers::Contains;

namespace {

const char* const kGolden = TRAINSCOPE_SOURCE_DIR "/tests/golden/occupancy.csv";

Gpu gpu_named(const std::string& machine) {
  return load_machine(machine).gpu;
}

// Half of all kernels are of sizes that people write, the others of any size.
LaunchShape random_shape(std::mt19937& random) {
  const auto upto = [&](int most) { return static_cast<int>(random() % (unsigned(most) + 1)); };
  LaunchShape shape;
  const bool usual = upto(1) == 0;
  shape.threads = usual ? 32 * (1 + upto(31)) : 1 + upto(1023);
  shape.registers = usual ? 16 + 8 * upto(14) : upto(255);
  const int shared[] = {0, 0, 0, 1 << 10, 8 << 10, 16 << 10, 48 << 10, 228 << 10};
  shape.dynamic_shared = upto(shared[upto(7)]);
  shape.static_shared = upto(4) == 0 ? upto(48 << 10) : 0;
  shape.carve_out = upto(2) == 0 ? upto(100) : -1;
  return shape;
}

std::string refusal(const std::string& machine, const LaunchShape& shape) {
  try {
    check_launch(gpu_named(machine), shape);
  } catch (const InputError& error) {
    return error.what();
  }
  return "launched";
}

// As the header counts them: warps 1, registers 2, shared memory 4, blocks 8.
unsigned bits(const Occupancy& result) {
  unsigned bits = 0;
  for (const Limiter limiter : result.limiters) bits |= 1U << static_cast<unsigned>(limiter);
  return bits;
}

#ifdef TRAINSCOPE_HAS_CUDA_OCCUPANCY

cudaOccDeviceProp properties_of(const Gpu& gpu) {
  const Architecture& architecture = architecture_of(gpu);
  cudaOccDeviceProp properties;
  properties.computeMajor = architecture.capability / 10;
  properties.computeMinor = architecture.capability % 10;
  properties.maxThreadsPerBlock = kMostThreads;
  properties.maxThreadsPerMultiprocessor = gpu.threads_per_sm;
  properties.regsPerBlock = gpu.registers_per_sm;
  properties.regsPerMultiprocessor = gpu.registers_per_sm;
  properties.warpSize = kWarp;
  properties.sharedMemPerBlock = 48 << 10;
  properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(gpu.shared_bytes_per_sm);
  properties.numSms = gpu.sm_count;
  properties.sharedMemPerBlockOptin = static_cast<std::size_t>(architecture.most_shared);
  properties.reservedSharedMemPerBlock = static_cast<std::size_t>(architecture.reserved_shared);
  return properties;
}

cudaOccResult nvidia(const cudaOccDeviceProp& properties, const LaunchShape& shape) {
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = kMostThreads;
  attributes.numRegs = shape.registers;
  attributes.sharedSizeBytes = static_cast<std::size_t>(shape.static_shared);
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = static_cast<std::size_t>(shape.dynamic_shared);
  attributes.numBlockBarriers = 1;
  attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
  attributes.virtualResourceCount = 0;
  cudaOccDeviceState state;
  state.carveoutConfig = shape.carve_out;
  cudaOccResult result;
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &properties, &attributes, &state, shape.threads,
      static_cast<std::size_t>(shape.dynamic_shared));
  // The header knows no size of shared memory above the largest: a block that asks for more.
  if (error != CUDA_OCC_SUCCESS) {
    result.activeBlocksPerMultiprocessor = 0;
    result.limitingFactors = OCC_LIMIT_SHARED_MEMORY;
  }
  return result;
}

constexpr unsigned kOurFactors =
    OCC_LIMIT_WARPS | OCC_LIMIT_REGISTERS | OCC_LIMIT_SHARED_MEMORY | OCC_LIMIT_BLOCKS;

#endif

}  // namespace

TEST_CASE("occupancy is what NVIDIA's header says, for every GPU of the catalogue") {
#ifdef TRAINSCOPE_HAS_CUDA_OCCUPANCY
  const std::vector<Gpu> gpus = test::shipped_gpus();
  const int kernels = 1'200'000 / static_cast<int>(gpus.size()) + 1;
  std::mt19937 random(20);
  std::int64_t compared = 0, wrong = 0, refused = 0;
  for (const Gpu& gpu : gpus) {
    const cudaOccDeviceProp properties = properties_of(gpu);
    for (int i = 0; i < kernels; ++i) {
      const LaunchShape shape = random_shape(random);
      const Occupancy ours = occupancy(gpu, shape);
      const cudaOccResult theirs = nvidia(properties, shape);
      ++compared;
      refused += theirs.activeBlocksPerMultiprocessor == 0;
      if (ours.blocks_per_sm == theirs.activeBlocksPerMultiprocessor &&
          (bits(ours) == (theirs.limitingFactors & kOurFactors) || ours.blocks_per_sm == 0))
        continue;
      if (++wrong > 10) continue;
      CAPTURE(gpu.name, shape.threads, shape.registers, shape.static_shared, shape.dynamic_shared,
              shape.carve_out, theirs.limitingFactors, bits(ours));
      CHECK(ours.blocks_per_sm == theirs.activeBlocksPerMultiprocessor);
    }
  }
  CHECK(wrong == 0);
  CHECK(compared >= 1'000'000);
  CHECK(refused > 1000);  // blocks that are too large are among them
  CHECK(refused < compared / 2);
#else
  TRAINSCOPE_SKIP("no CUDA toolkit's cuda_occupancy.h on this machine");
#endif
}

#ifdef TRAINSCOPE_HAS_CUDA_OCCUPANCY
// tests_machine "writes the golden occupancies" writes the file anew.
TEST_CASE("writes the golden occupancies", "[.golden]") {
  std::mt19937 random(7);
  std::ofstream file(kGolden);
  file << "# machine,threads,registers,static_shared,dynamic_shared,carve_out,blocks of an SM\n"
          "# as cuda_occupancy.h of CUDA 13.0 counts them\n";
  for (const char* machine : {"t4-1", "v100-sxm-1", "a100-sxm-1", "rtx3090-1", "rtx4090-1",
                              "h100-sxm-1", "b200-1", "rtx5090-1"}) {
    const cudaOccDeviceProp properties = properties_of(gpu_named(machine));
    for (int i = 0; i < 40; ++i) {
      const LaunchShape shape = random_shape(random);
      file << machine << ',' << shape.threads << ',' << shape.registers << ','
           << shape.static_shared << ',' << shape.dynamic_shared << ',' << shape.carve_out << ','
           << nvidia(properties, shape).activeBlocksPerMultiprocessor << '\n';
    }
  }
}
#endif

TEST_CASE("occupancy is what NVIDIA's header said of the golden kernels") {
  std::ifstream file(kGolden);
  int compared = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    CAPTURE(line);
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    std::string machine;
    LaunchShape shape;
    int blocks = -1;
    fields >> machine >> shape.threads >> shape.registers >> shape.static_shared >>
        shape.dynamic_shared >> shape.carve_out >> blocks;
    CHECK(occupancy(gpu_named(machine), shape).blocks_per_sm == blocks);
    ++compared;
  }
  CHECK(compared == 320);
}

TEST_CASE("33 registers at 1,024 threads halve what 32 give: the cliff") {
  const Gpu a100 = gpu_named("a100-sxm-1");
  LaunchShape shape;
  shape.threads = 1024;
  shape.registers = 32;
  const Occupancy full = occupancy(a100, shape);
  CHECK(full.blocks_per_sm == 2);
  CHECK(full.theoretical == 1.0);
  CHECK(full.limiters == std::vector{Limiter::kWarps, Limiter::kRegisters});
  shape.registers = 33;
  const Occupancy half = occupancy(a100, shape);
  CHECK(half.blocks_per_sm == 1);
  CHECK(half.theoretical == 0.5);
  CHECK(half.limiters == std::vector{Limiter::kRegisters});
}

TEST_CASE("one block more than fits at once is a wave more") {
  const Gpu a100 = gpu_named("a100-sxm-1");
  LaunchShape shape;
  shape.threads = 1024;
  shape.registers = 64;
  const Occupancy one = occupancy(a100, shape);
  shape.blocks = 108;
  CHECK(waves(a100, shape, one) == 1);
  shape.blocks = 109;
  CHECK(waves(a100, shape, one) == 2);
}

TEST_CASE("a launch that CUDA would refuse is refused with the limit, its value and the GPU") {
  LaunchShape shape;
  shape.threads = 1025;
  CHECK_THAT(refusal("a100-sxm-1", shape),
             Contains("NVIDIA A100 SXM 80 GB cannot launch a block of 1025 threads") &&
                 Contains("1 to 1024") && Contains("cudaErrorInvalidConfiguration"));
  shape = {};
  shape.registers = 256;
  CHECK_THAT(refusal("a100-sxm-1", shape), Contains("256 registers") && Contains("at most 255"));
  shape = {};
  shape.dynamic_shared = (163 << 10) + 1;
  CHECK_THAT(refusal("a100-sxm-1", shape),
             Contains("166913 B") && Contains("166912 B") && Contains("cudaErrorInvalidValue"));
  shape.dynamic_shared = 163 << 10;
  CHECK(refusal("a100-sxm-1", shape) == "launched");
  CHECK_THAT(refusal("t4-1", shape), Contains("NVIDIA T4") && Contains("65536 B"));
  shape = {};
  shape.threads = 1024;
  shape.registers = 65;
  CHECK_THAT(refusal("a100-sxm-1", shape), Contains("1024 threads with 65 registers") &&
                                               Contains("65536 registers") &&
                                               Contains("cudaErrorLaunchOutOfResources"));
  shape = {};
  shape.blocks = 0;
  CHECK_THAT(refusal("a100-sxm-1", shape), Contains("0 blocks") && Contains("2147483647"));
  shape.blocks = std::int64_t{1} << 31;
  CHECK_THAT(refusal("a100-sxm-1", shape), Contains("2147483648 blocks"));
  shape = {};
  shape.cluster = 2;
  CHECK_THAT(refusal("h100-sxm-1", shape), Contains("clusters of 2 blocks"));
}

TEST_CASE("a GPU of an unknown architecture is refused by its compute capability") {
  Gpu gpu = gpu_named("a100-sxm-1");
  gpu.compute_capability = 6.1;
  CHECK_THROWS_WITH(occupancy(gpu, {}), Contains("compute capability 6.1") && Contains("7.0"));
}

TEST_CASE("the blocks that an SM holds are the architecture's, in every GPU file") {
  for (const Gpu& gpu : test::shipped_gpus()) {
    CAPTURE(gpu.name);
    CHECK(gpu.blocks_per_sm == architecture_of(gpu).blocks_per_sm);
    CHECK(gpu.shared_bytes_per_sm == architecture_of(gpu).carve_outs.back());
  }
}
