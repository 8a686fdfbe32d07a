#include "train/replay/product_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace trainscope::train {
namespace {

// cuBLAS: "ampere_sgemm_128x64_nn", since CUDA 12.8 "nvjet_hsh_128x256"; cuDNN: "xmma_fprop",
// "scudnn_winograd", "dgrad_engine", "implicit_convolve_sgemm", FFTs as products of complex numbers
// ("gcgemm"); CUTLASS: "cutlass_80_tensorop_s1688"; attention: "flash_fwd_kernel",
// "fmha_cutlassF", "efficient_attention"; Triton: "triton_tem_fused_mm" are its templates of
// products, "matmul_kernel" its tutorials'. On AMD Tensile: "Cijk_Ailk_Bljk"; MIOpen:
// "miopenSp3AsmConv"; Composable Kernel: "kernel_grouped_conv_bwd_data_xdl".
constexpr std::array<std::string_view, 21> kWords{
    "gemm",  "gemv",      "nvjet",       "cutlass", "xmma",     "fprop",   "wgrad",
    "dgrad", "convolve",  "conv2d",      "conv3d",  "winograd", "cudnn_",  "flash_",
    "fmha",  "attention", "triton_tem_", "matmul",  "cijk_",    "asmconv", "_xdl"};

// Layouts, norms, pooling and sums of what a product was split into have such words in their names,
// too.
constexpr std::array<std::string_view, 10> kOthers{
    "nchwtonhwc", "nhwctonchw", "batchnorm", "batch_norm",   "bn_fw",
    "bn_bw",      "pool",       "softmax",   "splitkreduce", "reduce_kernel"};

}  // namespace

bool is_product(std::string_view kernel) {
  std::string name(kernel);
  std::ranges::transform(name, name.begin(),
                         [](unsigned char letter) { return std::tolower(letter); });
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  return std::ranges::any_of(kWords, has) && std::ranges::none_of(kOthers, has);
}

}  // namespace trainscope::train
