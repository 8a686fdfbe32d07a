#include "cuda/plugin/cupti_tracer.h"

#include <cupti.h>

#include <cstdlib>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

namespace trainscope::cuda {

Nanos host_clock() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

struct CuptiTracer::Functions {
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityEnableRuntimeApi) enable_runtime_call = nullptr;
  decltype(&cuptiActivityEnableDriverApi) enable_driver_call = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) register_clock = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop = nullptr;
  CUpti_SubscriberHandle subscriber = nullptr;

  bool find(const Library& library) {
    const auto get = [&](auto& function, const char* name) { return library.find(function, name); };
    return get(subscribe, "cuptiSubscribe") && get(unsubscribe, "cuptiUnsubscribe") &&
           get(enable, "cuptiActivityEnable") && get(disable, "cuptiActivityDisable") &&
           get(enable_runtime_call, "cuptiActivityEnableRuntimeApi") &&
           get(enable_driver_call, "cuptiActivityEnableDriverApi") &&
           get(register_callbacks, "cuptiActivityRegisterCallbacks") &&
           get(register_clock, "cuptiActivityRegisterTimestampCallback") &&
           get(flush, "cuptiActivityFlushAll") && get(next_record, "cuptiActivityGetNextRecord") &&
           get(dropped, "cuptiActivityGetNumDroppedRecords") &&
           get(push, "cuptiActivityPushExternalCorrelationId") &&
           get(pop, "cuptiActivityPopExternalCorrelationId");
  }
};

// Buffers that CUPTI has filled, until someone reads them. CUPTI's callbacks get no pointer, so
// this is the one thing of the plug-in that stands outside objects.
struct CuptiTracer::Buffers {
  static constexpr std::size_t kBytes = std::size_t{4} << 20;  // CUPTI advises 1 to 10 MB
  static constexpr std::size_t kAligned = 8;
  struct Filled {
    std::uint8_t* memory;
    std::size_t bytes;
    CUcontext context;
    std::uint32_t stream;
  };

  // Never destroyed: CUPTI may call until the process ends.
  static Buffers& all() {
    static Buffers& buffers = *new Buffers;
    return buffers;
  }
  static void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAligned, kBytes));
    *size = *buffer ? kBytes : 0;
    *most = 0;  // as many records as fit
  }
  static void CUPTIAPI completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                 std::size_t, std::size_t valid) {
    const std::lock_guard held(all().mutex);
    all().filled.push_back({buffer, valid, context, stream});
  }
  static std::vector<Filled> take() {
    const std::lock_guard held(all().mutex);
    return std::exchange(all().filled, {});
  }

  std::mutex mutex;
  std::vector<Filled> filled;
  bool is_registered = false;  // doing so again corrupts records (pytorch/pytorch#192021)
};

namespace {

std::uint64_t CUPTIAPI clock_for_cupti() {
  return static_cast<std::uint64_t>(host_clock());
}

void CUPTIAPI ignore_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

TracedKernel kernel_of(const CUpti_ActivityKernel10& record) {
  TracedKernel kernel;
  kernel.start = record.start;
  kernel.end = record.end;
  kernel.correlation = record.correlationId;
  kernel.gpu = record.deviceId;
  kernel.name = record.name;
  kernel.grid[0] = record.gridX;
  kernel.grid[1] = record.gridY;
  kernel.grid[2] = record.gridZ;
  kernel.block[0] = record.blockX;
  kernel.block[1] = record.blockY;
  kernel.block[2] = record.blockZ;
  kernel.registers = record.registersPerThread;
  kernel.shared_bytes =
      static_cast<std::int64_t>(record.staticSharedMemory) + record.dynamicSharedMemory;
  return kernel;
}

void add_record(const CUpti_Activity* record, ActivityDecoder& decoder) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return decoder.add(kernel_of(*reinterpret_cast<const CUpti_ActivityKernel10*>(record)));
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      return decoder.add(TracedCopy{copy->start, copy->end, copy->correlationId, copy->bytes,
                                    copy->srcKind, copy->dstKind});
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
      return decoder.add(TracedCopy{copy->start, copy->end, copy->correlationId, copy->bytes,
                                    copy->srcKind, copy->dstKind});
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto* fill = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      return decoder.add(TracedFill{fill->start, fill->end, fill->correlationId, fill->bytes});
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto* call = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      return decoder.add(TracedCall{call->correlationId, call->externalId});
    }
    default:
      return;
  }
}

// Calls of runtime and driver are watched because the correlation with our own calls comes with
// their records.
constexpr CUpti_ActivityKind kOfCalls[] = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                           CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER};
// Those that put nothing on a device have no such record to come with, and each costs time.
constexpr CUpti_runtime_api_trace_cbid kSilentRuntimeCalls[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaMallocAsync_v11020,
    CUPTI_RUNTIME_TRACE_CBID_cudaFreeAsync_v11020};
