#include "cuda/emulated_device.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "cuda/device/operands.h"

namespace trainscope::test {
namespace {

using cuda::Activity;
using cuda::ActivityKind;
using program::MemoryKind;
using program::StreamKind;

// Plain sums in FP32.
class PlainProducts : public cuda::Products {
 public:
  void multiply(const cuda::Product& p, kernels::Stream) override {
    const std::vector<float> a = values(p.a, p.arithmetic), b = values(p.b, p.arithmetic);
    std::vector<float> bias;
    if (p.bias.memory) bias = values(p.bias, program::ElementType::kFp32);
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    const std::int64_t a_row = p.a_stride > 0 ? p.a_stride : p.a_transposed ? p.m : p.k;
    const std::int64_t b_row = p.b_stride > 0 ? p.b_stride : p.b_transposed ? p.k : p.n;
    std::vector<float> row(at(p.n));
    for (std::int64_t i = 0; i < p.m; ++i) {
      std::fill(row.begin(), row.end(), 0.0F);
      for (std::int64_t k = 0; k < p.k; ++k) {
        const float left = p.a_transposed ? a[at(k * a_row + i)] : a[at(i * a_row + k)];
        for (std::int64_t j = 0; j < p.n; ++j)
          row[at(j)] += left * (p.b_transposed ? b[at(j * b_row + k)] : b[at(k * b_row + j)]);
      }
      for (std::int64_t j = 0; j < p.n; ++j)
        put(p.c, at(i * p.n + j), row[at(j)] + (bias.empty() ? 0.0F : bias[at(j)]));
    }
  }

 private:
  static std::vector<float> values(const cuda::Operand& operand, program::ElementType arithmetic) {
    std::vector<float> all(static_cast<std::size_t>(operand.elements));
    cuda::with_type(operand.type, [&](auto type) {
      using T = decltype(type);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const T value = static_cast<const T*>(operand.memory)[i];
        if constexpr (std::is_same_v<T, float>) {
          all[i] = arithmetic == program::ElementType::kTf32 ? host::round_to_tf32(value) : value;
        } else {
          all[i] = to_float(value);
        }
      }
    });
    return all;
  }
  static void put(const cuda::Operand& to, std::size_t i, float value) {
    cuda::with_type(to.type, [&](auto type) {
      using T = decltype(type);
      T& place = static_cast<T*>(to.memory)[i];
      if constexpr (std::is_same_v<T, kernels::Half>) place = host::to_float16(value);
      if constexpr (std::is_same_v<T, kernels::Bfloat16>) place = host::to_bfloat16(value);
      if constexpr (std::is_same_v<T, float>) place = value;
    });
  }
};

void* poisoned(std::int64_t bytes) {
  constexpr std::size_t kAligned = 256;  // as cudaMalloc gives it
  const auto size = (static_cast<std::size_t>(bytes) / kAligned + 1) * kAligned;
  void* memory = std::aligned_alloc(kAligned, size);
  std::memset(memory, 0xff, size);
  return memory;
}

constexpr Nanos kMicro = 1000;
constexpr Nanos kHour = 3'600'000'000'000;

}  // namespace

EmulatedDevice::EmulatedDevice(const EmulatedOptions& options)
    : options_(options), random_(options.seed) {}

EmulatedDevice::~EmulatedDevice() {
  for (void* memory : memory_) std::free(memory);
}

