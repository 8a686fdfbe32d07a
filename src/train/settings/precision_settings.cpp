#include "train/settings/precision_settings.h"

#include <string>

#include "base/error.h"

namespace trainscope::train {
namespace {

using program::ElementType;

constexpr double kAmpere = 8.0;  // compute capability

// torch/amp/grad_scaler.py, _unscale_grads_: only a fused optimizer takes the scale out by itself.
void refuse_to_unscale_fp16(const program::Config& config) {
  const bool by_optimizer =
      config.word("optimizer.impl") == "fused" && config.number("clip_grad_norm") == 0;
  if (!config.flag("scaler.enabled") || by_optimizer) return;
  throw InputError(
      "a GradScaler unscales no FP16 gradients, which weights of model.dtype = fp16 have (PyTorch: "
      "Attempting to unscale FP16 gradients.); set model.dtype = fp32 with precision = fp16, or "
      "scaler.enabled = false");
}

// PyTorch 2.11 has those kernels for FP32 and FP16 (aten/src/ATen/native/cuda/AmpKernels.cu), for a
// fused optimizer, too.
void refuse_to_look_at_bf16(const program::Config& config) {
  if (!config.flag("scaler.enabled")) return;
  throw InputError(
      "a GradScaler looks for no infinities in BF16 gradients, which weights of model.dtype = bf16 "
      "have (PyTorch: \"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for "
      "'BFloat16'); set scaler.enabled = false: BF16 has the range of FP32");
}

// model.to(dtype).
ElementType model_type(const program::Config& config, const machine::Machine& machine) {
  const std::string& word = config.word("model.dtype");
  if (word == "fp32") return ElementType::kFp32;
  if (config.word("device") == "cpu")
    throw InputError("model.dtype = " + word +
                     " is built for the GPU; set device = cuda, or model.dtype = fp32");
  if (word == "fp16") {
    refuse_to_unscale_fp16(config);
    return ElementType::kFp16;
  }
  refuse_bf16_without_units(machine.gpu, "model.dtype = fp16");
  refuse_to_look_at_bf16(config);
  return ElementType::kBf16;
}

// Where the two differ, operations get operands of both.
void refuse_two_narrow_types(const Precision& precision) {
  if (precision.model == ElementType::kFp32 || precision.autocast == ElementType::kFp32 ||
      precision.model == precision.autocast)
    return;
  const bool fp16 = precision.model == ElementType::kFp16;
  const std::string model = fp16 ? "fp16" : "bf16", autocast = fp16 ? "bf16" : "fp16";
  throw InputError("autocast.dtype = " + autocast + " beside model.dtype = " + model +
                   " is not built: set both to the same type, or one of them back");
}

// `precision` says what autocast does, and a type that is set beside it must be the same.
void refuse_two_types(const program::Config& config) {
  if (!config.is_set("precision") || !config.is_set("autocast.dtype")) return;
  const std::string& word = config.word("precision");
  const std::string& autocast = config.word("autocast.dtype");
  if (autocast == (word == "fp16" || word == "bf16" ? word : "none")) return;
  throw InputError("precision = " + word + " and autocast.dtype = " + autocast +
                   " contradict each other; leave one of them out");
}

Precision precision_of(const program::Config& config, const machine::Machine& machine) {
  refuse_two_types(config);
  const std::string& autocast = config.word("autocast.dtype");
  Precision precision;
  precision.model = model_type(config, machine);
  if (autocast == "fp16") precision.autocast = ElementType::kFp16;
  if (autocast == "bf16") {
    refuse_bf16_without_units(machine.gpu, "autocast.dtype = fp16 and scaler.enabled = true");
    precision.autocast = ElementType::kBf16;
  }
  refuse_two_narrow_types(precision);
  // A GPU without TF32 ignores the switches, and they are of GPUs: torch.backends.cuda's and
  // cudnn's.
  if (machine.gpu.tf32_flops_per_s <= 0 || config.word("device") == "cpu") return precision;
  precision.matmul_tf32 = config.flag("matmul.allow_tf32");
  precision.conv_tf32 = config.flag("cudnn.allow_tf32");
  return precision;
}

}  // namespace

// torch.cuda.is_bf16_supported: from compute capability 8.0 on. Before, PyTorch computes in other
// units, and no machine tells at which rate.
void refuse_bf16_without_units(const machine::Gpu& gpu, const char* instead) {
  if (gpu.compute_capability < kAmpere)
    throw InputError(gpu.name +
                     " has no units for BF16, which came with compute capability 8.0; set " +
                     instead + ", or choose a newer machine");
}

// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, can_use_flash_attention.
FlashKernel flash_kernel(const Precision& precision, const machine::Gpu& gpu) {
  if (gpu.compute_capability < kAmpere) return FlashKernel::kNotForGpu;
  const bool narrow =
      precision.autocast != ElementType::kFp32 || precision.model != ElementType::kFp32;
  return narrow ? FlashKernel::kRuns : FlashKernel::kNotForType;
}

ModelTypes model_types(const program::Config& config, const machine::Machine& machine) {
  ModelTypes types{.computed = precision_of(config, machine)};
  types.parameters = types.computed.model;
  if (config.word("parallel.strategy") != "fsdp" || config.word("fsdp.param_dtype") != "bf16")
    return types;
  refuse_bf16_without_units(machine.gpu, "fsdp.param_dtype = none");
  types.computed.model = ElementType::kBf16;
  refuse_two_narrow_types(types.computed);
  return types;
}

}  // namespace trainscope::train
