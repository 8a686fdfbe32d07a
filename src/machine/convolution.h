// How cuDNN computes a convolution on a GPU: with which kernels, how much of the arithmetic's peak
// each reaches, what it moves, and what memory it needs beside its tensors.
//
// A convolution is a matrix product that is formed on the fly, an implicit GEMM (Chetlur et al.,
// cuDNN, arXiv:1410.0759; CUTLASS, Implicit GEMM Convolution). Of each group, with P x Q pixels of
// the result, R x S of the window, C channels and K outputs of the group:
//   forward           m = N P Q    n = K       k = C R S
//   input's gradient  m = N H W    n = C       k = K R S / stride², as strided kernels leave out
//                                              the products with zeros
//   weight's          m = K        n = C R S   k = N P Q, cut into parts that are summed
// It is cut into tiles as products are, padding is computed too, and what the last wave leaves
// idle is lost. Tensor cores want channels innermost (NHWC), the kernels of FP32 pixels (NCHW):
// tensors that lie the other way are turned round by kernels of their own, as profiles show
// (nchwToNhwcKernel, nhwcToNchwKernel), but for results that forward kernels write as they shall
// lie. From compute capability 8.0 on a window of one pixel of an image whose pixels lie innermost
// is a plain product for each image, where that is the quicker.
//
// What a kernel reaches on tensor cores was fitted to the recorded trace of ResNet-50 on an A100
// (HolisticTraceAnalysis, TF32, batch 32): README.md of src/sim has how well.
//
// Without a search, profiles of FP32 show fused Winograd kernels beside implicit ones
// (pytorch#13412: maxwell_scudnn_winograd_128x128, maxwell_scudnn_128x128_relu). Assumed: that the
// heuristic takes whichever of the two is quicker, the implicit GEMM with the tile whose padding
// and waves lose least; that a Winograd kernel's blocks are 32 tiles x 32 outputs, as in Lavin and
// Gray (arXiv:1509.09308); that both Winograd algorithms are F(2 x 2, 3 x 3), as the names of their
// kernels say (4x4). Left out: FFT, padding of 3 channels to 4, kernels that fuse a bias or a ReLU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/gemm_tiles.h"

namespace trainscope::machine {

enum class ConvolutionPart : std::uint8_t { kForward, kInputGradient, kWeightGradient };

// Sizes in elements; square windows.
struct ConvolutionShape {
  std::int64_t batch = 1, channels = 1, height = 1, width = 1;
  std::int64_t outputs = 1, kernel = 1, stride = 1, padding = 0, groups = 1;
  bool channels_last = false;
  ConvolutionPart part = ConvolutionPart::kForward;
  GemmType type = GemmType::kFp32;

  std::int64_t out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  std::int64_t out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
  auto operator<=>(const ConvolutionShape&) const = default;
};

// The tensors that a part reads, and what it writes, by their places among an operation's operands.
enum class ConvolutionTensor : std::uint8_t { kFirst, kSecond, kResult, kNone };

struct ConvolutionKernel {
  std::string name;
  bool computes = false;  // the kernel that the convolution's arithmetic is in
  ConvolutionTensor turns = ConvolutionTensor::kNone;  // the tensor that it turns round
  Math math = Math::kFp32;
  double flops = 0;
  // Share of the unit's peak that it reaches, counted in the operations that were asked for: what
  // is padding, or idle in the last wave, makes it less; Winograd's, which multiplies less, may
  // reach more than 1. 0: it moves memory only.
  double efficiency = 0;
  // Of that, while blocks load before their arithmetic and store after it.
  double kept = 1;
  double bytes = 0;
  // Instructions of a block that are no arithmetic of the convolution's, as multiply-adds: what a
  // kernel needs to find its places in memory. 0: memory hides them.
  double block_instructions = 0;
  std::int64_t blocks = 1;
  int threads = 256;
  int registers = 32;             // of a thread; of what has no tile, assumed
  std::int64_t shared_bytes = 0;  // of a block
};

struct ConvolutionPlan {
  std::string algorithm;  // "implicit GEMM", "GEMM", "Winograd"
  std::vector<ConvolutionKernel> kernels;
  std::int64_t workspace = 0;  // bytes
  double nanos = 0;            // the kernels one after another, alone on the GPU
};

// Every way that there is, the heuristic's first. Throws InputError for a GPU whose SMs are not
// described.
std::vector<ConvolutionPlan> convolution_plans(const Gpu& gpu, const ConvolutionShape& shape);

// The heuristic's.
ConvolutionPlan plan_convolution(const Gpu& gpu, const ConvolutionShape& shape);

// The fastest of at most kMostTried: torch.backends.cudnn.benchmark_limit is 10 by default.
inline constexpr std::size_t kMostTried = 10;
const ConvolutionPlan& fastest(const std::vector<ConvolutionPlan>& plans);

}  // namespace trainscope::machine
