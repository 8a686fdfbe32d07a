#include "cuda/plugin/cudnn_convolutions.h"

#ifdef TRAINSCOPE_CUDNN

#include <cudnn.h>

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "cuda/device/operands.h"
#include "cuda/plugin/library.h"
#include "cuda/plugin/require.h"

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

struct Functions {
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
  decltype(&cudnnAddTensor) add = nullptr;
  decltype(&cudnnConvolutionForward) forward = nullptr;
  decltype(&cudnnConvolutionBackwardData) backward_input = nullptr;
  decltype(&cudnnConvolutionBackwardFilter) backward_weights = nullptr;

  bool find(const Library& library) {
    const auto get = [&](auto& function, const char* name) {
      function =
          library.find<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(name);
      return function != nullptr;
    };
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
           get(add, "cudnnAddTensor") && get(forward, "cudnnConvolutionForward") &&
           get(backward_input, "cudnnConvolutionBackwardData") &&
           get(backward_weights, "cudnnConvolutionBackwardFilter");
  }
};

// What cuDNN knows of one shape. The filter's descriptor is of w, or of dw in w's type.
struct Plan {
  explicit Plan(const Functions& all) : functions(all) {}
  ~Plan() {
    if (x) functions.destroy_tensor(x);
    if (y) functions.destroy_tensor(y);
    if (bias) functions.destroy_tensor(bias);
    if (w) functions.destroy_filter(w);
    if (convolution) functions.destroy_convolution(convolution);
  }
  Plan(const Plan&) = delete;

  const Functions& functions;
  cudnnTensorDescriptor_t x = nullptr;
  cudnnTensorDescriptor_t y = nullptr;
  cudnnTensorDescriptor_t bias = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  int algorithm = 0;
  std::size_t workspace = 0;
  bool works = false;
};

bool describe(const ConvolutionCall& call, Plan& plan) {
  const Functions& f = plan.functions;
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

// The first that cuDNN expects to be fastest, of those that can be taken.
template <typename Found>
void choose(const Found* found, int count, cudnnMathType_t math, Plan& plan) {
  for (int i = 0; i < count && !plan.works; ++i) {
    const Found& one = found[i];
    if (one.status != CUDNN_STATUS_SUCCESS || one.memory > kMostWorkspace ||
        one.determinism != CUDNN_DETERMINISTIC)
      continue;
    plan.algorithm = static_cast<int>(one.algo);
    plan.workspace = one.memory;
    // FMA means no TF32; elsewhere an algorithm may need its own.
    plan.works = math == CUDNN_FMA_MATH ||
                 plan.functions.set_math(plan.convolution, one.mathType) == CUDNN_STATUS_SUCCESS;
  }
}

void find_algorithm(cudnnHandle_t handle, const ConvolutionCall& call, Plan& plan) {
  constexpr int kMost = 16;
  const Functions& f = plan.functions;
  const cudnnMathType_t math = math_of(call);
  int count = 0;
  if (call.part == Part::kForward) {
    std::array<cudnnConvolutionFwdAlgoPerf_t, kMost> found{};
    if (f.find_forward(handle, plan.x, plan.w, plan.convolution, plan.y, kMost, &count,
                       found.data()) == CUDNN_STATUS_SUCCESS)
      choose(found.data(), count, math, plan);
  } else if (call.part == Part::kInputGradient) {
    std::array<cudnnConvolutionBwdDataAlgoPerf_t, kMost> found{};
    if (f.find_input(handle, plan.w, plan.y, plan.convolution, plan.x, kMost, &count,
                     found.data()) == CUDNN_STATUS_SUCCESS)
      choose(found.data(), count, math, plan);
  } else {
    std::array<cudnnConvolutionBwdFilterAlgoPerf_t, kMost> found{};
    if (f.find_weights(handle, plan.x, plan.y, plan.convolution, plan.w, kMost, &count,
                       found.data()) == CUDNN_STATUS_SUCCESS)
      choose(found.data(), count, math, plan);
  }
}

auto key_of(const ConvolutionCall& call) {
  const kernels::Conv2d& s = call.shape;
  const auto window = [](const kernels::Window& one) {
    return std::tuple(one.size, one.stride, one.padding, one.dilation);
  };
  return std::tuple(s.input.batch, s.input.channels, s.input.height, s.input.width,
                    s.input.channels_last, s.outputs, s.groups, window(s.vertical),
                    window(s.horizontal), static_cast<int>(call.part),
                    static_cast<int>(stored(call.x.type)), static_cast<int>(call.arithmetic));
}

// Of one stream, whose work follows one another. What was too small stays: a captured graph may
// use it.
class Room {
 public:
  ~Room() {
    for (void* one : all_) cudaFree(one);
  }
  char* of(std::size_t bytes) {
    if (bytes > bytes_) {
      void* memory = nullptr;
      TRAINSCOPE_CUDA(cudaMalloc(&memory, bytes));
      all_.push_back(memory);
      bytes_ = bytes;
    }
    return all_.empty() ? nullptr : static_cast<char*>(all_.back());
  }

 private:
  std::vector<void*> all_;
  std::size_t bytes_ = 0;
};

}  // namespace

