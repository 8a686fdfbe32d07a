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
  decltype(&cuptiGetVersion) version = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiGetGraphId) graph_id = nullptr;
  decltype(&cuptiGetGraphExecId) executable_graph_id = nullptr;
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
           get(pop, "cuptiActivityPopExternalCorrelationId") && get(version, "cuptiGetVersion") &&
           get(timestamp, "cuptiGetTimestamp") && get(graph_id, "cuptiGetGraphId") &&
           get(executable_graph_id, "cuptiGetGraphExecId");
  }
};

// Buffers that CUPTI has filled, until someone reads them. CUPTI's callbacks get no pointer, so
// they are the process's; README.md of src/cuda says what else is.
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

// CUPTI's release notes, "Resolved Issues"; versions are those of cupti_version.h.
constexpr std::uint32_t kCuda13 = 130000;
// "Fixed a potential deadlock that could occur while disabling the activity kind
// CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "a potential crash in the API cuptiActivityFlushAll".
constexpr std::uint32_t kStopsWell = 130001;
// "Fixed an issue that could cause invalid (zero) kernel timestamps when using the function
// cuptiActivityRegisterTimestampCallback", introduced in CUDA 12.6 Update 2.
constexpr std::uint32_t kTakesClock = 130100;
// "Fixed incorrect correlation IDs for cudaGraphLaunch API calls and their associated kernel
// launches in profiling sessions after the first session."
constexpr std::uint32_t kKnowsGraphs = 130101;

std::uint64_t CUPTIAPI clock_for_cupti() {
  return static_cast<std::uint64_t>(host_clock());
}

void CUPTIAPI ignore_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

// What no time is known of has 0 on any clock.
std::uint64_t on_line(const ClockLine& line, std::uint64_t theirs) {
  return theirs == 0 ? 0 : static_cast<std::uint64_t>(line.ours(static_cast<Nanos>(theirs)));
}

TracedKernel kernel_of(const CUpti_ActivityKernel10& record, const ClockLine& line) {
  TracedKernel kernel;
  kernel.start = on_line(line, record.start);
  kernel.end = on_line(line, record.end);
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
  kernel.graph = record.graphId;
  kernel.node = record.graphNodeId;
  return kernel;
}

template <typename Record>
TracedCopy copy_of(const CUpti_Activity* record, const ClockLine& line) {
  const auto& copy = *reinterpret_cast<const Record*>(record);
  return {on_line(line, copy.start),
          on_line(line, copy.end),
          copy.correlationId,
          copy.bytes,
          copy.srcKind,
          copy.dstKind,
          copy.graphId,
          copy.graphNodeId};
}

// Its times are by the line.
void add_record(const CUpti_Activity* record, const ClockLine& line, ActivityDecoder& decoder) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return decoder.add(kernel_of(*reinterpret_cast<const CUpti_ActivityKernel10*>(record), line));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return decoder.add(copy_of<CUpti_ActivityMemcpy6>(record, line));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return decoder.add(copy_of<CUpti_ActivityMemcpyPtoP4>(record, line));
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto* fill = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      return decoder.add(TracedFill{on_line(line, fill->start), on_line(line, fill->end),
                                    fill->correlationId, fill->bytes, fill->graphId,
                                    fill->graphNodeId});
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
  if (functions_->find(library_)) functions_->version(&version_);
  why_not_ = why_not_with(version_);
  if (why_not_.empty() && !start() && why_not_.empty())
    why_not_ = "CUPTI does not start here" + refused_ + "; times are from pairs of events";
}

std::string CuptiTracer::why_not_with(std::uint32_t version) const {
  if (version < kCuda13) return "CUPTI is older than CUDA 13; times are from pairs of events";
  if (version >= kStopsWell) return "";
  return "CUPTI of CUDA 13.0 can hang or crash when it stops, which its Update 1 has resolved; "
         "times "
         "are from pairs of events";
}

