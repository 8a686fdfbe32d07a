// Times without a tracer: an event before and one behind every call. What the device did between
// them is one record, whatever it was.
#pragma once

#include <mutex>
#include <vector>

#include "cuda/activity.h"
#include "cuda/plugin/handles.h"

namespace trainscope::cuda {

class EventTimer {
 public:
  // Takes the device's time 0 as of now.
  EventTimer();

  cudaEvent_t begin(cudaStream_t stream);
  // `what`: the record, its times not known yet.
  void end(cudaEvent_t begun, cudaStream_t stream, const Activity& what);

  // Once the device is idle, and is the current one. From then on time 0 is then.
  Activities take();

 private:
  struct Pair {
    cudaEvent_t begun;
    cudaEvent_t ended;
    Activity what;
  };
  cudaEvent_t timed_event();
  cudaError_t set_zero();

  OwnedEvent zero_;
  Nanos zero_time_ = 0;  // of the host's clock
  std::mutex mutex_;
  std::vector<OwnedEvent> events_;
  std::vector<cudaEvent_t> free_;
  std::vector<Pair> pairs_;
};

}  // namespace trainscope::cuda
