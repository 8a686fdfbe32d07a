#include "cuda/plugin/real_device.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <thread>

#include "cuda/plugin/device_memory.h"
#include "cuda/plugin/left_behind.h"

namespace trainscope::cuda {
namespace {

using program::MemoryKind;

constexpr int kOldest = 75;  // Turing: what CUDA 13 still compiles for

// The call that the thread is in; by events, with what it does.
struct Current {
  CallId call = 0;
  StreamHandle stream = 0;
  cudaEvent_t begun = nullptr;
  Activity what;
};
thread_local Current current;

std::string version_words(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void require_driver() {
  int driver = 0, runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    throw MissingError("there is no NVIDIA driver for a GPU here (libcuda.so.1)");
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaErrorInsufficientDriver)
    throw MissingError("the NVIDIA driver is for CUDA " + version_words(driver) +
                       ", and this program was built for " + version_words(runtime) +
                       "; install a newer driver");
  if (status == cudaErrorNoDevice || (status == cudaSuccess && devices == 0)) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    throw MissingError(std::string("the NVIDIA driver shows no GPU") +
                       (visible ? " where CUDA_VISIBLE_DEVICES is \"" : "") +
                       (visible ? visible + std::string("\"") : ""));
  }
  TRAINSCOPE_CUDA(status);
}

DeviceFacts facts_of(int number) {
  cudaDeviceProp properties{};
  TRAINSCOPE_CUDA(cudaGetDeviceProperties(&properties, number));
  int driver = 0, runtime = 0, khz = 0;
  TRAINSCOPE_CUDA(cudaRuntimeGetVersion(&runtime));
  TRAINSCOPE_CUDA(cudaDriverGetVersion(&driver));
  TRAINSCOPE_CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, number));
  DeviceFacts facts;
  facts.name = properties.name;
  facts.driver = "a driver for CUDA " + version_words(driver);
  facts.toolkit = "CUDA " + version_words(runtime);
  facts.capability = 10 * properties.major + properties.minor;
  facts.sm_count = properties.multiProcessorCount;
  facts.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  facts.clock_hz = std::int64_t{1000} * khz;
  facts.threads_per_sm = properties.maxThreadsPerMultiProcessor;
  facts.blocks_per_sm = properties.maxBlocksPerMultiProcessor;
  facts.registers_per_sm = properties.regsPerMultiprocessor;
  facts.shared_bytes_per_sm = static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor);
  facts.l2_bytes = properties.l2CacheSize;
  facts.copy_engines = properties.asyncEngineCount;
  int memory_khz = 0;
  TRAINSCOPE_CUDA(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, number));
  facts.memory_bytes_per_s = 2e3 * memory_khz * (properties.memoryBusWidth / 8.0);
  if (facts.capability < kOldest)
    throw MissingError(facts.name + " has compute capability " + std::to_string(properties.major) +
                       "." + std::to_string(properties.minor) +
                       ", and the kernels need 7.5 or newer");
  return facts;
}

// TRAINSCOPE_TRACER=events: once it has been there CUPTI costs something even when it is off.
bool is_tracer_wanted() {
  const char* word = std::getenv("TRAINSCOPE_TRACER");
  return !word || std::string_view(word) != "events";
}

cudaMemcpyKind direction(const CopyCall& copy) {
  const bool from = copy.from_kind == MemoryKind::kDevice, to = copy.to_kind == MemoryKind::kDevice;
  return from && to ? cudaMemcpyDeviceToDevice
         : to       ? cudaMemcpyHostToDevice
         : from     ? cudaMemcpyDeviceToHost
                    : cudaMemcpyHostToHost;
}

}  // namespace

RealDevice::RealDevice(int number) {
  require_driver();
  tracer_ = std::make_unique<CuptiTracer>(is_tracer_wanted());
  TRAINSCOPE_CUDA(cudaSetDevice(number));
  facts_ = facts_of(number);
  by_events_ = !tracer_->why_not().empty();
  const std::string traced = by_events_ ? tracer_->why_not() : tracer_->known_faults();
  if (!traced.empty()) facts_.driver += "; " + traced;
  has_pools_ = has_pools(number);
  if (!has_pools_)
    facts_.driver +=
        "; this GPU has no memory pools: to take or give back memory is to wait for the GPU";
  compiler_ = std::make_unique<RunTimeCompiler>(facts_.capability);
  chains_ = std::make_unique<CompiledChains>(*compiler_);
  find_gpus(number);
  use(0);
}