struct CudnnConvolutions::Library {
  Library() : file({"libcudnn.so.9"}) {
    works = file.is_there() && functions.find(file) &&
            functions.create(&handle) == CUDNN_STATUS_SUCCESS;
  }
  ~Library() {
    plans.clear();
    if (handle) functions.destroy(handle);
  }

  Plan& plan_for(const ConvolutionCall& call) {
    std::unique_ptr<Plan>& plan = plans[key_of(call)];
    if (!plan) {
      plan = std::make_unique<Plan>(functions);
      if (describe(call, *plan)) find_algorithm(handle, call, *plan);
    }
    return *plan;
  }

  bool run(const ConvolutionCall& call, const Plan& plan, kernels::Stream stream);

  cuda::Library file;
  Functions functions;
  cudnnHandle_t handle = nullptr;
  bool works = false;
  std::map<decltype(key_of(std::declval<ConvolutionCall>())), std::unique_ptr<Plan>> plans;
  std::map<kernels::Stream, Room> rooms;
};

bool CudnnConvolutions::Library::run(const ConvolutionCall& call, const Plan& plan,
                                     kernels::Stream stream) {
  const Functions& f = functions;
  constexpr std::size_t kAligned = 256;
  const bool is_widened =
      call.part == Part::kWeightGradient && stored(call.w.type) != stored(call.x.type);
  // A narrow gradient of wide weights comes first in the room, behind it what the algorithm needs.
  const std::size_t kept =
      is_widened
          ? (static_cast<std::size_t>(2 * call.w.elements) + kAligned - 1) / kAligned * kAligned
          : 0;
  char* room = rooms[stream].of(kept + plan.workspace);
  if (f.set_stream(handle, stream) != CUDNN_STATUS_SUCCESS) return false;
  const float one = 1, zero = 0;
  if (call.part == Part::kForward)
    return f.forward(handle, &one, plan.x, call.x.memory, plan.w, call.w.memory, plan.convolution,
                     static_cast<cudnnConvolutionFwdAlgo_t>(plan.algorithm), room, plan.workspace,
                     &zero, plan.y, call.y.memory) == CUDNN_STATUS_SUCCESS &&
           (!call.bias.memory || f.add(handle, &one, plan.bias, call.bias.memory, &one, plan.y,
                                       call.y.memory) == CUDNN_STATUS_SUCCESS);
  if (call.part == Part::kInputGradient)
    return f.backward_input(handle, &one, plan.w, call.w.memory, plan.y, call.y.memory,
                            plan.convolution,
                            static_cast<cudnnConvolutionBwdDataAlgo_t>(plan.algorithm), room,
                            plan.workspace, &zero, plan.x, call.x.memory) == CUDNN_STATUS_SUCCESS;
  void* gradient = kept > 0 ? room : call.w.memory;
  if (f.backward_weights(handle, &one, plan.x, call.x.memory, plan.y, call.y.memory,
                         plan.convolution,
                         static_cast<cudnnConvolutionBwdFilterAlgo_t>(plan.algorithm), room + kept,
                         plan.workspace, &zero, plan.w, gradient) != CUDNN_STATUS_SUCCESS)
    return false;
  if (kept > 0)
    cast_to(stream, {gradient, call.w.elements, call.x.type}, static_cast<float*>(call.w.memory));
  return true;
}

CudnnConvolutions::CudnnConvolutions() = default;
CudnnConvolutions::~CudnnConvolutions() = default;

bool CudnnConvolutions::convolve(const ConvolutionCall& call, kernels::Stream stream) {
  const std::lock_guard held(mutex_);
  if (!is_looked_for_) {
    is_looked_for_ = true;
    auto library = std::make_unique<Library>();
    if (library->works) library_ = std::move(library);
  }
  if (!library_) return false;
  Plan& plan = library_->plan_for(call);
  // One that fails once is not tried again.
  if (plan.works) plan.works = library_->run(call, plan, stream);
  return plan.works;
}

void CudnnConvolutions::forget(kernels::Stream stream) {
  const std::lock_guard held(mutex_);
  if (library_) library_->rooms.erase(stream);
}

}  // namespace trainscope::cuda

#else  // without cuDNN's headers

namespace trainscope::cuda {

struct CudnnConvolutions::Library {};
CudnnConvolutions::CudnnConvolutions() = default;
CudnnConvolutions::~CudnnConvolutions() = default;
bool CudnnConvolutions::convolve(const ConvolutionCall&, kernels::Stream) {
  return false;
}
void CudnnConvolutions::forget(kernels::Stream) {}

}  // namespace trainscope::cuda

#endif
