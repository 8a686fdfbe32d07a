// Watches the device by CUPTI Activity: a thin wrapper that copies what is wanted of each record;
// activity_decoder.h makes sense of it. The library is loaded when it is first wanted.
//
// One process has one tracer: CUPTI's callbacks carry no pointer of ours. Where another profiler is
// attached, or the library is missing, there is none, and the reason is kept.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "cuda/activity_decoder.h"
#include "cuda/device_calls.h"
#include "cuda/plugin/library.h"
#include "cuda/tracer_clock.h"

namespace trainscope::cuda {

// Nanoseconds of CLOCK_MONOTONIC_RAW, which does not jump: of the host and, through CUPTI, of the
// device.
Nanos host_clock();

class CuptiTracer {
 public:
  // Starts to watch kernels, copies and fills. Before the process's first use of the device.
  // Not `wanted`, it is left alone, and nothing is watched.
  explicit CuptiTracer(bool wanted);
  ~CuptiTracer();
  CuptiTracer(const CuptiTracer&) = delete;

  // Why nothing is watched; empty: it is.
  const std::string& why_not() const { return why_not_; }
  // What this CUPTI is known not to tell right, and what is done about it, in words; empty: nothing
  // is known.
  std::string known_faults() const;

  // What it goes on watching. False: CUPTI refuses some of it. From nothing to something is a new
  // session of CUPTI's.
  bool watch(WatchLevel level);

  // What the calling thread does between them belongs to a call.
  void push(CallId call);
  void pop();
  template <typename Act>
  void during(CallId call, const Act& act) {
    push(call);
    try {
      act();
    } catch (...) {
      pop();
      throw;
    }
    pop();
  }

  // The calling thread has launched this graph in a call of ours, which is watched.
  void launched(cudaGraph_t made_of, cudaGraphExec_t graph, CallId call);

  // All that the device has done so far; once it is idle.
  Activities take();

 private:
  struct Functions;
  struct Buffers;
  std::string why_not_with(std::uint32_t version) const;
  bool start();
  void stop();
  bool works(int status, const std::string& call);
  ClockReading read_clocks() const;

  Nanos started_ = 0;
  std::uint32_t version_ = 0;  // of CUPTI, as cupti_version.h has it
  WatchLevel level_ = WatchLevel::kNothing;
  ClockReading last_read_;  // where times are CUPTI's clock's
  Library library_;
  std::unique_ptr<Functions> functions_;
  std::string why_not_;
  std::string refused_;  // the first call that CUPTI refused, and its status
  std::mutex mutex_;     // of the decoder
  ActivityDecoder decoder_;
};

}  // namespace trainscope::cuda
