// What cuDNN is asked for one convolution: its functions, its descriptions of the shape, and the
// algorithms, found once.
#pragma once

#include <cudnn.h>

#include <memory>
#include <tuple>
#include <vector>

#include "cuda/device/operation_kernels.h"
#include "cuda/plugin/library.h"

namespace trainscope::cuda {

struct CudnnFunctions {
  decltype(&cudnnCreate) create = nullptr;
  decltype(&cudnnDestroy) destroy = nullptr;
  decltype(&cudnnSetStream) set_stream = nullptr;
  decltype(&cudnnCreateTensorDescriptor) create_tensor = nullptr;
  decltype(&cudnnDestroyTensorDescriptor) destroy_tensor = nullptr;
  decltype(&cudnnSetTensor4dDescriptor) set_tensor = nullptr;
  decltype(&cudnnCreateFilterDescriptor) create_filter = nullptr;
  decltype(&cudnnDestroyFilterDescriptor) destroy_filter = nullptr;
  decltype(&cudnnSetFilter4dDescriptor) set_filter = nullptr;
  decltype(&cudnnCreateConvolutionDescriptor) create_convolution = nullptr;
  decltype(&cudnnDestroyConvolutionDescriptor) destroy_convolution = nullptr;
  decltype(&cudnnSetConvolution2dDescriptor) set_convolution = nullptr;
  decltype(&cudnnSetConvolutionMathType) set_math = nullptr;
  decltype(&cudnnSetConvolutionGroupCount) set_groups = nullptr;
  decltype(&cudnnGetConvolutionForwardAlgorithm_v7) find_forward = nullptr;
  decltype(&cudnnGetConvolutionBackwardDataAlgorithm_v7) find_input = nullptr;
  decltype(&cudnnGetConvolutionBackwardFilterAlgorithm_v7) find_weights = nullptr;
  decltype(&cudnnFindConvolutionForwardAlgorithmEx) try_forward = nullptr;
  decltype(&cudnnFindConvolutionBackwardDataAlgorithmEx) try_input = nullptr;
  decltype(&cudnnFindConvolutionBackwardFilterAlgorithmEx) try_weights = nullptr;
  decltype(&cudnnAddTensor) add = nullptr;
  decltype(&cudnnConvolutionForward) forward = nullptr;
  decltype(&cudnnConvolutionBackwardData) backward_input = nullptr;
  decltype(&cudnnConvolutionBackwardFilter) backward_weights = nullptr;

  // False where the library has not all of them.
  bool find(const Library& library);
};

struct CudnnChoice {
  int algorithm = 0;  // a cudnnConvolution...Algo_t of the part
  std::size_t workspace = 0;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

// What cuDNN knows of one shape.
struct CudnnPlan {
  explicit CudnnPlan(const CudnnFunctions& all) : functions(all) {}
  ~CudnnPlan() {
    if (x) functions.destroy_tensor(x);
    if (y) functions.destroy_tensor(y);
    if (bias) functions.destroy_tensor(bias);
    if (w) functions.destroy_filter(w);
    if (convolution) functions.destroy_convolution(convolution);
  }
  CudnnPlan(const CudnnPlan&) = delete;

  const CudnnFunctions& functions;
  cudnnTensorDescriptor_t x = nullptr;
  cudnnTensorDescriptor_t y = nullptr;
  cudnnTensorDescriptor_t bias = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  // The one that cuDNN expects to be fastest first. None: a kernel of kernels/ computes it.
  std::vector<CudnnChoice> choices;
};

// What an algorithm may work in while they are tried.
struct TrialRoom {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

// By cuDNN's heuristics, or by trying, which writes what the call writes.
std::unique_ptr<CudnnPlan> make_plan(cudnnHandle_t handle, const CudnnFunctions& functions,
                                     const ConvolutionCall& call, const TrialRoom& room);

// What calls have in common that can share a plan.
inline auto key_of(const ConvolutionCall& call) {
  const kernels::Conv2d& s = call.shape;
  const auto window = [](const kernels::Window& one) {
    return std::tuple(one.size, one.stride, one.padding, one.dilation);
  };
  return std::tuple(
      s.input.batch, s.input.channels, s.input.height, s.input.width, s.input.channels_last,
      s.outputs, s.groups, window(s.vertical), window(s.horizontal), static_cast<int>(call.part),
      static_cast<int>(call.x.type), static_cast<int>(call.arithmetic), call.benchmark);
}

}  // namespace trainscope::cuda
