// Kernels that move numbers one by one: as quick as measured, whatever their type.
#include "train/kernels/one_by_one.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "sim/sm_run.h"
#include "train/build.h"
#include "train/kernels/kernels.h"
#include "train/kernels/launch_shapes.h"

namespace trainscope::train {
namespace {

using program::ElementType;

machine::Gpu gpu_of(const std::string& machine) {
  program::Config config;
  config.set_text("machine=" + machine);
  return machine_of(config).gpu;
}

// Of a kernel of this name alone, in seconds.
double seconds(const std::string& machine, const std::string& kernel, std::int64_t numbers,
               double bytes_each, ElementType type = ElementType::kFp32) {
  program::Program program;
  program::Operation one = pointwise(kernel, "", program::OperationKind::kElementwise, numbers, 1,
                                     bytes_each * static_cast<double>(numbers));
  one.type = type;
  program.operations.push_back(one);
  program.threads.emplace_back().commands.push_back({program::Launch{}});
  const machine::Gpu gpu = gpu_of(machine);
  shape_launches(program, gpu);
  return static_cast<double>(sim::run_alone(program.operations.front(), gpu).kernel) * 1e-9;
}

}  // namespace

TEST_CASE("a kernel that moves numbers one by one takes as long as was measured") {
  struct Measured {
    const char *machine, *kernel;
    std::int64_t numbers;
    double bytes, seconds;
  };
  const std::int64_t scores = std::int64_t{4} * 20 * 1024 * 1024,
                     long_scores = 8 * 32 * 2048 * 2048;
  const Measured all[] = {
      {"a100-80-pcie-1", "elementwise_kernel: where", scores, 8, 453.6e-6},
      {"a100-80-pcie-1", "elementwise_kernel: div", scores, 8, 428.6e-6},
      {"a100-80-pcie-1", "cast", 67108864 - 8388608, 6, 308.6e-6},
      {"a100-80-pcie-1", "dropout", scores, 9, 504.2e-6},
      {"h100-sxm-1", "elementwise_kernel: where", long_scores, 8, 3395e-6},
      {"h100-sxm-1", "elementwise_kernel: div", long_scores, 8, 3430e-6},
      {"h100-sxm-1", "elementwise_kernel: copy", 8 * 2048 * 2048, 8, 112.3e-6},
      {"h100-sxm-1", "dropout", scores, 9, 289.6e-6},
      {"h100-pcie-1", "cast", 536870912 - 134217728, 6, 1672.2e-6},
      // Memory is slower than that here: the label less the time before the kernel.
      {"v100-pcie-1", "elementwise_kernel: where", scores, 8, 842e-6},
  };
  for (const Measured& one : all) {
    CAPTURE(one.machine, one.kernel);
    CHECK(seconds(one.machine, one.kernel, one.numbers, one.bytes) / one.seconds ==
          Approx(1).margin(0.09));
  }
}

TEST_CASE("of kernels that move numbers one by one, 16-bit types are no quicker") {
  for (const char* machine : {"a100-sxm-1", "h100-sxm-1"}) {
    const auto time = [&](const char* kernel, double bytes, ElementType type) {
      return seconds(machine, kernel, std::int64_t{1} << 27, bytes, type);
    };
    const char* strided = "elementwise_kernel: masked_fill";
    CHECK(time(strided, 4, ElementType::kBf16) ==
          Approx(time(strided, 8, ElementType::kFp32)).epsilon(0.01));
    CHECK(time("mul", 4, ElementType::kBf16) < 0.55 * time("mul", 8, ElementType::kFp32));
  }
}

TEST_CASE("no kernel is quicker for moving its numbers one by one") {
  for (const char* machine : {"a100-sxm-1", "h100-sxm-1", "v100-sxm-1", "t4-1", "l4-1", "b200-1"})
    for (const std::int64_t numbers : {1, 1000, 1 << 20, 1 << 26}) {
      CAPTURE(machine, numbers);
      CHECK(seconds(machine, "elementwise_kernel: copy", numbers, 8) >=
            seconds(machine, "vectorized_elementwise_kernel: copy", numbers, 8));
    }
}

TEST_CASE("casts, broadcast operands and transposed copies are moved one by one, in eager code") {
  program::Operation one;
  const auto held_to = [&] { return numbers_per_cycle({}, one, gpu_of("a100-sxm-1")); };
  one.kernel = "add";
  CHECK(held_to() == 0);
  one.function = program::Cast{100};
  CHECK(held_to() == kOneByOne);
  one.compiled = true;
  CHECK(held_to() == 0);
  one = {};
  one.kernel = "elementwise_kernel: where";
  CHECK(held_to() == kOneByOne);
  one.kernel = "vectorized_elementwise_kernel: copy";
  CHECK(held_to() == 0);
  one.function = program::Dropout{};
  CHECK(held_to() == kDrawn);
}

TEST_CASE("from 9.0 on a cast to a shorter type loads vectors, and one to a longer type does not") {
  const std::int64_t numbers = 536870912 - 134217728;
  const auto cast = [&](const char* machine, ElementType from, ElementType to) {
    program::Program program;
    for (const ElementType type : {from, to}) {
      program::Buffer& buffer = program.buffers.emplace_back();
      buffer.type = type;
      buffer.bytes = numbers * program::size_of(type);
      buffer.kind = program::MemoryKind::kDevice;
    }
    program.operations.push_back(make_operation(program, program::Cast{numbers}, to, {{0}, {1}}));
    program.threads.emplace_back().commands.push_back({program::Launch{}});
    const machine::Gpu gpu = gpu_of(machine);
    shape_launches(program, gpu);
    return static_cast<double>(sim::run_alone(program.operations.front(), gpu).kernel) * 1e-9;
  };
  // pytorch/pytorch#137053, "after": two sizes.
  CHECK(cast("h100-pcie-1", ElementType::kFp32, ElementType::kFp16) / 1298.3e-6 ==
        Approx(1).margin(0.09));
  for (const char* machine : {"h100-sxm-1", "h200-1", "b200-1"}) {
    CAPTURE(machine);
    const double shorter = cast(machine, ElementType::kFp32, ElementType::kBf16);
    CHECK(shorter < 0.9 * cast(machine, ElementType::kBf16, ElementType::kFp32));
  }
  const double down = cast("a100-sxm-1", ElementType::kFp32, ElementType::kBf16);
  CHECK(down == Approx(cast("a100-sxm-1", ElementType::kBf16, ElementType::kFp32)).epsilon(0.01));
}

}  // namespace trainscope::train
