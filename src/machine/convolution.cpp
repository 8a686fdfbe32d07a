#include "machine/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/whole.h"
#include "machine/architecture.h"
#include "machine/convolution_tiles.h"

namespace trainscope::machine {
namespace {

using Part = ConvolutionPart;
using Tensor = ConvolutionTensor;

constexpr std::int64_t kTensorBytes = 16;  // a run of k that tensor cores want whole
constexpr std::int64_t kSectorBytes = 32;
constexpr std::int64_t kElementsABlock = 1024;  // of kernels that move memory only

// Kernels that turn a tensor round take squares of 32 x 32 numbers, a block each, as their grids
// say; where only part of a square is there, its instructions are left. A block of 256 threads
// then takes an A100's SM 216 ns in the trace of kL2Share: 75 instructions a thread on 64 lanes.
// Assumed: that they run as FP32's do, twice as fast where an SM has 128 lanes for these.
constexpr std::int64_t kTurnedSide = 32;
constexpr double kTurningInstructions = 256 * 75;
constexpr std::int64_t kFloat = 4;

double memory_nanos(const Gpu& gpu, const ConvolutionKernel& kernel) {
  return kernel.bytes / (gpu.memory_bytes_per_s * gpu.memory_efficiency) * 1e9;
}
double arithmetic_nanos(const Gpu& gpu, const ConvolutionKernel& kernel) {
  if (kernel.efficiency <= 0)
    return 2 * kernel.block_instructions * of(kernel.blocks) / gpu.fp32_flops_per_s * 1e9;
  return kernel.flops / (*peak_flops_per_s(gpu, kernel.math) * kernel.efficiency) * 1e9 /
         std::min(1.0, of(kernel.blocks) / gpu.sm_count);
}

double kernel_nanos(const Gpu& gpu, const ConvolutionKernel& kernel) {
  return std::max({memory_nanos(gpu, kernel), arithmetic_nanos(gpu, kernel) / kernel.kept,
                   static_cast<double>(gpu.kernel_floor_ns)});
}

// On tensor cores a tile is soon done: it loads before it multiplies and stores after it, and the
// few blocks beside it on its SM do not hide all of that. The share of the shorter of both times
// that is left, fitted as kL2Share of convolution_tiles.cpp.
constexpr double kApart = 0.4;

double kept(const Gpu& gpu, const ConvolutionKernel& kernel) {
  const double memory = memory_nanos(gpu, kernel), arithmetic = arithmetic_nanos(gpu, kernel);
  return arithmetic / (std::max(memory, arithmetic) + kApart * std::min(memory, arithmetic));
}

// What a weight's gradient reaches in TF32 of what the other parts do, of the same fit: both of its
// operands lie across k, and ldmatrix turns 16-bit numbers only (PTX ISA, ldmatrix .trans).
constexpr double kAcross = 0.75;

class Planner {
 public:
  Planner(const Gpu& gpu, const ConvolutionShape& shape)
      : gpu_(gpu), shape_(shape), unit_(unit_for(gpu, shape.type)) {
    narrow_ = shape.type == GemmType::kFp16 || shape.type == GemmType::kBf16;
    element_ = narrow_ ? 2 : kFloat;
    inputs_ = shape.channels / shape.groups;
    outputs_ = shape.outputs / shape.groups;
    pixels_ = shape.batch * shape.out_height() * shape.out_width();
    const std::int64_t window = shape.kernel * shape.kernel;
    x_ = shape.batch * shape.channels * shape.height * shape.width;
    w_ = shape.outputs * inputs_ * window;
    y_ = pixels_ * shape.outputs;
    flops_ = 2 * of(pixels_) * of(shape.outputs) * of(inputs_) * of(window);
  }

