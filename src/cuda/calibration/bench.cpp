#include "cuda/calibration/bench.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda/noise.h"

namespace trainscope::cuda {

using program::ElementType;
using program::MemoryKind;
using program::Operation;
using program::OperationKind;

namespace {

constexpr std::int64_t kFloat = sizeof(float);

Operation on_numbers(const char* kernel, std::int64_t count, std::int64_t bytes) {
  constexpr int kThreads = 256;
  Operation one;
  one.kernel = kernel;
  one.m = count;
  one.bytes = static_cast<double>(bytes);
  one.blocks = (count + kThreads - 1) / kThreads;
  one.threads = kThreads;
  return one;
}

// The numbers of an operation's operands: of those that it reads, then of those that it writes.
std::vector<std::int64_t> numbers_read(const Operation& one) {
  if (one.kind == OperationKind::kGemm) return {one.m * one.k, one.k * one.n};
  if (std::holds_alternative<program::Add>(one.function)) return {one.m, one.m};
  if (std::holds_alternative<program::Multiply>(one.function)) return {one.m};
  return {};
}
std::vector<std::int64_t> numbers_written(const Operation& one) {
  if (one.kind == OperationKind::kGemm) return {one.m * one.n};
  if (one.kind == OperationKind::kOpaque) return {};
  return {one.m};
}

}  // namespace

// Of few arguments: each launch copies them.
Operation empty_kernel() {
  return scale_kernel(1);
}

Operation long_kernel(Nanos duration) {
  Operation one = on_numbers("busy", 1, 0);
  one.kind = OperationKind::kOpaque;
  one.opaque_duration = duration;
  return one;
}

Operation scale_kernel(std::int64_t count) {
  Operation one = on_numbers("scale", count, 2 * kFloat * count);
  one.function = program::Multiply{count, 1};
  return one;
}

Operation add_kernel(std::int64_t count) {
  Operation one = on_numbers("add", count, 3 * kFloat * count);
  one.function = program::Add{count};
  return one;
}

Operation product(std::int64_t m, std::int64_t n, std::int64_t k, ElementType type) {
  Operation one;
  one.kernel = "gemm";
  one.kind = OperationKind::kGemm;
  one.type = type;
  one.m = m;
  one.n = n;
  one.k = k;
  one.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  one.bytes = static_cast<double>((m * k + k * n + m * n) * program::size_of(type));
  return one;
}

Bench::Bench(DeviceCalls& device, WatchLevel level)
    : device_(device),
      handles_(device.handles()),
      first_(device.make_stream(program::StreamKind::kNonBlocking, 0, 0)),
      second_(device.make_stream(program::StreamKind::kNonBlocking, 0, 0)) {
  device_.watch(level);
}

// It is watched, and forgotten: a tracer that stops and begins anew may tell less than at first.
void wake_up(DeviceCalls& device) {
  constexpr Nanos kLong = 300'000'000;
  Bench bench(device, WatchLevel::kEverything);
  bench.launch(bench.prepare(long_kernel(kLong)));
  device.synchronise();
  device.collect();
}

// What a lost device had is gone with it.
Bench::~Bench() {
  try {
    device_.watch(WatchLevel::kEverything);
    free_all();
  } catch (const Error&) {
  }
  device_.release_after(handles_);
}

void* Bench::on_device(std::int64_t bytes) {
  device_memory_.push_back(device_.allocate(bytes, first_));
  device_.fill_zero(device_memory_.back(), bytes, first_);
  return device_memory_.back();
}

// The host sends the first piece, and each copy on the device is of all that is there: a piece at a
// time from pageable memory takes longer than what is measured.
void Bench::fill(void* memory, std::int64_t bytes, ElementType type) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 20;
  std::vector<char>& numbers = numbers_[type];
  if (numbers.empty()) numbers = noise_of(type, kPiece);
  auto* const to = static_cast<char*>(memory);
  for (std::int64_t filled = 0, more = 0; filled < bytes; filled += more) {
    const bool is_first = filled == 0;
    more = std::min(is_first ? kPiece : filled, bytes - filled);
    if (is_first)
      copy({numbers.data(), to, more, MemoryKind::kPageable, MemoryKind::kDevice});
    else
      copy({to, to + filled, more, MemoryKind::kDevice, MemoryKind::kDevice});
  }
}

