#include "cuda/plugin/cudnn_convolutions.h"

#ifdef TRAINSCOPE_CUDNN

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cuda/plugin/cudnn_plans.h"
#include "cuda/plugin/device_memory.h"
#include "cuda/plugin/require.h"

namespace trainscope::cuda {
namespace {

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
  // Takes so much where it has less. False: the device has no room for it.
  bool has(std::size_t bytes) {
    if (bytes <= bytes_) return true;
    void* memory = nullptr;
    const cudaError_t status = allocate_beside_pool(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // it is not the next call's
      return false;
    }
    require(status, "cudaMalloc", __FILE__, __LINE__);
    all_.push_back(memory);
    bytes_ = bytes;
    return true;
  }
  void* memory() const { return all_.empty() ? nullptr : all_.back(); }

 private:
  std::vector<void*> all_;
  std::size_t bytes_ = 0;
};

}  // namespace

struct CudnnConvolutions::Library {
  Library() : file({"libcudnn.so.9"}) {
    if (!file.is_there()) {
      why_not = "cuDNN is missing (" + file.why_not() + ")";
    } else if (!functions.find(file)) {
      why_not = "cuDNN is older than 9";
    } else if (const cudnnStatus_t status = functions.create(&handle);
               status != CUDNN_STATUS_SUCCESS) {
      why_not = "cuDNN does not start (" + std::to_string(static_cast<int>(status)) + ")";
    }
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
  bool run(const ConvolutionCall& call, CudnnPlan& plan, Room& room);
  bool run(const ConvolutionCall& call, const CudnnPlan& plan, const CudnnChoice& choice,
           Room& room);

  cuda::Library file;
  CudnnFunctions functions;
  cudnnHandle_t handle = nullptr;
  std::string why_not;  // empty: it works
  std::map<decltype(key_of(std::declval<ConvolutionCall>())), std::unique_ptr<CudnnPlan>> plans;
  std::map<cudaStream_t, std::unique_ptr<Room>> rooms;
  std::vector<std::unique_ptr<Room>> idle;  // of streams that are no more
};

CudnnPlan& CudnnConvolutions::Library::plan_for(const ConvolutionCall& call, Room& room) {
  std::unique_ptr<CudnnPlan>& plan = plans[key_of(call)];
  if (plan) return *plan;
  constexpr std::size_t kToTry = std::size_t{256} << 20;
  TrialRoom trial;
  if (call.benchmark && room.has(kToTry)) trial = {room.memory(), kToTry};
  plan = make_plan(handle, functions, call, trial);
  return *plan;
}

bool CudnnConvolutions::Library::run(const ConvolutionCall& call, const CudnnPlan& plan,
                                     const CudnnChoice& choice, Room& room) {
  const CudnnFunctions& f = functions;
  void* memory = room.memory();
  const float one = 1, zero = 0;
  if (f.set_math(plan.convolution, choice.math) != CUDNN_STATUS_SUCCESS) return false;
  if (call.part == Part::kForward)
    return f.forward(handle, &one, plan.x, call.x.memory, plan.w, call.w.memory, plan.convolution,
                     static_cast<cudnnConvolutionFwdAlgo_t>(choice.algorithm), memory,
                     choice.workspace, &zero, plan.y, call.y.memory) == CUDNN_STATUS_SUCCESS &&
           (!call.bias.memory || f.add(handle, &one, plan.bias, call.bias.memory, &one, plan.y,
                                       call.y.memory) == CUDNN_STATUS_SUCCESS);
  if (call.part == Part::kInputGradient)
    return f.backward_input(handle, &one, plan.w, call.w.memory, plan.y, call.y.memory,
                            plan.convolution,
                            static_cast<cudnnConvolutionBwdDataAlgo_t>(choice.algorithm), memory,
                            choice.workspace, &zero, plan.x, call.x.memory) == CUDNN_STATUS_SUCCESS;
  return f.backward_weights(handle, &one, plan.x, call.x.memory, plan.y, call.y.memory,
                            plan.convolution,
                            static_cast<cudnnConvolutionBwdFilterAlgo_t>(choice.algorithm), memory,
                            choice.workspace, &zero, plan.w, call.w.memory) == CUDNN_STATUS_SUCCESS;
}

// With the first choice that works. One whose workspace has no room now is passed over, one that
// fails is struck off.
bool CudnnConvolutions::Library::run(const ConvolutionCall& call, CudnnPlan& plan, Room& room) {
  for (std::size_t i = 0; i < plan.choices.size();) {
    if (!room.has(plan.choices[i].workspace)) {
      ++i;
      continue;
    }
    if (run(call, plan, plan.choices[i], room)) return true;
    plan.choices.erase(plan.choices.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return false;
}

CudnnConvolutions::CudnnConvolutions() = default;
CudnnConvolutions::~CudnnConvolutions() = default;

bool CudnnConvolutions::convolve(const ConvolutionCall& call, kernels::Stream stream) {
  const std::lock_guard held(mutex_);
  if (!is_looked_for_) {
    is_looked_for_ = true;
    auto library = std::make_unique<Library>();
    if (library->why_not.empty()) {
      library_ = std::move(library);
    } else {
      why_not_ = library->why_not + ": convolutions are a plain kernel's";
    }
  }
  const cudaStream_t on = kernels::handle_of(stream);
  if (!library_ || library_->functions.set_stream(library_->handle, on) != CUDNN_STATUS_SUCCESS)
    return false;
  Room& room = library_->room_of(on);
  CudnnPlan& plan = library_->plan_for(call, room);
  const bool is_done = library_->run(call, plan, room);
  if (!is_done && call.part != Part::kBiasGradient && why_not_.empty())
    why_not_ =
        "cuDNN has no way that gives the same bits every time for some convolutions: those "
        "are a plain kernel's";
  return is_done;
}

std::string CudnnConvolutions::why_not() const {
  const std::lock_guard held(mutex_);
  return why_not_;
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
  const std::lock_guard held(mutex_);
  why_not_ = "this build is without cuDNN: convolutions are a plain kernel's";
  return false;
}
std::string CudnnConvolutions::why_not() const {
  const std::lock_guard held(mutex_);
  return why_not_;
}
void CudnnConvolutions::forget(cudaStream_t) {}

}  // namespace trainscope::cuda

#endif