  ConvolutionPlan heuristic() const {
    if (is_depthwise()) return depthwise();
    const Math unit = has_short_runs() ? Math::kFp32 : unit_;
    const Product product = implicit(unit);
    std::vector<ConvolutionPlan> plans{
        implicit_gemm(unit, product, best_tile(gpu_, unit, element_, product))};
    if (can_fuse_winograd()) plans.push_back(fused_winograd());
    if (is_plain_product()) plans.push_back(plain_product());
    return fastest(plans);
  }

  std::vector<ConvolutionPlan> all() const {
    std::vector<ConvolutionPlan> plans{heuristic()};
    if (is_depthwise()) return plans;
    if (can_use_winograd()) add_winograd(plans);
    if (is_plain_product()) add_if_new(plans, plain_product());
    add_tiles(plans, unit_);
    if (!narrow_ && unit_ != Math::kFp32) add_tiles(plans, Math::kFp32);
    if (plans.size() > kMostTried) plans.resize(kMostTried);
    return plans;
  }

 private:
  // ---- The implicit product ---------------------------------------------------------------------

  // A run of k lies together in memory: the channels of a pixel, or, of pixels innermost, pixels.
  Product implicit(Math math) const {
    Product product;
    product.count = shape_.groups;
    product.flops = flops_;
    const std::int64_t window = shape_.kernel * shape_.kernel;
    const bool tensor = uses_tensor_cores(math);
    const std::int64_t unit = tensor ? kTensorBytes / element_ : 1;
    switch (shape_.part) {
      case Part::kForward:
        product.m = pixels_;
        product.n = outputs_;
        product.k = inputs_ * window;
        product.calculated_k = of(round_up(inputs_, unit) * window);
        break;
      case Part::kInputGradient:
        product.m = shape_.batch * shape_.height * shape_.width;
        product.n = inputs_;
        product.calculated_k = of_stride(round_up(outputs_, unit) * window);
        product.k = static_cast<std::int64_t>(of_stride(outputs_ * window));
        break;
      case Part::kWeightGradient:
        product.m = outputs_;
        product.n = inputs_ * window;
        product.k = pixels_;
        product.calculated_k = of(pixels_);
        if (math == Math::kTensorTf32) product.share = kAcross;
        break;
    }
    if (tensor && shape_.groups > 1) product.fetched = fetched();
    return product;
  }
  // Of what a strided forward reads, the input's gradient gets a part for each of its pixels.
  double of_stride(std::int64_t k) const {
    return of(k) * of(pixels_) / of(shape_.batch * shape_.height * shape_.width);
  }
  // Channels of other groups lie in the same sectors.
  Fetched fetched() const {
    const auto sectors = [&](std::int64_t channels) {
      const std::int64_t run = channels * element_;
      return of(round_up(run, kSectorBytes)) / of(run);
    };
    switch (shape_.part) {
      case Part::kForward:
        return {sectors(inputs_), 1};
      case Part::kInputGradient:
        return {sectors(outputs_), 1};
      case Part::kWeightGradient:
        return {sectors(outputs_), sectors(inputs_)};
    }
    return {};
  }

  ConvolutionPlan implicit_gemm(Math math, const Product& product,
                                const ConvolutionTile& tile) const {
    ConvolutionPlan plan;
    plan.algorithm = "implicit GEMM";
    const Cut parts = cut(gpu_, math, element_, tile, product);
    ConvolutionKernel kernel = computing(math, parts);
    kernel.name += fmt::format(" {} {} {}x{}", unit_prefix(math), layout(math), tile.m, tile.n);
    size_block(kernel, tile);
    kernel.bytes = of(x_ + w_ + y_) * of(element_);
    // Parts of a sum are written in FP32 and read again.
    if (parts.parts > 1) kernel.bytes += 2 * of(parts.parts) * of(result_elements()) * kFloat;
    if (uses_tensor_cores(math)) kernel.kept = kept(gpu_, kernel);
    plan.kernels.push_back(std::move(kernel));
    turn_round(plan, uses_tensor_cores(math));
    return finished(std::move(plan));
  }

