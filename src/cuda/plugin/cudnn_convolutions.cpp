#include "cuda/plugin/cudnn_convolutions.h"

#ifdef TRAINSCOPE_CUDNN

#include <map>
#include <utility>
#include <vector>

#include "cuda/device/operands.h"
#include "cuda/plugin/cudnn_plans.h"
#include "cuda/plugin/require.h"

namespace trainscope::cuda {
namespace {

using program::ElementType;
using program::Part;

// Of one stream, whose work follows one another. What was too small stays: a captured graph may
// use it.
class Room {
 public:
  Room() = default;
  Room(const Room&) = delete;
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

// A narrow gradient of wide weights comes first in the room, behind it what the algorithm needs.
std::size_t kept_bytes(const ConvolutionCall& call) {
  constexpr std::size_t kAligned = 256;
  if (call.part != Part::kWeightGradient || stored(call.w.type) == stored(call.x.type)) return 0;
  return (static_cast<std::size_t>(2 * call.w.elements) + kAligned - 1) / kAligned * kAligned;
}

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

  Room& room_of(cudaStream_t stream) {
    std::unique_ptr<Room>& room = rooms[stream];
    if (!room && !idle.empty()) {
      room = std::move(idle.back());
      idle.pop_back();
    }
    if (!room) room = std::make_unique<Room>();
    return *room;
  }
  CudnnPlan& plan_for(const ConvolutionCall& call, Room& room);
  bool run(const ConvolutionCall& call, const CudnnPlan& plan, Room& room);

  cuda::Library file;
  CudnnFunctions functions;
  cudnnHandle_t handle = nullptr;
  bool works = false;
  std::map<decltype(key_of(std::declval<ConvolutionCall>())), std::unique_ptr<CudnnPlan>> plans;
  std::map<cudaStream_t, std::unique_ptr<Room>> rooms;
  std::vector<std::unique_ptr<Room>> idle;  // of streams that are no more
};

CudnnPlan& CudnnConvolutions::Library::plan_for(const ConvolutionCall& call, Room& room) {
  std::unique_ptr<CudnnPlan>& plan = plans[key_of(call)];
  if (plan) return *plan;
  constexpr std::size_t kToTry = std::size_t{256} << 20;
  const std::size_t kept = kept_bytes(call);
  TrialRoom trial;
  char* memory = call.benchmark ? room.of(kept + kToTry) : nullptr;
  if (memory) trial = {memory + kept, kToTry};
  plan = make_plan(handle, functions, call, trial, kept > 0 ? memory : call.w.memory);
  return *plan;
}

bool CudnnConvolutions::Library::run(const ConvolutionCall& call, const CudnnPlan& plan,
                                     Room& room) {
  const CudnnFunctions& f = functions;
  const std::size_t kept = kept_bytes(call);
  char* memory = room.of(kept + plan.workspace);
  const float one = 1, zero = 0;
  if (call.part == Part::kForward)
    return f.forward(handle, &one, plan.x, call.x.memory, plan.w, call.w.memory, plan.convolution,
                     static_cast<cudnnConvolutionFwdAlgo_t>(plan.algorithm), memory, plan.workspace,
                     &zero, plan.y, call.y.memory) == CUDNN_STATUS_SUCCESS &&
           (!call.bias.memory || f.add(handle, &one, plan.bias, call.bias.memory, &one, plan.y,
                                       call.y.memory) == CUDNN_STATUS_SUCCESS);
  if (call.part == Part::kInputGradient)
    return f.backward_input(handle, &one, plan.w, call.w.memory, plan.y, call.y.memory,
                            plan.convolution,
                            static_cast<cudnnConvolutionBwdDataAlgo_t>(plan.algorithm), memory,
                            plan.workspace, &zero, plan.x, call.x.memory) == CUDNN_STATUS_SUCCESS;
  void* gradient = kept > 0 ? memory : call.w.memory;
  return f.backward_weights(
             handle, &one, plan.x, call.x.memory, plan.y, call.y.memory, plan.convolution,
             static_cast<cudnnConvolutionBwdFilterAlgo_t>(plan.algorithm), memory + kept,
             plan.workspace, &zero, plan.w, gradient) == CUDNN_STATUS_SUCCESS;
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
  const cudaStream_t on = kernels::handle_of(stream);
  if (!library_ || library_->functions.set_stream(library_->handle, on) != CUDNN_STATUS_SUCCESS)
    return false;
  Room& room = library_->room_of(on);
  CudnnPlan& plan = library_->plan_for(call, room);
  // One that fails once is not tried again.
  if (plan.works) plan.works = library_->run(call, plan, room);
  if (plan.works && kept_bytes(call) > 0)
    cast_to(stream, {room.of(0), call.w.elements, call.x.type}, static_cast<float*>(call.w.memory));
  return plan.works;
}

void CudnnConvolutions::forget(cudaStream_t stream) {
  const std::lock_guard held(mutex_);
  if (!library_) return;
  const auto found = library_->rooms.find(stream);
  if (found == library_->rooms.end()) return;
  library_->idle.push_back(std::move(found->second));
  library_->rooms.erase(found);
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
void CudnnConvolutions::forget(cudaStream_t) {}

}  // namespace trainscope::cuda

#endif
