// GPUs by the CUDA runtime: the calls of device_calls.h one to one, kernels of kernels/, products
// by cuBLASLt, fused kernels by NVRTC, collectives by NCCL, times by CUPTI or by events.
//
// A call is made on the GPU of its stream. GPUs after the first are set up when a stream is made on
// them, and are those of the first one's model.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/device_calls.h"
#include "cuda/plugin/chain_compiler.h"
#include "cuda/plugin/cublas_products.h"
#include "cuda/plugin/cudnn_convolutions.h"
#include "cuda/plugin/cupti_tracer.h"
#include "cuda/plugin/event_timer.h"
#include "cuda/plugin/handles.h"
#include "cuda/plugin/memory_owners.h"
#include "cuda/plugin/nccl.h"

namespace trainscope::cuda {

class RealDevice : public DeviceCalls {
 public:
  // Device `number` of the driver. Throws MissingError without a driver, with one that is too old,
  // and for a GPU that is too old, each in a sentence that says what to do.
  explicit RealDevice(int number);
  ~RealDevice() override;

  DeviceFacts facts() const override;
  bool is_usable() const override;
  Nanos now() override { return host_clock(); }
  void pass_time(Nanos duration, bool on_core) override;
  void enter_thread() override;
  void leave_thread() override {}
  void begin_call(CallId call, StreamHandle stream) override;
  void end_call() override;
  int gpus() const override { return static_cast<int>(gpus_.size()); }
  StreamHandle make_stream(program::StreamKind kind, int priority, int gpu) override;
  EventHandle make_event(int gpu) override;
  HandleCounts handles() const override;
  void release_after(const HandleCounts& kept) override;
  void* allocate(std::int64_t bytes, StreamHandle stream) override;
  void release(void* memory, StreamHandle stream) override;
  void empty_cache(int gpu) override;
  void* allocate_host(std::int64_t bytes, program::MemoryKind kind) override;
  void release_host(void* memory, program::MemoryKind kind) override;
  void fill_zero(void* memory, std::int64_t bytes, StreamHandle stream) override;
  void copy(const CopyCall& copy, StreamHandle stream) override;
  void launch(const KernelCall& kernel, StreamHandle stream) override;
  std::string refusal(const program::Operation& operation) const override;
  std::int64_t room_for(const KernelCall& kernel) const override;
  void prepare(const KernelCall& kernel) override;
  std::int64_t blocks_recorded(const KernelCall& kernel) const override;
  void record(EventHandle event, StreamHandle stream) override;
  void wait(StreamHandle stream, EventHandle event) override;
  void synchronise_stream(StreamHandle stream) override;
  void synchronise_event(EventHandle event) override;
  bool is_done(EventHandle event) override;
  void synchronise() override;
  std::string join(const std::vector<RankGroup>& groups) override;
  std::string join(const Peers& peers) override;
  int ranks_elsewhere() const override;
  void together(std::size_t group, program::CollectiveKind kind, CollectiveUnit unit,
                std::int64_t units, const std::vector<RankShare>& ranks) override;
  void begin_capture(StreamHandle stream) override;
  GraphHandle end_capture(StreamHandle stream) override;
  void instantiate(GraphHandle graph) override;
  void launch_graph(GraphHandle graph, StreamHandle stream) override;
  void watch(WatchLevel level) override;
  Activities collect() override;

 private:
  struct Gpu {
    int number = 0;                            // of the driver
    std::unique_ptr<EventTimer> timer;         // where the tracer does not watch
    std::unique_ptr<CublasProducts> products;  // null: no stream is on it yet
    std::unique_ptr<CudnnConvolutions> convolutions;
    std::vector<bool> reaches;  // by GPU: the memory of which it can reach
  };
  struct Stream {
    std::size_t gpu = 0;
    OwnedStream owned;
    cudaStream_t handle = nullptr;  // the legacy default stream is nobody's
    bool captured = false;
  };
  struct Graph {
    OwnedGraph graph;
    std::vector<OwnedGraphExec> exec;  // the last is launched
  };

  Stream& stream(StreamHandle handle);
  // The stream, on whose GPU the thread's calls are from here on.
  cudaStream_t of(StreamHandle handle);
  std::size_t real(int gpu) const { return static_cast<std::size_t>(gpu) % gpus_.size(); }
  // real_gpus.cpp
  void find_gpus(int number);
  // Makes a GPU the thread's, and sets it up when it is the first time.
  Gpu& use(std::size_t gpu);
  void set_up(Gpu& gpu);
  void share_memory(std::size_t gpu);
  bool reach_each_other(std::size_t one, std::size_t other) const {
    return gpus_[one].reaches[other] && gpus_[other].reaches[one];
  }
  // From one GPU's memory to that of another that has no way to it; false: it is no such copy.
  bool copy_through_host(const CopyCall& copy, cudaStream_t stream);
  // Whether collectives may be on the streams: then who waits looks after NCCL.
  bool watches_nccl() const { return has_collectives_ && nccl_ && nccl_->why_not().empty(); }
  // cudaStreamSynchronize, beside which NCCL is watched.
  void wait_for(cudaStream_t stream);
  cudaEvent_t event(EventHandle handle);
  Graph& graph(GraphHandle handle);
  void wait_for_freed_memory(std::size_t gpu);
  void note(const Activity& what);
  Activities numbered(Activities all) const;

  bool watched_ = true;  // with the call of each work
  DeviceFacts facts_;
  std::unique_ptr<CuptiTracer> tracer_;  // before the context
  bool by_events_ = false;               // where the tracer does not watch
  bool has_pools_ = true;                // of memory
  std::vector<Gpu> gpus_;
  bool all_reach_ = true;  // each GPU the memory of each other
  MemoryOwners owners_;    // where some do not
  std::unique_ptr<RunTimeCompiler> compiler_;
  std::unique_ptr<CompiledChains> chains_;  // of all GPUs
  std::mutex set_up_mutex_;
  mutable std::mutex mutex_;  // of the lists; what is in them stays where it is
  std::deque<Stream> streams_;
  std::deque<OwnedEvent> events_;
  std::deque<Graph> graphs_;
  std::unique_ptr<Nccl> nccl_;                 // null: nobody has joined the GPUs
  std::atomic<bool> has_collectives_ = false;  // of NCCL, since handles were last taken back
};

}  // namespace trainscope::cuda
