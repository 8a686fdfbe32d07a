#ifdef TRAINSCOPE_CUDNN

#include "cuda/plugin/cudnn_plans.h"

#include <array>

#include "cuda/device/operands.h"

namespace trainscope::cuda {
namespace {

using program::ElementType;
using program::Part;

constexpr std::size_t kMostWorkspace = std::size_t{1} << 30;

cudnnDataType_t data_type(ElementType type) {
  switch (type) {
    case ElementType::kFp16:
      return CUDNN_DATA_HALF;
    case ElementType::kBf16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

// PyTorch's choices (aten/src/ATen/cudnn/Descriptors.h, ConvolutionDescriptor::set).
cudnnMathType_t math_of(const ConvolutionCall& call) {
  if (stored(call.x.type) != ElementType::kFp32) return CUDNN_TENSOR_OP_MATH;
  return call.arithmetic == ElementType::kTf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
}

bool describe(const ConvolutionCall& call, CudnnPlan& plan) {
  const CudnnFunctions& f = plan.functions;
  const kernels::Conv2d& shape = call.shape;
  const kernels::Image in = shape.input, out = shape.output();
  const kernels::Window &v = shape.vertical, &h = shape.horizontal;
  const cudnnDataType_t type = data_type(call.x.type);
  const cudnnTensorFormat_t format = in.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  const cudnnStatus_t all[] = {
      f.create_tensor(&plan.x),
      f.create_tensor(&plan.y),
      f.create_tensor(&plan.bias),
      f.create_filter(&plan.w),
      f.create_convolution(&plan.convolution),
      f.set_tensor(plan.x, format, type, in.batch, in.channels, in.height, in.width),
      f.set_tensor(plan.y, format, type, out.batch, out.channels, out.height, out.width),
      f.set_tensor(plan.bias, format, type, 1, shape.outputs, 1, 1),
      f.set_filter(plan.w, type, format, shape.outputs, shape.group_channels(), v.size, h.size),
      f.set_convolution(plan.convolution, v.padding, h.padding, v.stride, h.stride, v.dilation,
                        h.dilation, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
      f.set_math(plan.convolution, math_of(call)),
      f.set_groups(plan.convolution, shape.groups)};
  for (const cudnnStatus_t status : all)
    if (status != CUDNN_STATUS_SUCCESS) return false;
  return true;
}

template <typename Found>
void choose(const Found* found, int count, cudnnMathType_t math, CudnnPlan& plan) {
  for (int i = 0; i < count; ++i) {
    const Found& one = found[i];
    if (one.status != CUDNN_STATUS_SUCCESS || one.memory > kMostWorkspace ||
        one.determinism != CUDNN_DETERMINISTIC)
      continue;
    // FMA means no TF32; elsewhere an algorithm may need its own.
    plan.choices.push_back(
        {static_cast<int>(one.algo), one.memory, math == CUDNN_FMA_MATH ? math : one.mathType});
  }
}

template <typename Found, typename Expect, typename Try>
void find_among(const ConvolutionCall& call, CudnnPlan& plan, const Expect& expect,
                const Try& try_all) {
  constexpr int kMost = 16;
  std::array<Found, kMost> found{};
  int count = 0;
  const cudnnStatus_t status =
      call.benchmark ? try_all(kMost, &count, found.data()) : expect(kMost, &count, found.data());
  if (status == CUDNN_STATUS_SUCCESS) choose(found.data(), count, math_of(call), plan);
}

// By cuDNN's heuristics, or by trying: then what the call writes is written.
void find_algorithms(cudnnHandle_t handle, const ConvolutionCall& call, const TrialRoom& room,
                     CudnnPlan& plan) {
  const CudnnFunctions& f = plan.functions;
  const auto x = plan.x, y = plan.y;
  const auto w = plan.w;
  const auto c = plan.convolution;
  if (call.part == Part::kForward) {
    find_among<cudnnConvolutionFwdAlgoPerf_t>(
        call, plan,
        [&](int most, int* count, auto* found) {
          return f.find_forward(handle, x, w, c, y, most, count, found);
        },
        [&](int most, int* count, auto* found) {
          return f.try_forward(handle, x, call.x.memory, w, call.w.memory, c, y, call.y.memory,
                               most, count, found, room.memory, room.bytes);
        });
  } else if (call.part == Part::kInputGradient) {
    find_among<cudnnConvolutionBwdDataAlgoPerf_t>(
        call, plan,
        [&](int most, int* count, auto* found) {
          return f.find_input(handle, w, y, c, x, most, count, found);
        },
        [&](int most, int* count, auto* found) {
          return f.try_input(handle, w, call.w.memory, y, call.y.memory, c, x, call.x.memory, most,
                             count, found, room.memory, room.bytes);
        });
  } else {
    find_among<cudnnConvolutionBwdFilterAlgoPerf_t>(
        call, plan,
        [&](int most, int* count, auto* found) {
          return f.find_weights(handle, x, y, c, w, most, count, found);
        },
        [&](int most, int* count, auto* found) {
          return f.try_weights(handle, x, call.x.memory, y, call.y.memory, c, w, call.w.memory,
                               most, count, found, room.memory, room.bytes);
        });
  }
}

}  // namespace

bool CudnnFunctions::find(const Library& library) {
  const auto get = [&](auto& function, const char* name) { return library.find(function, name); };
  return get(create, "cudnnCreate") && get(destroy, "cudnnDestroy") &&
         get(set_stream, "cudnnSetStream") && get(create_tensor, "cudnnCreateTensorDescriptor") &&
         get(destroy_tensor, "cudnnDestroyTensorDescriptor") &&
         get(set_tensor, "cudnnSetTensor4dDescriptor") &&
         get(create_filter, "cudnnCreateFilterDescriptor") &&
         get(destroy_filter, "cudnnDestroyFilterDescriptor") &&
         get(set_filter, "cudnnSetFilter4dDescriptor") &&
         get(create_convolution, "cudnnCreateConvolutionDescriptor") &&
         get(destroy_convolution, "cudnnDestroyConvolutionDescriptor") &&
         get(set_convolution, "cudnnSetConvolution2dDescriptor") &&
         get(set_math, "cudnnSetConvolutionMathType") &&
         get(set_groups, "cudnnSetConvolutionGroupCount") &&
         get(find_forward, "cudnnGetConvolutionForwardAlgorithm_v7") &&
         get(find_input, "cudnnGetConvolutionBackwardDataAlgorithm_v7") &&
         get(find_weights, "cudnnGetConvolutionBackwardFilterAlgorithm_v7") &&
         get(try_forward, "cudnnFindConvolutionForwardAlgorithmEx") &&
         get(try_input, "cudnnFindConvolutionBackwardDataAlgorithmEx") &&
         get(try_weights, "cudnnFindConvolutionBackwardFilterAlgorithmEx") &&
         get(add, "cudnnAddTensor") && get(forward, "cudnnConvolutionForward") &&
         get(backward_input, "cudnnConvolutionBackwardData") &&
         get(backward_weights, "cudnnConvolutionBackwardFilter");
}

std::unique_ptr<CudnnPlan> make_plan(cudnnHandle_t handle, const CudnnFunctions& functions,
                                     const ConvolutionCall& call, const TrialRoom& room) {
  auto plan = std::make_unique<CudnnPlan>(functions);
  if (describe(call, *plan)) find_algorithms(handle, call, room, *plan);
  return plan;
}

}  // namespace trainscope::cuda

#endif