cuda::DeviceFacts EmulatedDevice::facts() const {
  cuda::DeviceFacts facts{options_.name,         "no driver",  "no toolkit", 75, 4,
                          options_.memory_bytes, 1'000'000'000};
  if (prepared_ && !options_.compiles_not.empty()) facts.driver += "; " + options_.compiles_not;
  if (!options_.costs) return facts;
  const machine::Gpu& gpu = options_.costs->gpu;
  facts.capability = static_cast<int>(std::lround(10 * gpu.compute_capability));
  facts.sm_count = gpu.sm_count;
  facts.memory_bytes = gpu.memory_bytes;
  facts.clock_hz = std::llround(gpu.boost_clock_hz);
  facts.threads_per_sm = gpu.threads_per_sm;
  facts.blocks_per_sm = gpu.blocks_per_sm;
  facts.registers_per_sm = gpu.registers_per_sm;
  facts.shared_bytes_per_sm = gpu.shared_bytes_per_sm;
  facts.l2_bytes = gpu.l2_bytes;
  facts.memory_bytes_per_s = gpu.memory_bytes_per_s;
  facts.copy_engines = gpu.copy_engines;
  return facts;
}

Nanos EmulatedDevice::now() {
  const std::lock_guard held(mutex_);
  return options_.costs ? clock_ : clock_ += look_;
}

void EmulatedDevice::pass_time(Nanos duration, bool) {
  const std::lock_guard held(mutex_);
  clock_ += duration;
  if (options_.clock_runs_off && duration >= kHour) look_ = kHour;
  if (!options_.costs) run_one();
}

void EmulatedDevice::begin_call(cuda::CallId call, cuda::StreamHandle) {
  const std::lock_guard held(mutex_);
  current_[std::this_thread::get_id()] = call;
}
void EmulatedDevice::end_call() {
  const std::lock_guard held(mutex_);
  current_.erase(std::this_thread::get_id());
}

// Every call takes a while, meanwhile the device may go on; and may be the one that finds it lost.
void EmulatedDevice::host_call(Nanos machine::Host::* cost) {
  if (lost_ || calls_ == options_.lost_at) {
    lost_ = true;
    throw cuda::DeviceLost("the GPU was lost: an emulated illegal address");
  }
  ++calls_;
  if (options_.costs) {
    if (cost) clock_ += options_.costs->host.*cost;
    return;
  }
  clock_ += 200 + upto(2000);
  for (std::uint32_t i = upto(3); i > 0; --i) run_one();
}

cuda::StreamHandle EmulatedDevice::make_stream(StreamKind kind, int, int gpu) {
  const std::lock_guard held(mutex_);
  streams_.push_back({kind, gpu, kNoOp, {}, {}, -1});
  return static_cast<cuda::StreamHandle>(streams_.size() - 1);
}

cuda::HandleCounts EmulatedDevice::handles() const {
  const std::lock_guard held(mutex_);
  return {streams_.size(), events_.size(), graphs_.size()};
}

void EmulatedDevice::release_after(const cuda::HandleCounts& kept) {
  const std::lock_guard held(mutex_);
  for (std::size_t i = kept.streams; !lost_ && i < streams_.size(); ++i)
    if (streams_[i].tail != kNoOp && !ops_[streams_[i].tail].done)
      throw Error(Fault::kInternal, "a stream was given back with work on it");
  streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(kept.streams), streams_.end());
  events_.resize(kept.events);
  graphs_.resize(kept.graphs);
}

cuda::EventHandle EmulatedDevice::make_event(int) {
  const std::lock_guard held(mutex_);
  events_.push_back(kNoOp);
  return static_cast<cuda::EventHandle>(events_.size() - 1);
}

// ---- memory -------------------------------------------------------------------------------------

void* EmulatedDevice::allocate(std::int64_t bytes, cuda::StreamHandle) {
  const std::lock_guard held(mutex_);
  host_call();
  if (in_use_ + bytes > facts().memory_bytes)
    throw cuda::OutOfDeviceMemory("the GPU has no room for " + std::to_string(bytes) +
                                  " bytes more; make the batch smaller");
  in_use_ += bytes;
  memory_.push_back(memory_of(bytes));
  sizes_[memory_.back()] = bytes;
  return memory_.back();
}

void EmulatedDevice::release(void* memory, cuda::StreamHandle stream) {
  const std::lock_guard held(mutex_);
  host_call();
  const std::int64_t bytes = sizes_.at(memory);
  sizes_.erase(memory);
  in_use_ -= bytes;
  Work work;
  if (options_.computes)
    work.run = [memory, bytes] { std::memset(memory, 0xff, static_cast<std::size_t>(bytes)); };
  enqueue(stream, std::move(work));
}

void EmulatedDevice::empty_cache(int gpu) {
  const std::lock_guard held(mutex_);
  host_call();
  const bool is_used = std::any_of(streams_.begin(), streams_.end(),
                                   [gpu](const Stream& stream) { return stream.gpu == gpu; });
  if (!is_used) throw Error(Fault::kInternal, "the cache of a GPU is emptied that has no stream");
  emptied_.push_back(gpu % options_.gpus);
}

