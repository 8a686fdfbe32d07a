// The functions of the CUDA runtime that the plug-in calls: devices, errors, streams, events,
// graphs. Each has the runtime's own prototype.

#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>

#include "kernels/device.h"
#include "stand_in/calls.h"
#include "stand_in/machine.h"
#include "stand_in/options.h"

using namespace trainscope;
using stand_in::machine;
using stand_in::thread_state;

namespace {

constexpr int kVersion = CUDART_VERSION;
// So slow that a kernel which computes for microseconds is a few rounds in the emulator.
constexpr int kClockKhz = 1000;

int driver() {
  const int told = stand_in::options().driver;
  return told < 0 ? kVersion : told;
}

bool is_gpu(int number) {
  return number >= 0 && number < stand_in::options().gpus;
}

// Errors that have no message of their own are numbers.
struct Words {
  cudaError_t status;
  const char* name;
  const char* sentence;
};
constexpr Words kWords[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"}};

std::atomic<int> looks = 0;  // at streams

const Words* words_of(cudaError_t status) {
  for (const Words& one : kWords)
    if (one.status == status) return &one;
  return nullptr;
}

}  // namespace

#define CALL(name, ...) return stand_in::call(name, [&]() -> cudaError_t { __VA_ARGS__ })

extern "C" {

// ---- errors

const char* cudaGetErrorName(cudaError_t status) {
  const Words* words = words_of(status);
  return words ? words->name : "cudaError of another kind";
}
const char* cudaGetErrorString(cudaError_t status) {
  const Words* words = words_of(status);
  return words ? words->sentence : "an error of another kind";
}
cudaError_t cudaPeekAtLastError() {
  return machine().queue().failure().empty() ? thread_state().last : cudaErrorLaunchFailure;
}
cudaError_t cudaGetLastError() {
  const cudaError_t status = cudaPeekAtLastError();
  thread_state().last = cudaSuccess;
  return status;
}

// ---- devices

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = driver();
  return cudaSuccess;
}
// What it is called with stays as it was where it fails.
cudaError_t cudaGetDeviceCount(int* count) {
  if (driver() < kVersion) return cudaErrorInsufficientDriver;
  if (stand_in::options().gpus == 0) return cudaErrorNoDevice;
  *count = stand_in::options().gpus;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int number) {
  CALL("cudaSetDevice", if (!is_gpu(number)) return cudaErrorInvalidDevice;
       thread_state().gpu = number; return cudaSuccess;);
}
cudaError_t cudaGetDevice(int* number) {
  *number = thread_state().gpu;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* all, int number) {
  if (!is_gpu(number)) return cudaErrorInvalidDevice;
  *all = {};
  std::snprintf(all->name, sizeof(all->name), "Stand-in GPU");
  all->major = stand_in::options().capability / 10;
  all->minor = stand_in::options().capability % 10;
  all->multiProcessorCount = 4;
  all->totalGlobalMem = stand_in::options().memory_bytes;
  all->maxThreadsPerMultiProcessor = 2048;
  all->maxBlocksPerMultiProcessor = 32;
  all->regsPerMultiprocessor = 65536;
  all->sharedMemPerMultiprocessor = std::size_t{228} << 10;
  all->l2CacheSize = 1 << 20;
  all->asyncEngineCount = 3;
  all->memoryBusWidth = 1024;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int number) {
  if (!is_gpu(number)) return cudaErrorInvalidDevice;
  switch (attribute) {
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
      *value = kClockKhz;
      return cudaSuccess;
    case cudaDevAttrMemoryPoolsSupported:
      *value = stand_in::options().no_pools ? 0 : 1;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int one, int other) {
  if (!is_gpu(one) || !is_gpu(other)) return cudaErrorInvalidDevice;
  *can = one != other && !stand_in::options().no_peers ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  CALL("cudaDeviceSynchronize", return machine().synchronise(thread_state().gpu););
}

// ---- streams

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  CALL("cudaStreamCreateWithPriority", *stream = machine().make_stream(flags); return cudaSuccess;);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  CALL("cudaStreamDestroy", return machine().destroy(stream););
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  CALL("cudaStreamSynchronize", return machine().look_at(stream, true););
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  ++looks;
  CALL("cudaStreamQuery", return machine().look_at(stream, false););
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  CALL("cudaStreamWaitEvent", return machine().wait(stream, event););
}

// ---- events

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  CALL("cudaEventCreateWithFlags", *event = machine().make_event(flags); return cudaSuccess;);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  CALL("cudaEventDestroy", return machine().destroy(event););
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  CALL("cudaEventRecord", return machine().record(event, stream););
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  CALL("cudaEventQuery", return machine().look_at(event, false););
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  CALL("cudaEventSynchronize", return machine().look_at(event, true););
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  CALL("cudaEventElapsedTime", return machine().elapsed(milliseconds, from, to););
}

// ---- graphs

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  CALL("cudaStreamBeginCapture", return machine().begin_capture(stream, mode););
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  CALL("cudaStreamEndCapture", return machine().end_capture(stream, graph););
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  CALL("cudaGraphInstantiate", *exec = machine().instantiate(graph);
       return *exec ? cudaSuccess : cudaErrorInvalidValue;);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  CALL("cudaGraphDestroy", return machine().destroy(graph););
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  CALL("cudaGraphExecDestroy", return machine().destroy(exec););
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  CALL("cudaGraphLaunch", return machine().launch(exec, stream););
}

// For tests: rules of CUDA that calls have broken so far; how often it was asked whether a stream
// is done; what was made and not given back, in words.
int trainscope_stand_in_looks() {
  return looks;
}
int trainscope_stand_in_broken() {
  return stand_in::rules_broken();
}
const char* trainscope_stand_in_left() {
  thread_local std::string words;
  words = machine().left();
  return words.c_str();
}

}  // extern "C"