void* Bench::on_host(std::int64_t bytes, MemoryKind kind) {
  void* memory = device_.allocate_host(bytes, kind);
  host_memory_.emplace_back(memory, kind);
  std::memset(memory, 1, static_cast<std::size_t>(bytes));
  return memory;
}

void Bench::free_all() {
  for (const auto& [memory, kind] : std::exchange(host_memory_, {}))
    device_.release_host(memory, kind);
  for (void* memory : std::exchange(device_memory_, {})) device_.release(memory, first_);
  device_.synchronise();
}

bool Bench::is_cleared() {
  try {
    free_all();
    return true;
  } catch (const Error&) {
    return false;
  }
}

const KernelCall& Bench::prepare(Operation operation) {
  operations_.push_back(std::move(operation));
  const Operation& one = operations_.back();
  const auto operands = [&](const std::vector<std::int64_t>& counts) {
    std::vector<Operand> all;
    for (const std::int64_t count : counts)
      all.push_back({on_device(count * program::size_of(one.type)), count, one.type});
    return all;
  };
  KernelCall call;
  call.operation = &one;
  call.reads = operands(numbers_read(one));
  for (const Operand& operand : call.reads)
    fill(operand.memory, operand.elements * program::size_of(one.type), one.type);
  call.writes = operands(numbers_written(one));
  const std::int64_t room = device_.room_for(call);
  if (room > 0) call.room = static_cast<float*>(on_device(room * kFloat));
  kernels_.push_back(std::move(call));
  return kernels_.back();
}

Summary Bench::times(const KernelCall& kernel, int repeats) {
  constexpr int kWarmUp = 2;
  constexpr Nanos kAhead = 20'000;  // of a launch, watched: the host is to be ahead of the device
  const KernelCall& blocker = prepare(long_kernel((repeats + kWarmUp) * kAhead));
  launch(kernel);  // what it takes to load it comes before
  const auto records = watched([&] {
    launch(blocker);
    for (int i = -kWarmUp; i < repeats; ++i) launch(kernel);
  });
  std::vector<double> times;
  for (std::size_t i = 1; i < records.size();) {
    std::size_t after = i + 1;
    Nanos end = records[i].end;
    for (; after < records.size() && records[after].call == records[i].call; ++after)
      end = std::max(end, records[after].end);
    times.push_back(static_cast<double>(end - records[i].start));
    i = after;
  }
  if (times.size() > kWarmUp) times.erase(times.begin(), times.begin() + kWarmUp);
  return summarise(std::move(times));
}

void Bench::launch(const KernelCall& kernel) {
  if (!watching_) return device_.launch(kernel, first_);
  during_call(device_, ++calls_, first_, [&] { device_.launch(kernel, first_); });
}

void Bench::copy(const CopyCall& copy, StreamHandle stream) {
  if (!watching_) return device_.copy(copy, stream);
  during_call(device_, ++calls_, stream, [&] { device_.copy(copy, stream); });
}

void Bench::begin_watch() {
  device_.synchronise();
  device_.watch(WatchLevel::kEverything);
  device_.collect();  // what came before is no part of it
  watching_ = true;
}

std::vector<Activity> Bench::end_watch() {
  device_.synchronise();
  watching_ = false;
  device_.watch(WatchLevel::kNothing);
  std::vector<Activity> records = device_.collect().records;
  std::sort(records.begin(), records.end(),
            [](const Activity& a, const Activity& b) { return a.start < b.start; });
  return records;
}

}  // namespace trainscope::cuda