// Where nothing is computed, an address that no other memory has.
void* EmulatedDevice::memory_of(std::int64_t bytes) const {
  return options_.computes ? poisoned(bytes) : std::malloc(1);
}

void* EmulatedDevice::allocate_host(std::int64_t bytes, MemoryKind kind) {
  const std::lock_guard held(mutex_);
  if (kind == MemoryKind::kPinned) clock_ += time_of_page_lock(bytes);
  memory_.push_back(poisoned(bytes));
  return memory_.back();
}
void EmulatedDevice::release_host(void* memory, MemoryKind) {
  const std::lock_guard held(mutex_);
  memory_.erase(std::find(memory_.begin(), memory_.end(), memory));
  std::free(memory);
}

// ---- work ---------------------------------------------------------------------------------------

void EmulatedDevice::fill_zero(void* memory, std::int64_t bytes, cuda::StreamHandle stream) {
  const std::lock_guard held(mutex_);
  host_call();
  Work work;
  if (options_.computes)
    work.run = [memory, bytes] { std::memset(memory, 0, static_cast<std::size_t>(bytes)); };
  work.duration = kMicro;
  work.is_told = true;
  work.activity.kind = ActivityKind::kMemset;
  work.activity.bytes = bytes;
  enqueue(stream, std::move(work));
}

// What is pageable is read before the call returns, and written by then.
void EmulatedDevice::copy(const cuda::CopyCall& copy, cuda::StreamHandle stream) {
  const std::lock_guard held(mutex_);
  host_call(&machine::Host::copy_call_ns);
  const auto bytes = static_cast<std::size_t>(copy.bytes);
  Work work;
  if (!options_.computes) {
  } else if (copy.from_kind == MemoryKind::kPageable) {
    const auto* begin = static_cast<const char*>(copy.from);
    work.run = [staged = std::vector<char>(begin, begin + bytes), to = copy.to] {
      std::memcpy(to, staged.data(), staged.size());
    };
  } else {
    work.run = [this, from = copy.from, to = copy.to, bytes,
                arrives = copy.to_kind == MemoryKind::kPinned] {
      std::memcpy(to, from, bytes);
      const auto* numbers = static_cast<const float*>(from);
      if (arrives) arrived_.emplace_back(numbers, numbers + bytes / sizeof(float));
    };
  }
  const bool to_device = copy.to_kind == MemoryKind::kDevice;
  const bool from_device = copy.from_kind == MemoryKind::kDevice;
  work.engine = to_device && from_device ? kNoEngine : to_device ? 0 : 1;
  work.duration = 2 * kMicro + copy.bytes / 20 + upto(500);
  work.is_told = true;
  work.activity.kind = ActivityKind::kCopy;
  work.activity.bytes = copy.bytes;
  work.activity.from = copy.from_kind;
  work.activity.to = copy.to_kind;
  const bool pageable =
      copy.from_kind == MemoryKind::kPageable || copy.to_kind == MemoryKind::kPageable;
  if (options_.costs && pageable) return stage(copy, stream, work);
  if (options_.costs) time_copy(copy, work);
  const OpId op = enqueue(stream, std::move(work));
  if (copy.to_kind == MemoryKind::kPageable) finish(op);
}

void EmulatedDevice::launch(const cuda::KernelCall& kernel, cuda::StreamHandle stream) {
  const std::lock_guard held(mutex_);
  wait_for_room(stream);
  host_call(&machine::Host::launch_call_ns);
  if (options_.costs && level_ != cuda::WatchLevel::kNothing) clock_ += options_.traced_launch;
  Work work;
  if (options_.computes)
    work.run = [kernel, seed = random_()] {
      PlainProducts products;
      cuda::launch_operation(kernel, kernels::Stream{seed}, {products}, {1e9, 2});
    };
  work.duration = options_.costs ? duration_of(kernel) : kMicro + upto(20000);
  if (kernel.operation->opaque_duration > 0) work.duration = kernel.operation->opaque_duration;
  work.is_told = true;
  work.activity.name = cuda::launch_name(*kernel.operation);
  if (options_.source == cuda::TimeSource::kTracer) {
    work.activity.grid[0] = static_cast<std::int32_t>(kernel.operation->blocks);
    work.activity.block[0] = kernel.operation->threads;
    work.activity.grid[1] = work.activity.grid[2] = 1;
    work.activity.block[1] = work.activity.block[2] = 1;
  }
  const OpId op = enqueue(stream, std::move(work));
  if (options_.costs && op != kNoOp) streams_[stream].kernels.push_back(op);
}

