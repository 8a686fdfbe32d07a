#include "cuda/plugin/event_timer.h"

#include <cmath>

#include "cuda/plugin/cupti_tracer.h"

namespace trainscope::cuda {

EventTimer::EventTimer() : zero_(make_event(cudaEventDefault)) {
  TRAINSCOPE_CUDA(cudaDeviceSynchronize());
  TRAINSCOPE_CUDA(set_zero());
}

// Of an idle device.
cudaError_t EventTimer::set_zero() {
  cudaError_t status = cudaEventRecord(zero_.get(), cudaStreamLegacy);
  if (status == cudaSuccess) status = cudaEventSynchronize(zero_.get());
  zero_time_ = host_clock();
  return status;
}

cudaEvent_t EventTimer::timed_event() {
  const std::lock_guard held(mutex_);
  if (free_.empty()) {
    events_.push_back(make_event(cudaEventDefault));
    return events_.back().get();
  }
  const cudaEvent_t event = free_.back();
  free_.pop_back();
  return event;
}

cudaEvent_t EventTimer::begin(cudaStream_t stream) {
  const cudaEvent_t event = timed_event();
  TRAINSCOPE_CUDA(cudaEventRecord(event, stream));
  return event;
}

void EventTimer::end(cudaEvent_t begun, cudaStream_t stream, const Activity& what) {
  const cudaEvent_t ended = timed_event();
  TRAINSCOPE_CUDA(cudaEventRecord(ended, stream));
  const std::lock_guard held(mutex_);
  pairs_.push_back({begun, ended, what});
}

// A lost device tells no times any more: its pairs are dropped.
Activities EventTimer::take() {
  const std::lock_guard held(mutex_);
  Activities all;
  all.source = TimeSource::kEvents;
  for (const Pair& pair : pairs_) {
    // A duration is exact to half a microsecond; a start, in FP32, to 2^-24 of the time since zero.
    float from_ms = 0, lasted_ms = 0;
    const bool known = cudaEventElapsedTime(&from_ms, zero_.get(), pair.begun) == cudaSuccess &&
                       cudaEventElapsedTime(&lasted_ms, pair.begun, pair.ended) == cudaSuccess;
    free_.push_back(pair.begun);
    free_.push_back(pair.ended);
    if (!known) {
      ++all.dropped;
      continue;
    }
    constexpr double kNanosAMilli = 1e6;
    Activity activity = pair.what;
    activity.start = zero_time_ + std::llround(from_ms * kNanosAMilli);
    activity.end = activity.start + std::llround(lasted_ms * kNanosAMilli);
    all.records.push_back(activity);
  }
  pairs_.clear();
  // FP32 has fewer places for later starts, and the two clocks drift apart. Of a device that is
  // lost there is nothing more to tell.
  static_cast<void>(set_zero());
  return all;
}

}  // namespace trainscope::cuda
