// Copies on the device: within it, to another GPU, and on its copy engines.

#include <algorithm>

#include "machine/roofline.h"
#include "sim/device.h"
#include "sim/peer_link.h"

namespace trainscope::sim {
namespace {

// Each byte is read and written, at the rate of device memory, or of L2 where both places fit
// there; a copy takes as long as the shortest kernel at least. Where they do not fit, a place is
// gone from L2 before a copy comes to it again.
double copy_within_ns(std::int64_t copied, const machine::Gpu& gpu) {
  const double bytes = 2.0 * static_cast<double>(copied);
  const bool fits = machine::l2_hits(gpu, bytes) == 1;
  const double peak = fits ? gpu.l2_bytes_per_s : gpu.memory_bytes_per_s;
  return std::max(bytes / (peak * gpu.memory_efficiency * kPerNs),
                  static_cast<double>(gpu.kernel_floor_ns));
}

}  // namespace

void Device::start_copy(Nanos now, OpId id) {
  const Op& op = ops_[id];
  if (is_between_gpus(*op.copy, program_)) return start_peer_copy(now, id);
  if (op.direction == Direction::kD2D) {
    const std::uint32_t memory = rate_of(id, kMemory);
    rates_[memory].admit(now, id, copy_within_ns(op.copy->bytes, machine_.gpu), 1.0);
    appoint(now, memory);
    return;
  }
  Transfer transfer;
  transfer.op = id;
  transfer.bytes = op.copy->bytes;
  transfer.direction = op.direction;
  transfer.cause = op.cause;
  transfer.cause_span = op.cause == trace::Cause::kLaunch ? op.tags.call : span_of(op.cause_op);
  request(now, transfer);
}

// The time to begin is as long as that of a copy to a GPU. What several GPUs send to one at once
// shares its port.
void Device::start_peer_copy(Nanos now, OpId id) {
  const program::Copy& copy = *ops_[id].copy;
  const int from = program_.buffers[copy.from].device, to = program_.buffers[copy.to].device;
  const double rate = peer_rate(machine_, from, to) * kPerNs;
  const double latency = static_cast<double>(machine_.pcie.h2d_latency_ns);
  if (traffic_) {
    const double bytes = static_cast<double>(copy.bytes) + latency * rate;
    traffic_->copy_between(now, id, from, to, peer_way(machine_, from, to), bytes, rate / kPerNs);
    return appoint_links();
  }
  const std::uint32_t port = static_cast<std::uint32_t>(to) * kRates + kPort;
  rates_[port].admit(now, id, static_cast<double>(copy.bytes) + latency * rate, rate);
  appoint(now, port);
}

std::uint32_t Device::engine_of(Direction direction) const {
  return machine_.gpu.copy_engines > 1 && direction == Direction::kD2H ? 1 : 0;
}

void Device::transfer_chunk(Nanos now, OpId id, std::int64_t bytes, std::uint32_t thread,
                            trace::SpanId cause) {
  Op& op = ops_[id];
  Transfer transfer;
  transfer.op = id;
  transfer.bytes = bytes;
  transfer.direction = op.direction;
  transfer.thread = thread;
  transfer.cause = cause == trace::kNone ? op.cause : trace::Cause::kStaging;
  transfer.cause_span = cause == trace::kNone ? span_of(op.cause_op) : cause;
  request(now, transfer);
}

void Device::request(Nanos now, Transfer transfer) {
  const auto gpu =
      static_cast<std::uint32_t>(program_.streams[ops_[transfer.op].tags.stream].device);
  const std::uint32_t engine = 2 * gpu + engine_of(transfer.direction);
  if (engines_[engine].busy) transfer.cause = trace::Cause::kEngine;
  engines_[engine].queue.push_back(transfer);
  if (!engines_[engine].busy) begin_transfer(now, engine);
}

// The engine is taken from here on; the link only after the set-up.
void Device::begin_transfer(Nanos now, std::uint32_t engine) {
  engines_[engine].busy = true;
  Transfer& transfer = engines_[engine].queue.front();
  if (transfer.cause == trace::Cause::kEngine) transfer.cause_span = engines_[engine].last_span;
  transfer.start = now;
  note_first_transfer(now, transfer);
  const Nanos latency = transfer.direction == Direction::kH2D ? machine_.pcie.h2d_latency_ns
                                                              : machine_.pcie.d2h_latency_ns;
  events_.add(now + latency, EventKind::kEngineReady, engine);
}

// A copy begins when its first transfer does, and for the same cause.
void Device::note_first_transfer(Nanos now, const Transfer& transfer) {
  Op& op = ops_[transfer.op];
  if (op.kind == Kind::kStagedCopy && op.started) return;
  op.started = true;
  op.start = now;
  op.cause = transfer.cause;
  op.cause_span = transfer.cause_span;
}

void Device::on_engine_ready(Nanos now, std::uint32_t engine) {
  const Transfer& transfer = engines_[engine].queue.front();
  const double rate = transfer.direction == Direction::kH2D ? machine_.pcie.h2d_bytes_per_s
                                                            : machine_.pcie.d2h_bytes_per_s;
  if (traffic_) {
    const auto bytes = static_cast<double>(transfer.bytes);
    const int gpu = static_cast<int>(engine / 2);
    const std::uint32_t id = kOfEngine | engine;
    transfer.direction == Direction::kH2D ? traffic_->copy_to_gpu(now, id, gpu, bytes, rate)
                                          : traffic_->copy_from_gpu(now, id, gpu, bytes, rate);
    return appoint_links();
  }
  const std::uint32_t link = engine / 2 * kRates + kLink;
  rates_[link].admit(now, engine, static_cast<double>(transfer.bytes), rate * kPerNs);
  appoint(now, link);
}

void Device::end_transfer(Nanos now, std::uint32_t engine) {
  const Transfer transfer = engines_[engine].queue.front();
  engines_[engine].queue.pop_front();
  engines_[engine].busy = false;
  const Op& op = ops_[transfer.op];
  trace::Span span;
  span.start = transfer.start;
  span.duration = now - transfer.start;
  span.name = recorder_.transfer_name(transfer.bytes);
  span.lane = recorder_.engine_lane(static_cast<int>(engine / 2), transfer.direction);
  span.category = op.category;
  span.cause = transfer.cause;
  span.cause_span = transfer.cause_span;
  span.line = op.tags.line;
  span.correlation = op.tags.correlation;
  span.detail = recorder_.copy_detail(*op.copy, transfer.bytes);
  engines_[engine].last_span = recorder_.add(span);
  if (transfer.thread != kNoThread) events_.add(now, EventKind::kThread, transfer.thread);
  part_done(now, transfer.op);
  // What was done may have brought the engine its next transfer already.
  if (!engines_[engine].busy && !engines_[engine].queue.empty()) begin_transfer(now, engine);
}

}  // namespace trainscope::sim
