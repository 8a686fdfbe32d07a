// cuDNN's part: 2D convolutions by its calls with descriptors, plainly summed in FP32. Of the
// algorithms that it offers only the last two are any good; one before them fails when it comes to
// it, and taking one of the others is a broken rule.

#ifdef TRAINSCOPE_CUDNN

#include <cudnn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "stand_in/calls.h"
#include "stand_in/convolution.h"
#include "stand_in/machine.h"
#include "stand_in/symbols.h"

using namespace trainscope;
using stand_in::Convolution;
using stand_in::Images;
using stand_in::machine;
using stand_in::Part;
using stand_in::Shape;

struct cudnnContext {
  int gpu = 0;
  cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct : Images {};
struct cudnnFilterStruct : Images {};
struct cudnnConvolutionStruct : stand_in::Windows {
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

using Tensor = cudnnTensorDescriptor_t;
using Filter = cudnnFilterDescriptor_t;
using How = cudnnConvolutionDescriptor_t;

cudnnStatus_t wrong(const std::string& what) {
  stand_in::breaks(cudaErrorInvalidValue, "a convolution: " + what);
  return CUDNN_STATUS_BAD_PARAM;
}

Convolution call_of(Part part, const Shape& shape, How how, const void* a, const void* b,
                    void* to) {
  const bool in_tf32 = shape.x.type == CUDA_R_32F && how->math != CUDNN_FMA_MATH;
  return {shape, part, a, b, to, in_tf32};
}

// ---- algorithms ---------------------------------------------------------------------------------

struct Offer {
  cudnnStatus_t status;
  cudnnDeterminism_t determinism;
  std::size_t workspace;
  bool fails = false;  // when it comes to it, as cuDNN's sometimes do
};

// The fastest first. By its place here an algorithm is known.
std::vector<Offer> offers(const Shape& shape) {
  constexpr auto kSame = CUDNN_DETERMINISTIC, kDiffers = CUDNN_NON_DETERMINISTIC;
  constexpr std::size_t kTooMuch = std::size_t{3} << 30;
  return {{CUDNN_STATUS_NOT_SUPPORTED, kSame, 0},
          {CUDNN_STATUS_SUCCESS, kDiffers, 0},
          {CUDNN_STATUS_SUCCESS, kSame, kTooMuch},
          {CUDNN_STATUS_SUCCESS, kSame, 0, true},
          {CUDNN_STATUS_SUCCESS, kSame, shape.x.bytes() + 16},
          {CUDNN_STATUS_SUCCESS, kSame, 0}};
}

template <typename Found>
void tell(const Shape& shape, How how, std::size_t room, int wanted, int* count, Found* found) {
  *count = 0;
  for (const Offer& one : offers(shape)) {
    if (*count == wanted) break;
    Found& result = found[*count];
    result = {};
    result.algo = static_cast<decltype(result.algo)>(*count);
    result.status = one.workspace <= room ? one.status : CUDNN_STATUS_ALLOC_FAILED;
    result.time = result.status == CUDNN_STATUS_SUCCESS ? static_cast<float>(1 + *count) : -1;
    result.memory = one.workspace;
    result.determinism = one.determinism;
    result.mathType = how->math;
    ++*count;
  }
}

// By the heuristics, for which nothing runs.
template <typename Found>
cudnnStatus_t expect(const Shape& shape, How how, int wanted, int* count, Found* found) {
  if (const std::string what = misfit(shape); !what.empty()) return wrong(what);
  tell(shape, how, SIZE_MAX, wanted, count, found);
  return CUDNN_STATUS_SUCCESS;
}

// ---- carrying out -------------------------------------------------------------------------------

bool in_device(const void* memory, std::size_t bytes) {
  return bytes == 0 || machine().memory().where(memory, bytes) == stand_in::Where::kDevice;
}

bool is_aligned(const void* memory) {
  constexpr std::uintptr_t kBytes = 16;
  return reinterpret_cast<std::uintptr_t>(memory) % kBytes == 0;
}

// What is wrong with where a call's operands lie; empty: nothing.
std::string misplaced(const cudnnContext& handle, const Convolution& call, const void* workspace,
                      std::size_t bytes) {
  if (!in_device(call.a, call.lies_a().bytes()) || !in_device(call.b, call.lies_b().bytes()) ||
      !in_device(call.to, call.lies_to().bytes()) || !in_device(workspace, bytes))
    return "an operand, or the room to work in, does not lie in a device's memory";
  if (!is_aligned(call.a) || !is_aligned(call.b) || !is_aligned(call.to) || !is_aligned(workspace))
    return "an address is not aligned to 16 bytes";
  if (machine().gpu_of(handle.stream) != handle.gpu) return "a handle of another GPU";
  return {};
}

cudnnStatus_t put(const cudnnContext& handle, std::string name, std::function<void()> run) {
  stand_in::Work work{.kind = stand_in::WorkKind::kKernel,
                      .name = std::move(name),
                      .run = std::move(run),
                      .blocks = {1, 1, 1},
                      .threads = {128, 1, 1}};
  const cudaError_t status = stand_in::call(
      "cuLaunchKernelEx", [&] { return machine().put(handle.stream, std::move(work)); });
  return status == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

// Each is tried, over what the call writes, and waited for.
template <typename Found>
cudnnStatus_t try_all(cudnnHandle_t handle, const Convolution& call, How how, int wanted,
                      int* count, Found* found, void* room, std::size_t bytes) {
  if (const std::string what = misfit(call.shape); !what.empty()) return wrong(what);
  if (const std::string what = misplaced(*handle, call, room, bytes); !what.empty())
    return wrong(what);
  if (machine().is_captured(handle->stream)) return wrong("algorithms are tried while captured");
  tell(call.shape, how, bytes, wanted, count, found);
  for (int i = 0; i < *count; ++i) {
    if (found[i].status != CUDNN_STATUS_SUCCESS) continue;
    const cudnnStatus_t status =
        put(*handle, "convolution_tried", [call, room, i, found_bytes = found[i].memory] {
          std::memset(call.to, 0xff, call.lies_to().bytes());
          std::memset(room, i, found_bytes);
        });
    if (status != CUDNN_STATUS_SUCCESS) return status;
  }
  const cudaError_t waited = stand_in::call(
      "cudaStreamSynchronize", [&] { return machine().look_at(handle->stream, true); });
  return waited == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

bool is_plain(const void* alpha, const void* beta, float wanted_beta) {
  return *static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == wanted_beta;
}

cudnnStatus_t convolve(cudnnHandle_t handle, const void* alpha, const Convolution& call,
                       int algorithm, void* workspace, std::size_t bytes, const void* beta) {
  if (const std::string what = misfit(call.shape); !what.empty()) return wrong(what);
  if (!is_plain(alpha, beta, 0)) return wrong("factors that the stand-in does not know");
  const std::vector<Offer> all = offers(call.shape);
  if (algorithm < 0 || static_cast<std::size_t>(algorithm) >= all.size())
    return wrong("an algorithm that was never offered");
  const Offer& taken = all[static_cast<std::size_t>(algorithm)];
  if (taken.status != CUDNN_STATUS_SUCCESS || taken.determinism != CUDNN_DETERMINISTIC)
    return wrong("an algorithm that cannot do it, or gives other bits each time");
  if (taken.fails) return CUDNN_STATUS_NOT_SUPPORTED;
  if (bytes < taken.workspace) return wrong("less room to work in than the algorithm needs");
  if (const std::string what = misplaced(*handle, call, workspace, bytes); !what.empty())
    return wrong(what);
  return put(*handle, "convolution", [call, workspace, bytes] {
    if (bytes > 0) std::memset(workspace, 0xff, bytes);
    call.run();
  });
}

cudaDataType type_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_HALF       ? CUDA_R_16F
         : type == CUDNN_DATA_BFLOAT16 ? CUDA_R_16BF
                                       : CUDA_R_32F;
}

cudnnStatus_t set(Images& images, cudnnTensorFormat_t format, cudnnDataType_t type, int batch,
                  int channels, int height, int width) {
  if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_HALF && type != CUDNN_DATA_BFLOAT16)
    return wrong("a type that the stand-in does not know");
  if (format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC)
    return wrong("an order that the stand-in does not know");
  if (std::min({batch, channels, height, width}) < 1) return wrong("an extent of nothing");
  images = {true, format == CUDNN_TENSOR_NHWC, type_of(type), batch, channels, height, width};
  return CUDNN_STATUS_SUCCESS;
}

template <typename Struct>
cudnnStatus_t make(Struct** descriptor) {
  *descriptor = new Struct;
  return CUDNN_STATUS_SUCCESS;
}
template <typename Struct>
cudnnStatus_t destroy(Struct* descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (machine().unsafe_while_captured("cudnnCreate") != cudaSuccess)
    return CUDNN_STATUS_NOT_INITIALIZED;
  *handle = new cudnnContext{.gpu = stand_in::thread_state().gpu};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  machine().queue().wait_for_all();
  return destroy(handle);
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (machine().gpu_of(stream) != handle->gpu) return wrong("a stream of another GPU");
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(Tensor* tensor) {
  return make(tensor);
}
cudnnStatus_t cudnnDestroyTensorDescriptor(Tensor tensor) {
  return destroy(tensor);
}
cudnnStatus_t cudnnSetTensor4dDescriptor(Tensor tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  return set(*tensor, format, type, n, c, h, w);
}
cudnnStatus_t cudnnCreateFilterDescriptor(Filter* filter) {
  return make(filter);
}
cudnnStatus_t cudnnDestroyFilterDescriptor(Filter filter) {
  return destroy(filter);
}
cudnnStatus_t cudnnSetFilter4dDescriptor(Filter filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  return set(*filter, format, type, k, c, h, w);
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(How* how) {
  return make(how);
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(How how) {
  return destroy(how);
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(How how, int pad_h, int pad_w, int stride_h,
                                              int stride_w, int dilation_h, int dilation_w,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t sums) {
  if (mode != CUDNN_CROSS_CORRELATION) return wrong("the filter is turned, and PyTorch's is not");
  if (sums != CUDNN_DATA_FLOAT) return wrong("its sums are not FP32");
  if (std::min(pad_h, pad_w) < 0 || std::min({stride_h, stride_w, dilation_h, dilation_w}) < 1)
    return wrong("a stride or dilation of nothing");
  how->is_set = true;
  how->vertical = {pad_h, stride_h, dilation_h};
  how->horizontal = {pad_w, stride_w, dilation_w};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(How how, cudnnMathType_t math) {
  how->math = math;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(How how, int groups) {
  if (groups < 1) return wrong("no groups");
  how->groups = groups;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const Tensor x, const Filter w,
                                                     const How how, const Tensor y, int wanted,
                                                     int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* found) {
  return expect({*x, *w, *y, *how}, how, wanted, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, const Filter w, const Tensor dy, const How how, const Tensor dx, int wanted,
    int* count, cudnnConvolutionBwdDataAlgoPerf_t* found) {
  return expect({*dx, *w, *dy, *how}, how, wanted, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, const Tensor x, const Tensor dy, const How how, const Filter dw, int wanted,
    int* count, cudnnConvolutionBwdFilterAlgoPerf_t* found) {
  return expect({*x, *dw, *dy, *how}, how, wanted, count, found);
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t handle, const Tensor x, const void* x_at, const Filter w, const void* w_at,
    const How how, const Tensor y, void* y_at, int wanted, int* count,
    cudnnConvolutionFwdAlgoPerf_t* found, void* room, std::size_t bytes) {
  return try_all(handle, call_of(Part::kForward, {*x, *w, *y, *how}, how, x_at, w_at, y_at), how,
                 wanted, count, found, room, bytes);
}
cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t handle, const Filter w, const void* w_at, const Tensor dy, const void* dy_at,
    const How how, const Tensor dx, void* dx_at, int wanted, int* count,
    cudnnConvolutionBwdDataAlgoPerf_t* found, void* room, std::size_t bytes) {
  return try_all(handle,
                 call_of(Part::kInputGradient, {*dx, *w, *dy, *how}, how, w_at, dy_at, dx_at), how,
                 wanted, count, found, room, bytes);
}
cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t handle, const Tensor x, const void* x_at, const Tensor dy, const void* dy_at,
    const How how, const Filter dw, void* dw_at, int wanted, int* count,
    cudnnConvolutionBwdFilterAlgoPerf_t* found, void* room, std::size_t bytes) {
  return try_all(handle,
                 call_of(Part::kWeightGradient, {*x, *dw, *dy, *how}, how, x_at, dy_at, dw_at), how,
                 wanted, count, found, room, bytes);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, const Tensor x,
                                      const void* x_at, const Filter w, const void* w_at,
                                      const How how, cudnnConvolutionFwdAlgo_t algorithm,
                                      void* room, std::size_t bytes, const void* beta,
                                      const Tensor y, void* y_at) {
  return convolve(handle, alpha, call_of(Part::kForward, {*x, *w, *y, *how}, how, x_at, w_at, y_at),
                  algorithm, room, bytes, beta);
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha, const Filter w,
                                           const void* w_at, const Tensor dy, const void* dy_at,
                                           const How how, cudnnConvolutionBwdDataAlgo_t algorithm,
                                           void* room, std::size_t bytes, const void* beta,
                                           const Tensor dx, void* dx_at) {
  return convolve(handle, alpha,
                  call_of(Part::kInputGradient, {*dx, *w, *dy, *how}, how, w_at, dy_at, dx_at),
                  algorithm, room, bytes, beta);
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha,
                                             const Tensor x, const void* x_at, const Tensor dy,
                                             const void* dy_at, const How how,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm, void* room,
                                             std::size_t bytes, const void* beta, const Filter dw,
                                             void* dw_at) {
  return convolve(handle, alpha,
                  call_of(Part::kWeightGradient, {*x, *dw, *dy, *how}, how, x_at, dy_at, dw_at),
                  algorithm, room, bytes, beta);
}

// A value for each channel.
cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void* alpha, const Tensor a,
                             const void* a_at, const void* beta, const Tensor c, void* c_at) {
  if (a->type != c->type || a->batch != 1 || a->channels != c->channels || a->height != 1 ||
      a->width != 1)
    return wrong("a bias that is not a value for each channel");
  if (!is_plain(alpha, beta, 1)) return wrong("factors that the stand-in does not know");
  if (!in_device(a_at, a->bytes()) || !in_device(c_at, c->bytes()))
    return wrong("an operand does not lie in a device's memory");
  return put(*handle, "bias",
             [lies = Images(*c), a_at, c_at] { stand_in::add_to_channels(c_at, lies, a_at); });
}

}  // extern "C"

stand_in::Symbols stand_in::cudnn_symbols() {
  return {TRAINSCOPE_SYMBOL(cudnnCreate),
          TRAINSCOPE_SYMBOL(cudnnDestroy),
          TRAINSCOPE_SYMBOL(cudnnSetStream),
          TRAINSCOPE_SYMBOL(cudnnCreateTensorDescriptor),
          TRAINSCOPE_SYMBOL(cudnnDestroyTensorDescriptor),
          TRAINSCOPE_SYMBOL(cudnnSetTensor4dDescriptor),
          TRAINSCOPE_SYMBOL(cudnnCreateFilterDescriptor),
          TRAINSCOPE_SYMBOL(cudnnDestroyFilterDescriptor),
          TRAINSCOPE_SYMBOL(cudnnSetFilter4dDescriptor),
          TRAINSCOPE_SYMBOL(cudnnCreateConvolutionDescriptor),
          TRAINSCOPE_SYMBOL(cudnnDestroyConvolutionDescriptor),
          TRAINSCOPE_SYMBOL(cudnnSetConvolution2dDescriptor),
          TRAINSCOPE_SYMBOL(cudnnSetConvolutionMathType),
          TRAINSCOPE_SYMBOL(cudnnSetConvolutionGroupCount),
          TRAINSCOPE_SYMBOL(cudnnGetConvolutionForwardAlgorithm_v7),
          TRAINSCOPE_SYMBOL(cudnnGetConvolutionBackwardDataAlgorithm_v7),
          TRAINSCOPE_SYMBOL(cudnnGetConvolutionBackwardFilterAlgorithm_v7),
          TRAINSCOPE_SYMBOL(cudnnFindConvolutionForwardAlgorithmEx),
          TRAINSCOPE_SYMBOL(cudnnFindConvolutionBackwardDataAlgorithmEx),
          TRAINSCOPE_SYMBOL(cudnnFindConvolutionBackwardFilterAlgorithmEx),
          TRAINSCOPE_SYMBOL(cudnnConvolutionForward),
          TRAINSCOPE_SYMBOL(cudnnConvolutionBackwardData),
          TRAINSCOPE_SYMBOL(cudnnConvolutionBackwardFilter),
          TRAINSCOPE_SYMBOL(cudnnAddTensor)};
}

#else  // without cuDNN's headers

#include "stand_in/symbols.h"

trainscope::stand_in::Symbols trainscope::stand_in::cudnn_symbols() {
  return {};
}

#endif