RealDevice::~RealDevice() {
  if (is_anything_left_behind()) return;  // it may hold the GPU for ever
  for (const Gpu& gpu : gpus_)
    if (gpu.products && cudaSetDevice(gpu.number) == cudaSuccess) cudaDeviceSynchronize();
}

DeviceFacts RealDevice::facts() const {
  DeviceFacts facts = facts_;
  if (const std::string why = compiler_->why_not(); !why.empty()) facts.driver += "; " + why;
  for (const Gpu& gpu : gpus_) {
    const std::string why = gpu.convolutions ? gpu.convolutions->why_not() : "";
    if (why.empty()) continue;
    facts.driver += "; " + why;
    break;  // the others have the same library
  }
  return facts;
}

bool RealDevice::is_usable() const {
  return !was_device_lost() && !is_sticky(cudaPeekAtLastError());
}

void RealDevice::pass_time(Nanos duration, bool on_core) {
  if (!on_core) return std::this_thread::sleep_for(std::chrono::nanoseconds(duration));
  const Nanos end = host_clock() + duration;
  while (host_clock() < end) {
  }
}

void RealDevice::enter_thread() {
  use(0);
}

// ---- what belongs to which call -----------------------------------------------------------------

void RealDevice::begin_call(CallId call, StreamHandle handle) {
  current = {call, handle, nullptr, {}};
  if (!watched_) return;
  if (!by_events_) return tracer_->push(call);
  if (stream(handle).captured) return;
  const cudaStream_t on = of(handle);
  current.begun = gpus_[stream(handle).gpu].timer->begin(on);
}

void RealDevice::end_call() {
  if (!by_events_) {
    if (watched_) tracer_->pop();
  } else if (current.begun) {
    const cudaStream_t on = of(current.stream);
    const std::size_t gpu = stream(current.stream).gpu;
    current.what.call = current.call;
    current.what.gpu = static_cast<int>(gpu);
    gpus_[gpu].timer->end(current.begun, on, current.what);
  }
  current = {};
}

void RealDevice::note(const Activity& what) {
  if (by_events_) current.what = what;
}

// Events are around calls: they see all or nothing.
void RealDevice::watch(WatchLevel level) {
  watched_ = by_events_ ? level != WatchLevel::kNothing : level == WatchLevel::kEverything;
  if (!by_events_) tracer_->watch(level);
}

Activities RealDevice::collect() {
  if (!by_events_) return numbered(tracer_->take());
  Activities all;
  all.source = TimeSource::kEvents;
  for (const Gpu& gpu : gpus_) {
    if (!gpu.timer) continue;
    cudaSetDevice(gpu.number);  // a timer's events are of its GPU
    const Activities one = gpu.timer->take();
    all.records.insert(all.records.end(), one.records.begin(), one.records.end());
    all.dropped += one.dropped;
  }
  cudaSetDevice(gpus_.front().number);
  return all;
}

// ---- handles ------------------------------------------------------------------------------------

RealDevice::Stream& RealDevice::stream(StreamHandle handle) {
  const std::lock_guard held(mutex_);
  return streams_[handle];
}
cudaEvent_t RealDevice::event(EventHandle handle) {
  const std::lock_guard held(mutex_);
  return events_[handle].get();
}
RealDevice::Graph& RealDevice::graph(GraphHandle handle) {
  const std::lock_guard held(mutex_);
  return graphs_[handle];
}

StreamHandle RealDevice::make_stream(program::StreamKind kind, int priority, int gpu) {
  use(real(gpu));
  Stream made;
  made.gpu = real(gpu);
  made.handle = cudaStreamLegacy;
  if (kind != program::StreamKind::kLegacyDefault) {
    const unsigned flags =
        kind == program::StreamKind::kNonBlocking ? cudaStreamNonBlocking : cudaStreamDefault;
    TRAINSCOPE_CUDA(cudaStreamCreateWithPriority(&made.handle, flags, priority));
    made.owned = OwnedStream(made.handle);
  }
  const std::lock_guard held(mutex_);
  streams_.push_back(std::move(made));
  return static_cast<StreamHandle>(streams_.size() - 1);
}

EventHandle RealDevice::make_event(int gpu) {
  use(real(gpu));
  OwnedEvent made = cuda::make_event(cudaEventDisableTiming);
  const std::lock_guard held(mutex_);
  events_.push_back(std::move(made));
  return static_cast<EventHandle>(events_.size() - 1);
}