std::string CuptiTracer::known_faults() const {
  if (!why_not_.empty() || version_ >= kKnowsGraphs) return "";
  const std::string clock =
      version_ < kTakesClock ? "; it keeps times on a clock of its own, which is laid on the host's"
                             : "";
  return "this CUPTI (" + std::to_string(version_) +
         ") can name the wrong launch for the work of a graph: it is told by the graph's order" +
         clock;
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
  const auto has_clock = [&] {
    return version_ < kTakesClock ||
           works(f.register_clock(&clock_for_cupti), "cuptiActivityRegisterTimestampCallback");
  };
  if (!is_registered &&
      (!has_clock() || !works(f.register_callbacks(&Buffers::requested, &Buffers::completed),
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
  const WatchLevel before = std::exchange(level_, level);
  const auto set = [&](CUpti_ActivityKind kind, bool on) {
    const std::string call = on ? "cuptiActivityEnable" : "cuptiActivityDisable";
    return works(on ? f.enable(kind) : f.disable(kind), call + " of kind " + std::to_string(kind));
  };
  // What is on already is left alone.
  const bool works_on = level != WatchLevel::kNothing, calls_on = level == WatchLevel::kEverything;
  bool all = true;
  if (works_on != (before != WatchLevel::kNothing)) {
    if (works_on) last_read_ = read_clocks();
    for (const CUpti_ActivityKind kind : kOfDevices) all &= set(kind, works_on);
  }
  if (calls_on == (before == WatchLevel::kEverything)) return all;
  for (const CUpti_ActivityKind kind : kOfCalls) all &= set(kind, calls_on);
  if (!calls_on) return all;
  // A kind that is enabled sets this anew.
  for (const auto call : kSilentRuntimeCalls) f.enable_runtime_call(call, 0);
  for (const auto call : kSilentDriverCalls) f.enable_driver_call(call, 0);
  return all;
}

// Of both clocks alike where CUPTI's is ours.
ClockReading CuptiTracer::read_clocks() const {
  if (version_ >= kTakesClock) return {};
  const auto theirs = [this] {
    std::uint64_t time = 0;
    functions_->timestamp(&time);
    return static_cast<Nanos>(time);
  };
  return read_together(theirs, host_clock);
}

void CuptiTracer::push(CallId call) {
  functions_->push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, call);
}

void CuptiTracer::pop() {
  std::uint64_t last = 0;
  functions_->pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
}

void CuptiTracer::launched(cudaGraph_t made_of, cudaGraphExec_t graph, CallId call) {
  if (version_ >= kKnowsGraphs) return;
  TracedLaunch launch{0, 0, call};
  functions_->executable_graph_id(graph, &launch.graph);
  functions_->graph_id(made_of, &launch.made_of);
  const std::lock_guard held(mutex_);
  decoder_.add(launch);
}

// Flushing calls back into this file, so no lock is held meanwhile.
Activities CuptiTracer::take() {
  functions_->flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const ClockReading now = read_clocks();
  const ClockLine line(std::exchange(last_read_, now), now);
  const std::lock_guard held(mutex_);
  for (const Buffers::Filled& buffer : Buffers::take()) {
    CUpti_Activity* record = nullptr;
    CUptiResult found = buffer.bytes > 0 ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
    while (found == CUPTI_SUCCESS &&
           (found = functions_->next_record(buffer.memory, buffer.bytes, &record)) == CUPTI_SUCCESS)
      add_record(record, line, decoder_);
    // A forced flush hands over records that are not finished, too; behind one nothing is read.
    if (found != CUPTI_ERROR_MAX_LIMIT_REACHED) decoder_.add_cut();
    std::size_t dropped = 0;
    functions_->dropped(buffer.context, buffer.stream, &dropped);
    decoder_.add_dropped(static_cast<std::int64_t>(dropped));
    std::free(buffer.memory);
  }
  return decoder_.take(started_, host_clock());
}

}  // namespace trainscope::cuda
