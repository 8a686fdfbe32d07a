#include "stand_in/calls.h"

#include <atomic>
#include <cstdio>

#include "stand_in/machine.h"
#include "stand_in/tracer.h"

namespace trainscope::stand_in {

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

namespace {
std::atomic<int> broken = 0;
}

int rules_broken() {
  return broken;
}

cudaError_t breaks(cudaError_t status, const std::string& rule) {
  ++broken;
  std::fprintf(stderr, "stand-in: %s\n", rule.c_str());
  return status;
}

// What a call may say of work before it: cudaErrorLaunchFailure, from there on.
cudaError_t call(const char* name, const std::function<cudaError_t()>& body) {
  ThreadState& state = thread_state();
  const std::uint32_t outer = state.correlation;
  const Nanos begun = host_time();
  state.correlation = begin_traced_call(name);
  const auto is_lost = [] { return !machine().queue().failure().empty(); };
  cudaError_t status = is_lost() ? cudaErrorLaunchFailure : body();
  if (is_lost()) status = cudaErrorLaunchFailure;
  end_traced_call(name, state.correlation, begun);
  state.correlation = outer;
  if (status != cudaSuccess) state.last = status;
  return status;
}

}  // namespace trainscope::stand_in