  // TF32's kernels read 16 bytes at once. Of a picture's 3 channels there are 12, and cuDNN takes
  // FP32's kernel for them where pixels lie innermost.
  bool has_short_runs() const {
    return unit_ == Math::kTensorTf32 && shape_.part == Part::kForward && !shape_.channels_last &&
           inputs_ * element_ % kTensorBytes != 0;
  }

  // ---- A window of one pixel --------------------------------------------------------------------

  // With pixels innermost it is a matrix product for each picture as its numbers lie, if rows of
  // pixels begin at 16 bytes: from compute capability 8.0 on nothing is turned round for it.
  bool is_plain_product() const {
    return shape_.kernel == 1 && shape_.stride == 1 && shape_.padding == 0 && shape_.groups == 1 &&
           !shape_.channels_last && uses_tensor_cores(unit_) &&
           architecture_of(gpu_).capability >= 80 &&
           shape_.height * shape_.width * element_ % kTensorBytes == 0;
  }

  // The pictures' gradients of the weight are summed by a kernel of its own.
  ConvolutionPlan plain_product() const {
    const bool weights = shape_.part == Part::kWeightGradient;
    Product product = implicit(unit_);
    product.count = shape_.batch;
    product.whole_k = true;
    std::int64_t& pixels = weights ? product.k : product.m;
    pixels /= shape_.batch;
    if (weights) {  // whose runs of k lie together here
      product.calculated_k = of(product.k);
      product.share = 1;
    }
    ConvolutionPlan plan;
    plan.algorithm = "GEMM";
    const ConvolutionTile tile = best_tile(gpu_, unit_, element_, product);
    const Cut parts = cut(gpu_, unit_, element_, tile, product);
    ConvolutionKernel kernel = computing(unit_, parts);
    kernel.name += fmt::format(" {} nchw gemm {}x{}", unit_prefix(unit_), tile.m, tile.n);
    size_block(kernel, tile);
    const std::int64_t parts_bytes = weights ? shape_.batch * w_ * kFloat : 0;
    kernel.bytes = of(x_ + y_) * of(element_) + of(weights ? parts_bytes : w_ * element_);
    kernel.kept = kept(gpu_, kernel);
    plan.kernels.push_back(std::move(kernel));
    if (weights) {
      plan.workspace = parts_bytes;
      plan.kernels.push_back(moving("reduce_wgrad_nchw", w_, of(parts_bytes + w_ * element_)));
      plan.kernels.back().turns = Tensor::kResult;
    }
    return finished(std::move(plan));
  }

  void size_block(ConvolutionKernel& kernel, const ConvolutionTile& tile) const {
    const TileBlock block = tile_block(gpu_, tile.m, tile.n);
    kernel.threads = block.threads;
    kernel.registers = block.registers;
    kernel.shared_bytes = block.shared_bytes;
  }

  ConvolutionKernel computing(Math math, const Cut& parts) const {
    ConvolutionKernel kernel;
    kernel.name = fmt::format("conv {} {}x{}, {} to {}:", part_name(), shape_.kernel, shape_.kernel,
                              shape_.channels, shape_.outputs);
    kernel.computes = true;
    kernel.math = math;
    kernel.flops = flops_;
    kernel.efficiency = parts.efficiency;
    kernel.blocks = parts.blocks;
    return kernel;
  }

  std::string_view part_name() const {
    constexpr std::array<std::string_view, 3> kNames{"fprop", "dgrad", "wgrad"};
    return kNames[static_cast<std::size_t>(shape_.part)];
  }
  std::string_view unit_prefix(Math math) const {
    if (math == Math::kTensorFp16) return "tensorop_16";
    return math == Math::kTensorTf32 ? "tensorop_tf32" : "simt_fp32";
  }
  std::string_view layout(Math math) const { return uses_tensor_cores(math) ? "nhwc" : "nchw"; }

