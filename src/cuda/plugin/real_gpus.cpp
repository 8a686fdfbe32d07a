// Several GPUs: which there are, what each needs before its first call, whose memory who may read,
// NCCL between them, waiting for them.

#include <algorithm>
#include <string_view>

#include "cuda/plugin/device_memory.h"
#include "cuda/plugin/poll.h"
#include "cuda/plugin/real_device.h"

namespace trainscope::cuda {

// Those of the same model, the asked one first.
void RealDevice::find_gpus(int number) {
  int count = 0;
  TRAINSCOPE_CUDA(cudaGetDeviceCount(&count));
  cudaDeviceProp first{}, other{};
  TRAINSCOPE_CUDA(cudaGetDeviceProperties(&first, number));
  gpus_.emplace_back().number = number;
  for (int i = 0; i < count; ++i) {
    TRAINSCOPE_CUDA(cudaGetDeviceProperties(&other, i));
    if (i != number && std::string_view(first.name) == other.name) gpus_.emplace_back().number = i;
  }
  for (Gpu& gpu : gpus_)
    for (const Gpu& owner : gpus_) {
      int can = 1;
      if (owner.number != gpu.number)
        TRAINSCOPE_CUDA(cudaDeviceCanAccessPeer(&can, gpu.number, owner.number));
      gpu.reaches.push_back(can != 0);
      all_reach_ &= can != 0;
    }
}

RealDevice::Gpu& RealDevice::use(std::size_t index) {
  Gpu& gpu = gpus_[index];
  TRAINSCOPE_CUDA(cudaSetDevice(gpu.number));
  const std::lock_guard held(set_up_mutex_);
  if (!gpu.products) {
    if (has_pools_) {
      keep_freed_memory(gpu.number);
      share_memory(index);
    }
    set_up(gpu);
  }
  return gpu;
}

void RealDevice::set_up(Gpu& gpu) {
  if (by_events_) gpu.timer = std::make_unique<EventTimer>();
  gpu.convolutions = std::make_unique<CudnnConvolutions>();
  gpu.products = std::make_unique<CublasProducts>();
}

// Memory of a pool is another GPU's to read when the pool says so.
void RealDevice::share_memory(std::size_t gpu) {
  const auto open = [this](std::size_t owner, std::size_t reader) {
    if (!gpus_[reader].reaches[owner]) return;
    cudaMemPool_t pool = nullptr;
    TRAINSCOPE_CUDA(cudaDeviceGetDefaultMemPool(&pool, gpus_[owner].number));
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = gpus_[reader].number;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    TRAINSCOPE_CUDA(cudaMemPoolSetAccess(pool, &access, 1));
  };
  for (std::size_t other = 0; other < gpus_.size(); ++other) {
    if (!gpus_[other].products || other == gpu) continue;
    open(gpu, other);
    open(other, gpu);
  }
}

// "When p2p is not enabled, only cudaMemcpyPeerAsync correctly handles memory not allocated via
// cudaMalloc" (pytorch, c10/cuda/CUDACachingAllocator.cpp, memcpyAsync).
bool RealDevice::copy_through_host(const CopyCall& copy, cudaStream_t stream) {
  if (copy.from_kind != program::MemoryKind::kDevice ||
      copy.to_kind != program::MemoryKind::kDevice)
    return false;
  const auto from = owners_.of(copy.from), to = owners_.of(copy.to);
  if (!from || !to || reach_each_other(*from, *to)) return false;
  TRAINSCOPE_CUDA(cudaMemcpyPeerAsync(copy.to, gpus_[*to].number, copy.from, gpus_[*from].number,
                                      static_cast<std::size_t>(copy.bytes), stream));
  return true;
}

cudaStream_t RealDevice::of(StreamHandle handle) {
  const Stream& one = stream(handle);
  if (gpus_.size() > 1) TRAINSCOPE_CUDA(cudaSetDevice(gpus_[one.gpu].number));
  return one.handle;
}

std::string RealDevice::join(const std::vector<RankGroup>& groups) {
  const std::lock_guard held(mutex_);
  std::vector<RankGroup> of_driver = groups;
  for (RankGroup& group : of_driver)
    for (int& gpu : group.gpus) gpu = gpus_[real(gpu)].number;
  if (nccl_ && nccl_->groups() == of_driver && !nccl_->is_aborted()) return nccl_->why_not();
  nccl_ = std::make_unique<Nccl>(of_driver);
  TRAINSCOPE_CUDA(cudaSetDevice(gpus_.front().number));
  return nccl_->why_not();
}

std::string RealDevice::join(const Peers& peers) {
  const std::lock_guard held(mutex_);
  nccl_ = std::make_unique<Nccl>(gpus_.front().number, peers);
  return nccl_->why_not();
}

int RealDevice::ranks_elsewhere() const {
  return nccl_ ? nccl_->ranks_elsewhere() : 0;
}

// All kernels of a collective are launched at once: the tracer tells them as the first rank's call,
// each with its GPU.
void RealDevice::together(std::size_t group, program::CollectiveKind kind, CollectiveUnit unit,
                          std::int64_t units, const std::vector<RankShare>& ranks) {
  has_collectives_ = true;
  std::vector<Nccl::Share> shares;
  std::vector<cudaEvent_t> begun;
  for (const RankShare& rank : ranks) {
    shares.push_back({rank.give, rank.get, of(rank.stream), rank.maximum});
    if (by_events_ && watched_)
      begun.push_back(gpus_[stream(rank.stream).gpu].timer->begin(shares.back().stream));
  }
  const auto carry_out = [&] {
    nccl_->carry_out(group, kind, unit, static_cast<std::size_t>(units), shares);
  };
  if (by_events_ || !watched_)
    carry_out();
  else
    tracer_->during(ranks.front().call, carry_out);
  for (std::size_t i = 0; i < begun.size(); ++i) {
    Activity what;
    what.name = "nccl";
    what.call = ranks[i].call;
    what.gpu = static_cast<int>(stream(ranks[i].stream).gpu);
    const cudaStream_t on = of(ranks[i].stream);
    gpus_[stream(ranks[i].stream).gpu].timer->end(begun[i], on, what);
  }
}

void RealDevice::wait_for(cudaStream_t stream) {
  if (!watches_nccl()) {
    TRAINSCOPE_CUDA(cudaStreamSynchronize(stream));
    return;
  }
  poll([&] { return TRAINSCOPE_CUDA_QUERY(cudaStreamQuery(stream)); },
       [this, begun = host_clock()] { nccl_->require_alive(begun); });
}

// ---- waiting -----------------------------------------------------------------------------------

void RealDevice::synchronise_stream(StreamHandle handle) {
  wait_for(of(handle));
}
void RealDevice::synchronise_event(EventHandle handle) {
  if (!watches_nccl()) {
    TRAINSCOPE_CUDA(cudaEventSynchronize(event(handle)));
    return;
  }
  poll([&] { return is_done(handle); },
       [this, begun = host_clock()] { nccl_->require_alive(begun); });
}
void RealDevice::synchronise() {
  if (watches_nccl()) {
    std::size_t count = 0;
    {
      const std::lock_guard held(mutex_);
      count = streams_.size();
    }
    for (std::size_t i = 0; i < count; ++i) wait_for(of(static_cast<StreamHandle>(i)));
  }
  for (const Gpu& gpu : gpus_) {
    if (!gpu.products) continue;
    TRAINSCOPE_CUDA(cudaSetDevice(gpu.number));
    TRAINSCOPE_CUDA(cudaDeviceSynchronize());
  }
  use(0);
}

// ---- what they did ------------------------------------------------------------------------------

// The tracer tells the driver's numbers of GPUs.
Activities RealDevice::numbered(Activities all) const {
  for (Activity& one : all.records) {
    const auto found = std::find_if(gpus_.begin(), gpus_.end(),
                                    [&](const Gpu& gpu) { return gpu.number == one.gpu; });
    one.gpu = found == gpus_.end() ? 0 : static_cast<int>(found - gpus_.begin());
  }
  return all;
}

}  // namespace trainscope::cuda
