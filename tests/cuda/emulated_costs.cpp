// What calls, copies and kernels of the emulated GPU take where a machine says it: the formulas of
// src/sim/formulas.md in their plainest form.

#include <algorithm>
#include <cmath>

#include "cuda/emulated_device.h"
#include "machine/architecture.h"

namespace trainscope::test {
namespace {

using cuda::CopyCall;
using machine::Math;
using program::MemoryKind;

Nanos nanos(double amount, double per_s) {
  return std::llround(std::ceil(1e9 * amount / per_s));
}

Math math_of(program::ElementType type, const machine::Gpu& gpu) {
  const bool tensor_16 = program::size_of(type) == 2;
  const Math math = tensor_16                             ? Math::kTensorFp16
                    : type == program::ElementType::kTf32 ? Math::kTensorTf32
                                                          : Math::kFp32;
  return machine::peak_flops_per_s(gpu, math) ? math : Math::kFp32;
}

double rate(const machine::Machine& machine, bool there) {
  return there ? machine.pcie.h2d_bytes_per_s : machine.pcie.d2h_bytes_per_s;
}

}  // namespace

Nanos EmulatedDevice::duration_of(const cuda::KernelCall& kernel) {
  const machine::Gpu& gpu = options_.costs->gpu;
  const program::Operation& one = *kernel.operation;
  const bool fits = one.bytes <= static_cast<double>(gpu.l2_bytes) && gpu.l2_bytes_per_s > 0;
  const double memory = (fits ? gpu.l2_bytes_per_s : gpu.memory_bytes_per_s);
  Nanos took = std::max(gpu.kernel_floor_ns, nanos(one.bytes, memory * gpu.memory_efficiency));
  const double peak = *machine::peak_flops_per_s(gpu, math_of(one.type, gpu));
  return std::max(took, nanos(one.flops, peak * gpu.gemm_efficiency));
}

Nanos EmulatedDevice::time_of_page_lock(std::int64_t bytes) const {
  if (!options_.costs) return 0;
  return nanos(static_cast<double>(bytes), options_.costs->host.page_lock_bytes_per_s);
}

void EmulatedDevice::time_copy(const CopyCall& copy, Work& work) {
  const machine::Machine& machine = *options_.costs;
  const bool there = copy.to_kind == MemoryKind::kDevice;
  const auto bytes = static_cast<double>(copy.bytes);
  if (work.engine == kNoEngine) {
    const machine::Gpu& gpu = machine.gpu;
    work.duration = nanos(2 * bytes, gpu.memory_bytes_per_s * gpu.memory_efficiency);
    return;
  }
  work.latency = there ? machine.pcie.h2d_latency_ns : machine.pcie.d2h_latency_ns;
  work.duration = work.latency + nanos(bytes, rate(machine, there));
}

// Chunk after chunk: staged by the thread, then sent; the other way round to the host. One record,
// as a tracer has it.
void EmulatedDevice::stage(const CopyCall& copy, cuda::StreamHandle stream, Work& work) {
  finish(streams_[stream].tail);
  const machine::Machine& machine = *options_.costs;
  const machine::Host& host = machine.host;
  const bool there = copy.to_kind == MemoryKind::kDevice;
  const double memcpy_rate = there ? host.memcpy_bytes_per_s : host.memcpy_back_bytes_per_s;
  Nanos first = clock_, second = clock_;  // until when the first stage is busy, and the other
  for (std::int64_t left = copy.bytes; left > 0; left -= host.staging_chunk_bytes) {
    const auto chunk = static_cast<double>(std::min(left, host.staging_chunk_bytes));
    const Nanos staged = nanos(chunk, memcpy_rate), sent = nanos(chunk, rate(machine, there));
    first += there ? staged : sent;
    second = std::max(first, second) + (there ? sent : staged);
  }
  const Nanos begun = clock_;
  work.duration = second - begun;
  const OpId op = enqueue(stream, std::move(work));
  while (!ops_[op].done) run_one();
  clock_ = there ? first : second;
}

// A copy each way at once share the link: each gets half of what it carries both ways, and what the
// other cannot use. False: there is no other, or they do not meet.
bool EmulatedDevice::run_both_ways(OpId id) {
  if (!options_.costs || ops_[id].work.engine == kNoEngine || ops_[id].work.latency == 0)
    return false;
  OpId other = kNoOp;
  for (const OpId op : pending_)
    if (ops_[op].work.latency > 0 && ops_[op].work.engine == 1 - ops_[id].work.engine &&
        may_run(op))
      other = op;
  if (other == kNoOp) return false;
  struct Way {
    OpId op;
    Nanos start;
    double at, left, most;  // when its bytes begin, how many are left, its rate alone
  };
  const machine::Pcie& pcie = options_.costs->pcie;
  const auto way = [&](OpId op) {
    const Work& work = ops_[op].work;
    const Nanos start = start_of(ops_[op]);
    return Way{op, start, static_cast<double>(start + work.latency),
               static_cast<double>(work.activity.bytes),
               (work.engine == 0 ? pcie.h2d_bytes_per_s : pcie.d2h_bytes_per_s) / 1e9};
  };
  Way a = way(id), b = way(other);
  if (b.at < a.at) std::swap(a, b);
  if (a.at + a.left / a.most <= b.at) return false;
  a.left -= (b.at - a.at) * a.most;
  const double both = pcie.both_bytes_per_s / 1e9;
  const double of_a = std::clamp(both / 2, both - b.most, a.most), of_b = both - of_a;
  const double together = std::min(a.left / of_a, b.left / of_b);
  const double met = b.at + together;
  const double ends[] = {met + (a.left - together * of_a) / a.most,
                         met + (b.left - together * of_b) / b.most};
  for (const Way* one : {&a, &b}) {
    Op& op = ops_[one->op];
    pending_.erase(std::find(pending_.begin(), pending_.end(), one->op));
    op.end = std::llround(ends[one == &a ? 0 : 1]);
    op.done = true;
    engine_free_[op.work.engine] = op.end;
    if (op.work.run) op.work.run();
    op.work.run = nullptr;
    tell(op, one->start);
  }
  return true;
}

void EmulatedDevice::run_all() {
  while (!pending_.empty()) run_one();
}

// A call waits while the stream has as many launches that are not done as it takes.
void EmulatedDevice::wait_for_room(cuda::StreamHandle stream) {
  if (!options_.costs) return;
  std::deque<OpId>& kernels = streams_[stream].kernels;
  const auto most = static_cast<std::size_t>(options_.costs->host.launch_queue);
  if (kernels.size() < most) return;
  run_all();
  while (!kernels.empty() && ops_[kernels.front()].end <= clock_) kernels.pop_front();
  if (kernels.size() < most) return;
  clock_ = ops_[kernels[kernels.size() - most]].end;
}

}  // namespace trainscope::test