  // Every other tile that fits, those with the most reuse first.
  void add_tiles(std::vector<ConvolutionPlan>& plans, Math math) const {
    const Product product = implicit(math);
    for (const ConvolutionTile& tile : convolution_tiles(math)) {
      if (!fits(tile, product)) continue;
      add_if_new(plans, implicit_gemm(math, product, tile));
    }
  }
  static void add_if_new(std::vector<ConvolutionPlan>& plans, ConvolutionPlan plan) {
    const auto same = [&](const ConvolutionPlan& other) {
      return main_of(other).name == main_of(plan).name;
    };
    if (std::none_of(plans.begin(), plans.end(), same)) plans.push_back(std::move(plan));
  }
  static const ConvolutionKernel& main_of(const ConvolutionPlan& plan) {
    return *std::find_if(plan.kernels.begin(), plan.kernels.end(),
                         [](const ConvolutionKernel& kernel) { return kernel.computes; });
  }

  // ---- Tensors that lie the other way -----------------------------------------------------------

  std::int64_t result_elements() const {
    return shape_.part == Part::kForward ? y_ : shape_.part == Part::kInputGradient ? x_ : w_;
  }
  // Forward reads x, w; the input's gradient dy, w; the weight's dy, x.
  std::array<std::int64_t, 3> elements() const {
    switch (shape_.part) {
      case Part::kForward:
        return {x_, w_, y_};
      case Part::kInputGradient:
        return {y_, w_, x_};
      case Part::kWeightGradient:
        return {y_, x_, w_};
    }
    return {};
  }
  // Of each picture, or each output's window: the channels, and the pixels of one.
  struct Extent {
    std::int64_t count = 0, channels = 0, pixels = 0;
  };
  Extent extent(std::size_t place) const {
    const std::size_t weight = shape_.part == Part::kWeightGradient ? 2 : 1;
    if (place == weight) return {shape_.outputs, inputs_, shape_.kernel * shape_.kernel};
    const bool is_output = shape_.part == Part::kForward ? place == 2 : place == 0;
    if (is_output) return {shape_.batch, shape_.outputs, shape_.out_height() * shape_.out_width()};
    return {shape_.batch, shape_.channels, shape_.height * shape_.width};
  }
  // A tensor of one channel is not turned; one of single pixels is, though it lies the same either
  // way, where it is a weight that is read: so the trace of kL2Share has it.
  bool lies_both_ways(std::size_t place) const {
    const Extent one = extent(place);
    const bool read_weight = place == 1 && shape_.part != Part::kWeightGradient;
    return one.channels == 1 || (one.pixels == 1 && !read_weight);
  }
  std::int64_t squares(std::size_t place) const {
    const Extent one = extent(place);
    return one.count * ceil_div(one.channels, kTurnedSide) * ceil_div(one.pixels, kTurnedSide);
  }

  // Kernels of tensor cores that write pixels innermost themselves: forward, and of compute
  // capability 7.x the input's gradient, too ("nhwckrsc_nchw" and "nhwc2nchw" in their names).
  bool writes_pixels_innermost() const {
    return shape_.part == Part::kForward ||
           (shape_.part == Part::kInputGradient && architecture_of(gpu_).capability < 80);
  }

  void turn_round(ConvolutionPlan& plan, bool wants_channels_last) const {
    if (wants_channels_last == shape_.channels_last) return;
    std::vector<ConvolutionKernel> before, after;
    const std::array<std::int64_t, 3> sizes = elements();
    for (std::size_t place = 0; place < sizes.size(); ++place) {
      const bool is_result = place == 2;
      if (lies_both_ways(place)) continue;
      if (is_result && wants_channels_last && writes_pixels_innermost()) continue;
      ConvolutionKernel kernel =
          moving(wants_channels_last == is_result ? "nhwcToNchw" : "nchwToNhwc", sizes[place],
                 2 * of(sizes[place]) * of(element_));
      kernel.turns = static_cast<Tensor>(place);
      kernel.blocks = squares(place);
      kernel.block_instructions = kTurningInstructions;
      plan.workspace += sizes[place] * element_;
      (is_result ? after : before).push_back(std::move(kernel));
    }
    plan.kernels.insert(plan.kernels.begin(), before.begin(), before.end());
    plan.kernels.insert(plan.kernels.end(), after.begin(), after.end());
  }

