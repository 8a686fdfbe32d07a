#include "machine/convolution.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "shipped_gpus.h"

namespace trainscope::machine {
namespace {

Gpu gpu_of(const char* machine) {
  return load_machine(machine).gpu;
}

// 64 channels to 64 on 56 x 56 pixels, a batch of 32.
ConvolutionShape layer(GemmType type, std::int64_t kernel = 3) {
  ConvolutionShape shape;
  shape.batch = 32;
  shape.channels = shape.outputs = 64;
  shape.height = shape.width = 56;
  shape.kernel = kernel;
  shape.padding = kernel / 2;
  shape.type = type;
  return shape;
}

const ConvolutionKernel& computing(const ConvolutionPlan& plan) {
  return *std::ranges::find_if(plan.kernels, &ConvolutionKernel::computes);
}

std::size_t turns(const ConvolutionPlan& plan) {
  return static_cast<std::size_t>(std::ranges::count_if(
      plan.kernels, [](const ConvolutionKernel& kernel) { return !kernel.computes; }));
}

ConvolutionShape random_layer(std::mt19937& random) {
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  ConvolutionShape shape;
  shape.groups = any(0, 3) == 0 ? std::int64_t{1} << any(1, 5) : 1;
  shape.batch = any(1, 64);
  shape.channels = shape.groups * any(1, 64);
  shape.outputs = shape.groups * any(1, 64);
  shape.height = shape.width = any(3, 64);
  shape.kernel = 1 + 2 * any(0, 1);
  shape.stride = any(1, 2);
  shape.padding = shape.kernel / 2;
  shape.channels_last = any(0, 1) == 1;
  shape.part = static_cast<ConvolutionPart>(any(0, 2));
  shape.type = static_cast<GemmType>(any(0, 2));
  return shape;
}

}  // namespace

TEST_CASE("Every way to compute a convolution asks for the same operations, in one kernel") {
  std::mt19937 random(5);
  for (const char* machine : {"v100-sxm-1", "a100-sxm-1", "h200-1", "t4-1"}) {
    const Gpu gpu = gpu_of(machine);
    for (int i = 0; i < 200; ++i) {
      const ConvolutionShape shape = random_layer(random);
      const auto plans = convolution_plans(gpu, shape);
      REQUIRE(plans.size() >= 1);
      CHECK(plans.size() <= kMostTried);
      const double pixels =
          static_cast<double>(shape.batch * shape.out_height() * shape.out_width() * shape.outputs);
      const double window = static_cast<double>(shape.channels / shape.groups) *
                            static_cast<double>(shape.kernel * shape.kernel);
      for (const ConvolutionPlan& plan : plans) {
        CHECK(std::ranges::count_if(plan.kernels, &ConvolutionKernel::computes) == 1);
        CHECK(computing(plan).flops == Approx(2 * pixels * window));
        CHECK(computing(plan).efficiency > 0);
        CHECK(plan.nanos > 0);
        CHECK(fastest(plans).nanos <= plan.nanos);
      }
      CHECK(plans.front().kernels.front().name ==
            plan_convolution(gpu, shape).kernels.front().name);
    }
  }
}

TEST_CASE("Only Winograd reaches more than its unit's usual share, and never 2.25 times as much") {
  std::mt19937 random(7);
  const Gpu gpu = gpu_of("v100-sxm-1");
  int of_winograd = 0, others = 0;
  for (int i = 0; i < 500; ++i)
    for (const ConvolutionPlan& plan : convolution_plans(gpu, random_layer(random))) {
      ++(plan.algorithm.starts_with("Winograd") ? of_winograd : others);
      INFO(computing(plan).name);
      const double most =
          plan.algorithm == "depthwise" ? 1 : product_share(gpu, computing(plan).math);
      CHECK(computing(plan).efficiency <=
            most * (plan.algorithm.starts_with("Winograd") ? 36.0 / 16 : 1 + 1e-9));
    }
  CHECK(of_winograd > 0);
  CHECK(others > 0);
}

TEST_CASE("Tensor cores want channels innermost, FP32's kernels pixels") {
  const Gpu v100 = gpu_of("v100-sxm-1");
  ConvolutionShape shape = layer(GemmType::kFp16);
  const ConvolutionPlan turned = plan_convolution(v100, shape);
  CHECK(turns(turned) == 2);  // the image and the weight; the result is written as it shall lie
  CHECK(turned.kernels.front().name == "nchwToNhwc");
  CHECK(turned.kernels.back().computes);
  shape.channels_last = true;
  CHECK(turns(plan_convolution(v100, shape)) == 0);
  shape.type = GemmType::kFp32;
  CHECK(turns(plan_convolution(v100, shape)) == 3);
  shape.channels_last = false;
  CHECK(turns(plan_convolution(v100, shape)) == 0);
  ConvolutionShape back = layer(GemmType::kTf32);
  CHECK(turns(plan_convolution(gpu_of("a100-sxm-1"), back)) == 2);
  back.part = ConvolutionPart::kInputGradient;
  const ConvolutionPlan gradient = plan_convolution(gpu_of("a100-sxm-1"), back);
  CHECK(turns(gradient) == 3);
  CHECK(gradient.kernels.back().name == "nhwcToNchw");
}

// As in the trace of ResNet-50 on an A100, of which the images of the last blocks have 49 pixels.
TEST_CASE(
    "A window of one pixel is a matrix product as its numbers lie, if rows begin at 16 bytes") {
  const Gpu a100 = gpu_of("a100-sxm-1");
  ConvolutionShape shape = layer(GemmType::kTf32, 1);
  for (const auto part : {ConvolutionPart::kForward, ConvolutionPart::kInputGradient}) {
    shape.part = part;
    const ConvolutionPlan plan = plan_convolution(a100, shape);
    CHECK(plan.algorithm == "GEMM");
    CHECK(plan.kernels.size() == 1);
    CHECK(plan.workspace == 0);
  }
  shape.part = ConvolutionPart::kWeightGradient;
  const ConvolutionPlan summed = plan_convolution(a100, shape);
  REQUIRE(summed.kernels.size() == 2);
  CHECK(summed.kernels.back().name == "reduce_wgrad_nchw");
  CHECK(summed.workspace == 32 * 64 * 64 * 4);

  const auto algorithm = [&](const char* machine, auto change) {
    ConvolutionShape other = layer(GemmType::kTf32, 1);
    change(other);
    return plan_convolution(gpu_of(machine), other).algorithm;
  };
  CHECK(algorithm("a100-sxm-1", [](ConvolutionShape& one) { one.height = one.width = 7; }) ==
        "implicit GEMM");
  CHECK(algorithm("a100-sxm-1", [](ConvolutionShape& one) { one.stride = 2; }) == "implicit GEMM");
  CHECK(algorithm("a100-sxm-1", [](ConvolutionShape& one) { one.channels_last = true; }) ==
        "implicit GEMM");
  CHECK(algorithm("v100-sxm-1", [](ConvolutionShape& one) { one.type = GemmType::kFp16; }) ==
        "implicit GEMM");
  CHECK(algorithm("a100-sxm-1", [](ConvolutionShape& one) { one.type = GemmType::kFp16; }) ==
        "GEMM");
}

TEST_CASE("A weight of single pixels is turned round where it is read, though it lies the same") {
  ConvolutionShape shape = layer(GemmType::kFp16, 1);
  const Gpu v100 = gpu_of("v100-sxm-1");
  CHECK(turns(plan_convolution(v100, shape)) == 2);
  shape.part = ConvolutionPart::kWeightGradient;
  CHECK(turns(plan_convolution(v100, shape)) == 2);  // both images, not the weight
  // Of its squares of 32 x 32 numbers a 32nd is there: their instructions take longer than memory.
  const Gpu a100 = gpu_of("a100-sxm-1");
  shape = layer(GemmType::kTf32, 1);
  shape.channels = 512;
  shape.outputs = 2048;
  shape.height = shape.width = 7;
  const ConvolutionPlan plan = plan_convolution(a100, shape);
  REQUIRE(turns(plan) == 2);
  CHECK(plan.kernels[1].turns == ConvolutionTensor::kSecond);
  CHECK(plan.kernels[1].blocks == 2048 * 16);
}

TEST_CASE(
    "Of a picture's three channels TF32 has no whole 16 bytes, and FP32's kernel reads them") {
  ConvolutionShape shape = layer(GemmType::kTf32, 7);
  shape.channels = 3;
  const Gpu a100 = gpu_of("a100-sxm-1");
  CHECK(computing(plan_convolution(a100, shape)).math == Math::kFp32);
  shape.channels = 4;
  CHECK(computing(plan_convolution(a100, shape)).math == Math::kTensorTf32);
  shape.channels = 3;
  shape.part = ConvolutionPart::kWeightGradient;
  CHECK(computing(plan_convolution(a100, shape)).math == Math::kTensorTf32);
}

TEST_CASE("On tensor cores a part of the shorter time is beside the longer one") {
  std::mt19937 random(11);
  const Gpu a100 = gpu_of("a100-sxm-1");
  int kernels = 0;
  for (int i = 0; i < 500; ++i)
    for (const ConvolutionPlan& plan : convolution_plans(a100, random_layer(random)))
      for (const ConvolutionKernel& kernel : plan.kernels) {
        if (!kernel.computes || kernel.math == Math::kFp32 ||
            plan.algorithm.starts_with("Winograd"))
          continue;
        INFO(kernel.name);
        const double memory =
            kernel.bytes / (a100.memory_bytes_per_s * a100.memory_efficiency) * 1e9;
        const double at_work = std::min(1.0, static_cast<double>(kernel.blocks) / a100.sm_count);
        const double arithmetic =
            kernel.flops / (*peak_flops_per_s(a100, kernel.math) * kernel.efficiency * at_work) *
            1e9;
        const double whole = arithmetic / kernel.kept;
        CHECK(whole >= Approx(std::max(memory, arithmetic)));
        CHECK(whole <= Approx(memory + arithmetic));
        CHECK(whole > std::max(memory, arithmetic));
        ++kernels;
      }
  CHECK(kernels > 0);
}

// PyTorch, Channels Last Memory Format: over 22 % for ResNet-50 with mixed precision; and of FP32,
// pytorch#44943: channels last is expected to help FP16 only, and was slower on a V100.
TEST_CASE("Channels last helps a convolution in FP16, and slows one in FP32") {
  const Gpu v100 = gpu_of("v100-sxm-1");
  for (const std::int64_t kernel : {1, 3})
    for (const auto part : {ConvolutionPart::kForward, ConvolutionPart::kInputGradient,
                            ConvolutionPart::kWeightGradient}) {
      ConvolutionShape half = layer(GemmType::kFp16, kernel), full = layer(GemmType::kFp32, kernel);
      half.part = full.part = part;
      const double half_first = plan_convolution(v100, half).nanos;
      const double full_first = plan_convolution(v100, full).nanos;
      half.channels_last = full.channels_last = true;
      CHECK(plan_convolution(v100, half).nanos < half_first);
      CHECK(plan_convolution(v100, full).nanos > full_first);
    }
}

TEST_CASE("A group of few channels leaves most of a tile empty") {
  const Gpu v100 = gpu_of("v100-sxm-1");
  ConvolutionShape whole = layer(GemmType::kFp32);
  whole.channels = whole.outputs = 128;
  ConvolutionShape grouped = whole;
  grouped.groups = 32;
  CHECK(computing(plan_convolution(v100, grouped)).efficiency <
        0.2 * computing(plan_convolution(v100, whole)).efficiency);
}

TEST_CASE("Winograd is for 3 x 3 windows at stride 1, and in FP32 the heuristic takes it") {
  const Gpu v100 = gpu_of("v100-sxm-1");
  const auto plans = convolution_plans(v100, layer(GemmType::kFp32));
  CHECK(plans.front().algorithm == "Winograd");
  CHECK(fastest(plans).algorithm == "Winograd");
  const auto product = std::ranges::find(plans, "implicit GEMM", &ConvolutionPlan::algorithm);
  REQUIRE(product != plans.end());
  CHECK(plans.front().nanos < 0.7 * product->nanos);
  CHECK(plan_convolution(gpu_of("a100-sxm-1"), layer(GemmType::kTf32)).algorithm ==
        "implicit GEMM");
  const auto has = [](const std::vector<ConvolutionPlan>& all) {
    return std::ranges::any_of(
        all, [](const ConvolutionPlan& plan) { return plan.algorithm.starts_with("Winograd"); });
  };
  ConvolutionShape strided = layer(GemmType::kFp32);
  strided.stride = 2;
  CHECK_FALSE(has(convolution_plans(v100, strided)));
  CHECK_FALSE(has(convolution_plans(v100, layer(GemmType::kFp32, 1))));
}

TEST_CASE("A weight's gradient fills the GPU by parts of the sum over pixels") {
  const Gpu v100 = gpu_of("v100-sxm-1");
  ConvolutionShape shape = layer(GemmType::kFp32);
  shape.part = ConvolutionPart::kWeightGradient;
  CHECK(computing(plan_convolution(v100, shape)).blocks > v100.sm_count / 2);
}

TEST_CASE("A convolution of single channels has nothing for tensor cores") {
  ConvolutionShape shape = layer(GemmType::kFp16);
  shape.groups = 64;
  shape.channels_last = true;
  const auto plans = convolution_plans(gpu_of("h200-1"), shape);
  REQUIRE(plans.size() == 1);
  CHECK(computing(plans.front()).math == Math::kFp32);
}

}  // namespace trainscope::machine