std::string EmulatedDevice::refusal(const program::Operation& operation) const {
  return cuda::refusal_of(operation);
}
std::int64_t EmulatedDevice::room_for(const cuda::KernelCall& kernel) const {
  return cuda::room_of(kernel);
}

std::int64_t EmulatedDevice::blocks_recorded(const cuda::KernelCall& kernel) const {
  return cuda::blocks_recorded_by(kernel);
}

EmulatedDevice::OpId EmulatedDevice::enqueue(cuda::StreamHandle stream, Work work) {
  Stream& to = streams_[stream];
  if (to.captured_by >= 0) {
    graphs_[static_cast<std::size_t>(to.captured_by)].push_back(std::move(work));
    return kNoOp;
  }
  return enqueue_op(stream, std::move(work));
}

// CUDA C++ Programming Guide, "Legacy Default Stream": work there is behind all that blocking
// streams have, and theirs behind it.
void EmulatedDevice::join_others(const Stream& stream, std::vector<OpId>& before) const {
  if (stream.kind == StreamKind::kNonBlocking) return;
  for (const Stream& other : streams_)
    if (other.gpu % options_.gpus == stream.gpu % options_.gpus &&
        other.kind != StreamKind::kNonBlocking && other.tail != kNoOp &&
        (other.kind == StreamKind::kLegacyDefault || stream.kind == StreamKind::kLegacyDefault))
      before.push_back(other.tail);
}

EmulatedDevice::OpId EmulatedDevice::enqueue_op(cuda::StreamHandle stream, Work work) {
  Stream& to = streams_[stream];
  Op op;
  if (to.tail != kNoOp) op.before.push_back(to.tail);
  for (const OpId behind : to.waits) op.before.push_back(behind);
  to.waits.clear();
  join_others(to, op.before);
  op.enqueued = clock_;
  const auto current = current_.find(std::this_thread::get_id());
  work.activity.call = current == current_.end() ? 0 : current->second;
  op.work = std::move(work);
  ops_.push_back(std::move(op));
  pending_.push_back(ops_.size() - 1);
  return to.tail = ops_.size() - 1;
}

bool EmulatedDevice::may_run(OpId op) const {
  return std::all_of(ops_[op].before.begin(), ops_[op].before.end(),
                     [this](OpId before) { return ops_[before].done; });
}

void EmulatedDevice::run_one() {
  std::vector<OpId> ready;
  for (const OpId op : pending_) {
    if (may_run(op)) ready.push_back(op);
    if (ready.size() == 8) break;
  }
  if (!ready.empty()) run(ready[chance(static_cast<std::uint32_t>(ready.size()))]);
}

void EmulatedDevice::run(OpId id) {
  if (run_both_ways(id)) return;
  Op& op = ops_[id];
  pending_.erase(std::find(pending_.begin(), pending_.end(), id));
  const Nanos start = start_of(op);
  op.end = start + op.work.duration;
  tell(op, start);
  op.done = true;
  if (op.work.engine != kNoEngine) engine_free_[op.work.engine] = op.end;
  if (op.work.run) op.work.run();
  op.work.run = nullptr;
}

Nanos EmulatedDevice::start_of(const Op& op) {
  Nanos start = op.enqueued;
  if (!options_.costs) start += kMicro + upto(3000);
  const bool is_kernel = op.work.is_told && op.work.activity.kind == ActivityKind::kKernel;
  const Nanos traced = level_ == cuda::WatchLevel::kNothing ? 0 : options_.traced_gap;
  if (options_.costs && is_kernel) start += options_.costs->host.launch_latency_ns;
  for (const OpId before : op.before) {
    const Work& work = ops_[before].work;
    const bool after_kernel = work.is_told && work.activity.kind == ActivityKind::kKernel;
    const Nanos gap = !options_.costs             ? upto(900)
                      : is_kernel && after_kernel ? options_.costs->gpu.kernel_gap_ns + traced
                                                  : 0;
    start = std::max(start, ops_[before].end + gap);
  }
  if (op.work.engine != kNoEngine) start = std::max(start, engine_free_[op.work.engine]);
  return start;
}

