// A call of the CUDA runtime: the thread's GPU, its last error, its number for the tracer.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <string>

#include "stand_in/queue.h"

namespace trainscope::stand_in {

// Of each host thread, as CUDA has it.
struct ThreadState {
  int gpu = 0;
  cudaError_t last = cudaSuccess;
  std::uint32_t correlation = 0;  // of the call that it is in
};
ThreadState& thread_state();

// Has the call numbered, and told to the tracer with its times. Returns what the body does, kept as
// the thread's last error; once the device is lost every call fails.
cudaError_t call(const char* name, const std::function<cudaError_t()>& body);

// Prints the rule that a call breaks, and counts it.
cudaError_t breaks(cudaError_t status, const std::string& rule);

int rules_broken();

}  // namespace trainscope::stand_in