HandleCounts RealDevice::handles() const {
  const std::lock_guard held(mutex_);
  return {streams_.size(), events_.size(), graphs_.size()};
}

// Graphs first: they use what belongs to the streams.
void RealDevice::release_after(const HandleCounts& kept) {
  const std::lock_guard held(mutex_);
  has_collectives_ = false;
  while (graphs_.size() > kept.graphs) graphs_.pop_back();
  while (events_.size() > kept.events) events_.pop_back();
  while (streams_.size() > kept.streams) {
    const Stream& last = streams_.back();
    gpus_[last.gpu].products->forget(last.handle);
    gpus_[last.gpu].convolutions->forget(last.handle);
    streams_.pop_back();
  }
}

// ---- memory -------------------------------------------------------------------------------------

void* RealDevice::allocate(std::int64_t bytes, StreamHandle handle) {
  void* memory = nullptr;
  const cudaStream_t on = of(handle);
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));  // a pool has no 0
  const auto take = [&] {
    return has_pools_ ? cudaMallocAsync(&memory, size, on) : cudaMalloc(&memory, size);
  };
  cudaError_t status = take();
  if (status == cudaErrorMemoryAllocation && !stream(handle).captured) {
    wait_for_freed_memory(stream(handle).gpu);
    status = take();
  }
  require(status, has_pools_ ? "cudaMallocAsync" : "cudaMalloc", __FILE__, __LINE__);
  if (!all_reach_) owners_.add(memory, static_cast<std::int64_t>(size), stream(handle).gpu);
  return memory;
}

// What other streams have given back is there once they are done, and a pool in pieces can be made
// anew. Not for ever: what they wait for may be what the calling thread does next.
void RealDevice::wait_for_freed_memory(std::size_t gpu) {
  constexpr std::chrono::seconds kMost{2};
  constexpr std::chrono::microseconds kPause{100};
  cudaGetLastError();  // it is not the next call's
  std::vector<cudaStream_t> streams;
  {
    const std::lock_guard held(mutex_);
    for (const Stream& one : streams_)
      if (one.gpu == gpu && !one.captured) streams.push_back(one.handle);
  }
  const auto end = std::chrono::steady_clock::now() + kMost;
  for (const cudaStream_t one : streams)
    while (!TRAINSCOPE_CUDA_QUERY(cudaStreamQuery(one)) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(kPause);
  if (has_pools_) empty_pool(gpus_[gpu].number);
}

// Virtual GPUs share the pool of the real one.
void RealDevice::empty_cache(int gpu) {
  if (has_pools_) empty_pool(gpus_[real(gpu)].number);
}

// Without a pool no stream has an order for it: what was launched before is waited for.
void RealDevice::release(void* memory, StreamHandle handle) {
  const cudaStream_t on = of(handle);
  if (!all_reach_) owners_.remove(memory);
  if (has_pools_) {
    TRAINSCOPE_CUDA(cudaFreeAsync(memory, on));
    return;
  }
  wait_for(on);
  TRAINSCOPE_CUDA(cudaFree(memory));
}

void* RealDevice::allocate_host(std::int64_t bytes, MemoryKind kind) {
  if (kind == MemoryKind::kPinned) return allocate_pinned(static_cast<std::size_t>(bytes));
  constexpr std::size_t kPage = 4096;
  const auto pages = (static_cast<std::size_t>(bytes) + kPage - 1) / kPage;
  void* memory = std::aligned_alloc(kPage, pages * kPage);
  if (!memory)
    throw MissingError("the host has no " + std::to_string(bytes >> 20) + " MiB" +
                       " left for a buffer in pageable memory; take a smaller batch or copy");
  return memory;
}

void RealDevice::release_host(void* memory, MemoryKind kind) {
  if (kind == MemoryKind::kPinned) {
    cudaFreeHost(memory);
  } else {
    std::free(memory);
  }
}

// ---- work ---------------------------------------------------------------------------------------

void RealDevice::fill_zero(void* memory, std::int64_t bytes, StreamHandle handle) {
  TRAINSCOPE_CUDA(cudaMemsetAsync(memory, 0, static_cast<std::size_t>(bytes), of(handle)));
}

void RealDevice::copy(const CopyCall& copy, StreamHandle handle) {
  Activity what;
  what.kind = ActivityKind::kCopy;
  what.bytes = copy.bytes;
  what.from = copy.from_kind;
  what.to = copy.to_kind;
  note(what);
  const cudaStream_t on = of(handle);
  if (!all_reach_ && copy_through_host(copy, on)) return;
  TRAINSCOPE_CUDA(cudaMemcpyAsync(copy.to, copy.from, static_cast<std::size_t>(copy.bytes),
                                  direction(copy), on));
}

void RealDevice::launch(const KernelCall& kernel, StreamHandle handle) {
  Activity what;
  what.name = launch_name(*kernel.operation);
  note(what);
  constexpr int kMostRounds = std::numeric_limits<int>::max();
  const cudaStream_t on = of(handle);
  const Gpu& gpu = gpus_[stream(handle).gpu];
  try {
    launch_operation(kernel, kernels::stream_of(on),
                     {*gpu.products, gpu.convolutions.get(), chains_.get()},
                     {static_cast<double>(facts_.clock_hz), kMostRounds});
  } catch (const Error&) {
    // A launch also tells of what failed before it; a library's, in words of its own.
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess && !stream(handle).captured) status = cudaStreamQuery(on);
    if (status == cudaErrorNotReady) cudaGetLastError();  // it is not the next call's
    if (is_sticky(status) || status == cudaErrorMemoryAllocation)
      require(status, ("launch of " + launch_name(*kernel.operation)).c_str(), __FILE__, __LINE__);
    throw;
  }
}