constexpr CUpti_driver_api_trace_cbid kSilentDriverCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuStreamQuery,        CUPTI_DRIVER_TRACE_CBID_cuEventQuery,
    CUPTI_DRIVER_TRACE_CBID_cuEventRecord,        CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent,
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,      CUPTI_DRIVER_TRACE_CBID_cuCtxSetCurrent,
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice,       CUPTI_DRIVER_TRACE_CBID_cuStreamGetCtx,
    CUPTI_DRIVER_TRACE_CBID_cuDeviceGetAttribute, CUPTI_DRIVER_TRACE_CBID_cuStreamIsCapturing};
// MEMCPY2 is of copies from one GPU to another.
constexpr CUpti_ActivityKind kOfDevices[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET};

}  // namespace

CuptiTracer::CuptiTracer(bool wanted)
    : library_(wanted ? std::vector<std::string>{"libcupti.so.13"} : std::vector<std::string>{}) {
  if (!wanted) {
    why_not_ = "TRAINSCOPE_TRACER says so; times are from pairs of events";
    return;
  }
  if (!library_.is_there()) {
    why_not_ = "CUPTI is missing (" + library_.why_not() + "); times are from pairs of events";
    return;
  }
  functions_ = std::make_unique<Functions>();
  if (!functions_->find(library_)) {
    why_not_ = "CUPTI is older than CUDA 13; times are from pairs of events";
  } else if (!start() && why_not_.empty()) {
    why_not_ = "CUPTI does not start here" + refused_ + "; times are from pairs of events";
  }
}

bool CuptiTracer::start() {
  Functions& f = *functions_;
  const CUptiResult subscribed = f.subscribe(&f.subscriber, &ignore_callback, nullptr);
  if (subscribed == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    why_not_ = "another profiler is attached to this process; times are from pairs of events";
    return false;
  }
  if (!works(subscribed, "cuptiSubscribe")) {
    f.subscriber = nullptr;
    return false;
  }
  bool& is_registered = Buffers::all().is_registered;
  if (!is_registered &&
      (!works(f.register_clock(&clock_for_cupti), "cuptiActivityRegisterTimestampCallback") ||
       !works(f.register_callbacks(&Buffers::requested, &Buffers::completed),
              "cuptiActivityRegisterCallbacks"))) {
    stop();
    return false;
  }
  is_registered = true;
  started_ = host_clock();
  if (watch(WatchLevel::kEverything)) return true;
  stop();
  return false;
}

// The first call that does not is kept for the sentence.
bool CuptiTracer::works(int status, const std::string& call) {
  if (status != CUPTI_SUCCESS && refused_.empty())
    refused_ = " (" + call + " says " + std::to_string(status) + ")";
  return status == CUPTI_SUCCESS;
}

// Nothing is recorded after it.
void CuptiTracer::stop() {
  watch(WatchLevel::kNothing);
  functions_->flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  for (const Buffers::Filled& buffer : Buffers::take()) std::free(buffer.memory);
  functions_->unsubscribe(functions_->subscriber);
  functions_->subscriber = nullptr;
}

CuptiTracer::~CuptiTracer() {
  if (functions_ && functions_->subscriber) stop();
}

bool CuptiTracer::watch(WatchLevel level) {
  const Functions& f = *functions_;
  const auto set = [&](CUpti_ActivityKind kind, bool on) {
    const std::string call = on ? "cuptiActivityEnable" : "cuptiActivityDisable";
    return works(on ? f.enable(kind) : f.disable(kind), call + " of kind " + std::to_string(kind));
  };
  bool all = true;
  for (const CUpti_ActivityKind kind : kOfDevices) all &= set(kind, level != WatchLevel::kNothing);
  for (const CUpti_ActivityKind kind : kOfCalls) all &= set(kind, level == WatchLevel::kEverything);
  if (level != WatchLevel::kEverything) return all;
  // A kind that is enabled sets this anew.
  for (const auto call : kSilentRuntimeCalls) f.enable_runtime_call(call, 0);
  for (const auto call : kSilentDriverCalls) f.enable_driver_call(call, 0);
  return all;
}

void CuptiTracer::push(CallId call) {
  functions_->push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, call);
}

void CuptiTracer::pop() {
  std::uint64_t last = 0;
  functions_->pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
}

// Flushing calls back into this file, so no lock is held meanwhile.
Activities CuptiTracer::take() {
  functions_->flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  for (const Buffers::Filled& buffer : Buffers::take()) {
    CUpti_Activity* record = nullptr;
    while (functions_->next_record(buffer.memory, buffer.bytes, &record) == CUPTI_SUCCESS)
      add_record(record, decoder_);
    std::size_t dropped = 0;
    functions_->dropped(buffer.context, buffer.stream, &dropped);
    decoder_.add_dropped(static_cast<std::int64_t>(dropped));
    std::free(buffer.memory);
  }
  return decoder_.take(started_, host_clock());
}

}  // namespace trainscope::cuda