  static ConvolutionKernel moving(std::string name, std::int64_t elements, double bytes) {
    ConvolutionKernel kernel;
    kernel.name = std::move(name);
    kernel.bytes = bytes;
    kernel.blocks = std::max<std::int64_t>(1, ceil_div(elements, kElementsABlock));
    return kernel;
  }

  // ---- Winograd ---------------------------------------------------------------------------------

  // cuDNN, supported algorithms: 3 x 3 windows, stride 1, pixels innermost.
  bool can_use_winograd() const {
    return shape_.kernel == 3 && shape_.stride == 1 && shape_.groups == 1 && !shape_.channels_last;
  }

  bool can_fuse_winograd() const {
    return can_use_winograd() && unit_ == Math::kFp32 && shape_.part != Part::kWeightGradient;
  }

  // F(2 x 2, 3 x 3): 16 products instead of 36 for four outputs (Lavin and Gray).
  struct Winograd {
    std::int64_t tiles, in, out;
  };
  Winograd winograd() const {
    const bool back = shape_.part == Part::kInputGradient;
    const std::int64_t height = back ? shape_.height : shape_.out_height();
    const std::int64_t width = back ? shape_.width : shape_.out_width();
    return {shape_.batch * ceil_div(height, 2) * ceil_div(width, 2),
            back ? shape_.outputs : shape_.channels, back ? shape_.channels : shape_.outputs};
  }

  void add_winograd(std::vector<ConvolutionPlan>& plans) const {
    if (!narrow_ && shape_.part != Part::kWeightGradient) plans.push_back(fused_winograd());
    plans.push_back(winograd_in_steps());
  }

  // All in one kernel, in FP32. A block multiplies 32 tiles by 32 outputs; for each channel it
  // transforms 32 tiles of 4 x 4 (32 additions each) and 32 windows (28), and at the end 1024 tiles
  // of sums (24). An addition takes a unit as long as a multiply-add.
  ConvolutionPlan fused_winograd() const {
    constexpr std::int64_t kSide = 32;
    constexpr double kPerChannel = 16.0 * kSide * kSide + (32 + 28) * kSide;
    constexpr double kPerBlock = 24.0 * kSide * kSide;
    const Winograd sizes = winograd();
    Cut parts;
    parts.blocks = ceil_div(sizes.tiles, kSide) * ceil_div(sizes.out, kSide);
    const double instructions = of(parts.blocks) * (kPerChannel * of(sizes.in) + kPerBlock);
    const ConvolutionTile tile = convolution_tiles(Math::kFp32).front();
    parts.efficiency = convolution_share(gpu_, Math::kFp32, tile, sizeof(float), {}) * flops_ /
                       (2 * instructions) * last_wave(gpu_, parts.blocks);
    ConvolutionPlan plan;
    plan.algorithm = "Winograd";
    ConvolutionKernel kernel = computing(Math::kFp32, parts);
    kernel.name += " winograd fp32 nchw";
    kernel.bytes = of(x_ + w_ + y_) * of(element_);
    plan.kernels.push_back(std::move(kernel));
    return finished(std::move(plan));
  }

