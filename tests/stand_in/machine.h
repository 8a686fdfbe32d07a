// The streams, events and graphs of the machine that stands in, by the rules of the CUDA C++
// Programming Guide ("Streams", "Multi-Device System", "CUDA Graphs") and of the runtime's
// reference. What these leave undefined, or CUDA lets pass, is an error here.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "stand_in/memory.h"
#include "stand_in/queue.h"

struct CUgraph_st {
  std::uint32_t number = 0;  // of graphs and executable ones, from 1
  std::vector<trainscope::stand_in::Work> nodes = {};
};
struct CUgraphExec_st {
  std::uint32_t number = 0;
  std::vector<trainscope::stand_in::Work> nodes = {};
};
struct CUstream_st {
  int gpu = 0;
  bool is_legacy = false;
  bool waits_for_legacy = false;  // and is waited for by it: not made as "non-blocking"
  trainscope::stand_in::OpRef tail = {};
  CUgraph_st* graph = nullptr;  // while it is captured
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  cudaError_t capture_failed = cudaSuccess;
};
struct CUevent_st {
  int gpu = 0;
  bool is_timed = true;
  bool is_captured = false;
  trainscope::stand_in::OpRef op = {};  // null: never recorded
};

namespace trainscope::stand_in {

class Machine {
 public:
  Machine();

  cudaStream_t make_stream(unsigned flags);
  cudaError_t destroy(cudaStream_t stream);
  cudaEvent_t make_event(unsigned flags);
  cudaError_t destroy(cudaEvent_t event);
  CUgraphExec_st* instantiate(cudaGraph_t graph);
  cudaError_t destroy(cudaGraph_t graph);
  cudaError_t destroy(cudaGraphExec_t exec);

  // Puts work on a stream, or into its graph; `behind` other work, too. `needs_own_gpu`: the stream
  // must be of the thread's GPU. What was put comes back in `op`, null for a captured one.
  struct Put {
    std::vector<OpRef> behind = {};
    bool needs_own_gpu = true;
    OpRef* op = nullptr;
  };
  cudaError_t put(cudaStream_t stream, Work work, const Put& how);
  cudaError_t put(cudaStream_t stream, Work work) { return put(stream, std::move(work), Put{}); }
  cudaError_t launch(cudaGraphExec_t exec, cudaStream_t stream);

  cudaError_t record(cudaEvent_t event, cudaStream_t stream);
  cudaError_t wait(cudaStream_t stream, cudaEvent_t event);
  cudaError_t elapsed(float* milliseconds, cudaEvent_t from, cudaEvent_t to);

  // Done, or cudaErrorNotReady; waiting: done.
  cudaError_t look_at(cudaStream_t stream, bool waits);
  cudaError_t look_at(cudaEvent_t event, bool waits);
  cudaError_t synchronise(int gpu);

  cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode);
  cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph);
  bool is_captured(cudaStream_t stream);
  // While a stream is captured in a mode that forbids it: what a thread may not do then.
  cudaError_t unsafe_while_captured(const char* what);

  int gpu_of(cudaStream_t stream);
  Memory& memory() { return memory_; }
  Queue& queue() { return queue_; }

  // "2 streams, 1 event, ...": what was made and not destroyed; empty: nothing.
  std::string left();

 private:
  CUstream_st* find(cudaStream_t stream);  // locked; null: there is none
  cudaError_t refusal(const CUstream_st& stream, bool needs_own_gpu);
  std::vector<OpRef> before(const CUstream_st& stream) const;
  OpRef add(CUstream_st& stream, Work work, std::vector<OpRef> behind);

  std::mutex mutex_;
  Memory memory_;
  Queue queue_;
  std::map<int, CUstream_st> legacy_;  // by GPU
  std::set<cudaStream_t> streams_;
  std::set<cudaEvent_t> events_;
  std::set<cudaGraph_t> graphs_;
  std::set<cudaGraphExec_t> execs_;
  std::uint32_t graph_numbers_ = 0;
};

// The one of the process: CUDA's functions name none.
Machine& machine();

}  // namespace trainscope::stand_in