void EmulatedDevice::tell(const Op& op, Nanos start) {
  if (!op.work.is_told || level_ == cuda::WatchLevel::kNothing) return;
  if (told_.dropped < options_.dropped) {
    ++told_.dropped;
    return;
  }
  Activity activity = op.work.activity;
  if (level_ == cuda::WatchLevel::kKernels) activity.call = 0;
  activity.start = start + options_.tracer_ahead;
  activity.end = op.end + options_.tracer_ahead;
  told_.records.push_back(activity);
}

// Runs what may run, in any order, until this is done; and waits for it.
void EmulatedDevice::finish(OpId op) {
  if (op == kNoOp) return;
  while (!ops_[op].done) run_one();
  const Nanos wake = options_.costs && ops_[op].end > clock_ ? options_.costs->host.wake_ns : 0;
  clock_ = std::max(clock_, ops_[op].end + wake);
}

// ---- order --------------------------------------------------------------------------------------

void EmulatedDevice::record(cuda::EventHandle event, cuda::StreamHandle stream) {
  const std::lock_guard held(mutex_);
  host_call(&machine::Host::event_call_ns);
  events_[event] = enqueue_op(stream, {});
}

void EmulatedDevice::wait(cuda::StreamHandle stream, cuda::EventHandle event) {
  const std::lock_guard held(mutex_);
  host_call(&machine::Host::event_call_ns);
  if (events_[event] != kNoOp) streams_[stream].waits.push_back(events_[event]);
}

void EmulatedDevice::synchronise_stream(cuda::StreamHandle stream) {
  const std::lock_guard held(mutex_);
  host_call(&machine::Host::sync_call_ns);
  finish(streams_[stream].tail);
}

void EmulatedDevice::synchronise_event(cuda::EventHandle event) {
  const std::lock_guard held(mutex_);
  host_call(&machine::Host::sync_call_ns);
  finish(events_[event]);
}

bool EmulatedDevice::is_done(cuda::EventHandle event) {
  const std::lock_guard held(mutex_);
  if (options_.costs) run_all();
  const OpId op = events_[event];
  return op == kNoOp || (ops_[op].done && ops_[op].end <= clock_);
}

void EmulatedDevice::synchronise() {
  const std::lock_guard held(mutex_);
  host_call(&machine::Host::sync_call_ns);
  for (const Stream& stream : streams_) finish(stream.tail);
}

void EmulatedDevice::begin_capture(cuda::StreamHandle stream) {
  const std::lock_guard held(mutex_);
  host_call();
  graphs_.emplace_back();
  streams_[stream].captured_by = static_cast<std::int64_t>(graphs_.size()) - 1;
}

cuda::GraphHandle EmulatedDevice::end_capture(cuda::StreamHandle stream) {
  const std::lock_guard held(mutex_);
  host_call();
  const auto graph = static_cast<cuda::GraphHandle>(streams_[stream].captured_by);
  streams_[stream].captured_by = -1;
  return graph;
}

void EmulatedDevice::instantiate(cuda::GraphHandle graph) {
  const std::lock_guard held(mutex_);
  host_call();
  if (options_.costs)
    clock_ +=
        options_.costs->host.graph_instantiate_node_ns * static_cast<Nanos>(graphs_[graph].size());
}

void EmulatedDevice::launch_graph(cuda::GraphHandle graph, cuda::StreamHandle stream) {
  const std::lock_guard held(mutex_);
  host_call(&machine::Host::graph_launch_ns);
  if (options_.costs)
    clock_ += options_.costs->host.graph_launch_node_ns * static_cast<Nanos>(graphs_[graph].size());
  for (const Work& work : graphs_[graph]) enqueue_op(stream, work);
}

void EmulatedDevice::watch(cuda::WatchLevel level) {
  const std::lock_guard held(mutex_);
  level_ = level;
}

cuda::Activities EmulatedDevice::collect() {
  const std::lock_guard held(mutex_);
  cuda::Activities all = std::move(told_);
  told_ = {};
  all.source = options_.source;
  return all;
}

}  // namespace trainscope::test