std::string RealDevice::refusal(const program::Operation& operation) const {
  for (const program::Operation& part : operation.parts)
    if (std::string why = refusal(part); !why.empty()) return why;
  const bool multiplies = operation.kind == program::OperationKind::kGemm ||
                          std::holds_alternative<program::Linear>(operation.function);
  const std::string& why_not = gpus_.front().products->why_not();
  if (multiplies && !why_not.empty()) return why_not;
  return refusal_of(operation);
}

std::int64_t RealDevice::room_for(const KernelCall& kernel) const {
  return room_of(kernel);
}

// On each GPU that somebody has a stream on: code is loaded for one at a time.
void RealDevice::prepare(const KernelCall& kernel) {
  for (std::size_t i = gpus_.size(); i-- > 0;) {
    if (i > 0 && !gpus_[i].products) continue;
    use(i);
    prepare_operation(kernel, *chains_);
  }
}

std::int64_t RealDevice::blocks_recorded(const KernelCall& kernel) const {
  return blocks_recorded_by(kernel);
}

// ---- order --------------------------------------------------------------------------------------

void RealDevice::record(EventHandle handle, StreamHandle on) {
  const cudaStream_t stream = of(on);
  TRAINSCOPE_CUDA(cudaEventRecord(event(handle), stream));
}
void RealDevice::wait(StreamHandle handle, EventHandle behind) {
  TRAINSCOPE_CUDA(cudaStreamWaitEvent(of(handle), event(behind), 0));
}
bool RealDevice::is_done(EventHandle handle) {
  return TRAINSCOPE_CUDA_QUERY(cudaEventQuery(event(handle)));
}
// Relaxed: other threads may allocate meanwhile.
void RealDevice::begin_capture(StreamHandle handle) {
  TRAINSCOPE_CUDA(cudaStreamBeginCapture(of(handle), cudaStreamCaptureModeRelaxed));
  stream(handle).captured = true;
}

GraphHandle RealDevice::end_capture(StreamHandle handle) {
  stream(handle).captured = false;
  cudaGraph_t captured = nullptr;
  TRAINSCOPE_CUDA(cudaStreamEndCapture(of(handle), &captured));
  const std::lock_guard held(mutex_);
  graphs_.push_back({OwnedGraph(captured), {}});
  return static_cast<GraphHandle>(graphs_.size() - 1);
}

void RealDevice::instantiate(GraphHandle handle) {
  Graph& one = graph(handle);
  cudaGraphExec_t exec = nullptr;
  TRAINSCOPE_CUDA(cudaGraphInstantiate(&exec, one.graph.get(), 0));
  one.exec.push_back(OwnedGraphExec(exec));  // taking the last one back would be timed as well
}

void RealDevice::launch_graph(GraphHandle handle, StreamHandle on) {
  Activity what;
  what.name = "graph";
  note(what);
  const Graph& one = graph(handle);
  TRAINSCOPE_CUDA(cudaGraphLaunch(one.exec.back().get(), of(on)));
  if (!by_events_ && watched_)
    tracer_->launched(one.graph.get(), one.exec.back().get(), current.call);
}

}  // namespace trainscope::cuda