  // Both operands are transformed in memory, 16 numbers for each tile or window, multiplied as 16
  // products, and transformed back.
  ConvolutionPlan winograd_in_steps() const {
    const Winograd sizes = winograd();
    const bool weights = shape_.part == Part::kWeightGradient;
    const std::int64_t data = 16 * sizes.tiles * sizes.in, result = 16 * sizes.tiles * sizes.out,
                       filter = 16 * sizes.in * sizes.out;
    Product product;
    product.count = 16;
    product.m = weights ? sizes.out : sizes.tiles;
    product.n = weights ? sizes.in : sizes.out;
    product.k = weights ? sizes.tiles : sizes.in;
    product.calculated_k = of(product.k);
    product.flops = 2.0 * 16 * of(sizes.tiles) * of(sizes.in) * of(sizes.out);
    const ConvolutionTile tile = best_tile(gpu_, unit_, element_, product);
    Cut parts = cut(gpu_, unit_, element_, tile, product);
    parts.efficiency *= flops_ / product.flops;
    ConvolutionPlan plan;
    plan.algorithm = "Winograd, not fused";
    const std::array<std::int64_t, 3> plain = elements();
    const std::array<std::int64_t, 3> wide =
        weights ? std::array{result, data, filter} : std::array{data, filter, result};
    constexpr std::array<const char*, 3> kForward{"winogradForwardData", "winogradForwardFilter",
                                                  "winogradForwardOutput"};
    constexpr std::array<const char*, 3> kWeights{"winogradWgradDelta", "winogradWgradData",
                                                  "winogradWgradOutput"};
    for (std::size_t place = 0; place < 3; ++place) {
      plan.kernels.push_back(moving((weights ? kWeights : kForward)[place], plain[place],
                                    of(plain[place] + wide[place]) * of(element_)));
      plan.kernels.back().turns = static_cast<Tensor>(place);
    }
    ConvolutionKernel kernel = computing(unit_, parts);
    kernel.name += " winograd gemm";
    size_block(kernel, tile);
    kernel.bytes = of(data + filter + result) * of(element_);
    plan.kernels.insert(plan.kernels.end() - 1, std::move(kernel));
    plan.workspace = (data + filter + result) * element_;
    return finished(std::move(plan));
  }

  // ---- Depthwise --------------------------------------------------------------------------------

  // A channel has no sum over channels: nothing to multiply as matrices. Each number is loaded once
  // and used in the ordinary units (PyTorch's conv_depthwise2d).
  bool is_depthwise() const { return shape_.groups > 1 && inputs_ == 1; }
  ConvolutionPlan depthwise() const {
    ConvolutionPlan plan;
    plan.algorithm = "depthwise";
    Cut parts;
    parts.blocks = std::max<std::int64_t>(1, ceil_div(result_elements(), 256));
    parts.efficiency = 1;
    ConvolutionKernel kernel = computing(Math::kFp32, parts);
    kernel.name += " depthwise";
    kernel.bytes = of(x_ + w_ + y_) * of(element_);
    plan.kernels.push_back(std::move(kernel));
    return finished(std::move(plan));
  }

  ConvolutionPlan finished(ConvolutionPlan plan) const {
    for (const ConvolutionKernel& kernel : plan.kernels)
      plan.nanos += kernel_nanos(gpu_, kernel) + static_cast<double>(gpu_.kernel_gap_ns);
    return plan;
  }

  const Gpu& gpu_;
  const ConvolutionShape& shape_;
  Math unit_;
  bool narrow_ = false;
  std::int64_t element_ = 0;               // bytes
  std::int64_t inputs_ = 0, outputs_ = 0;  // channels of a group
  std::int64_t pixels_ = 0;                // of the result, the batch's
  std::int64_t x_ = 0, w_ = 0, y_ = 0;     // elements
  double flops_ = 0;
};

}  // namespace

std::vector<ConvolutionPlan> convolution_plans(const Gpu& gpu, const ConvolutionShape& shape) {
  return Planner(gpu, shape).all();
}

ConvolutionPlan plan_convolution(const Gpu& gpu, const ConvolutionShape& shape) {
  return Planner(gpu, shape).heuristic();
}

const ConvolutionPlan& fastest(const std::vector<ConvolutionPlan>& plans) {
  return *std::min_element(
      plans.begin(), plans.end(),
      [](const ConvolutionPlan& a, const ConvolutionPlan& b) { return a.nanos < b.nanos; });
}

}  // namespace trainscope::machine
