// Kernels on the device: their blocks go to the SMs, and they are done after the last of them and
// after their shortest time.

#include <algorithm>
#include <cmath>

#include "sim/block_cost.h"
#include "sim/device.h"
#include "sim/kernel_model.h"

namespace trainscope::sim {

void Device::start_kernel(Nanos now, OpId id) {
  const program::Operation& operation = *ops_[id].operation;
  if (ops_[id].tags.returns_at_once) {
    ops_[id].parts = 1;
    return appoint_floor(now, id, machine_.gpu.kernel_floor_ns);
  }
  const program::Stream& stream = program_.streams[ops_[id].tags.stream];
  const auto gpu = static_cast<std::uint32_t>(stream.device);
  const BlockCost& cost = cost_of(operation, gpu);
  ops_[id].parts = 2;
  sms_[gpu].admit(now, id, stream.slowness == 1 ? cost : slowed(cost, stream.slowness),
                  grid_blocks(operation, machine_.gpu), stream.priority);
  sms_changed(now, gpu);
}

// An operation with a footprint of its own says by that what L2 serves.
const BlockCost& Device::cost_of(const program::Operation& operation, std::uint32_t gpu) {
  Cost& known = block_costs_.at(&operation);
  if (operation.block_work && operation.block_work->footprint > 0) return known.cost;
  const double hits = l2_[gpu].touch(operation);
  if (hits != known.l2_hits) known = {block_cost(operation, machine_.gpu, hits), hits};
  return known.cost;
}

void Device::appoint_floor(Nanos now, OpId id, Nanos floor) {
  const double slowness = program_.streams[ops_[id].tags.stream].slowness;
  events_.add(now + std::llround(static_cast<double>(floor) * slowness), EventKind::kKernelFloor,
              id);
}

void Device::sms_changed(Nanos now, std::uint32_t gpu) {
  begin_placed(now, gpu);
  appoint_sms(now, gpu);
}

// A kernel begins with its first block, which may have had to wait for room.
void Device::begin_placed(Nanos now, std::uint32_t gpu) {
  for (const std::uint32_t id : sms_[gpu].begun()) {
    if (ops_[id].start < now) ops_[id].cause = trace::Cause::kRoom;
    ops_[id].start = now;
    appoint_floor(now, id, kernel_floor(*ops_[id].operation, machine_.gpu));
  }
}

void Device::appoint_sms(Nanos now, std::uint32_t gpu) {
  const SmArray& sms = sms_[gpu];
  if (gpu == 0) recorder_.sample_sms(now, sms.busy_sms(), sms.resident_warps());
  if (!sms.idle()) events_.add(sms.next_event(), EventKind::kSms, gpu, sms.version());
}

void Device::on_sms(Nanos now, std::uint32_t gpu, std::uint64_t version) {
  SmArray& sms = sms_[gpu];
  if (sms.version() != version) return;
  const std::vector<std::uint32_t> done = sms.finish(now);
  begin_placed(now, gpu);
  const std::uint64_t finished = sms.version();
  place_collectives(now, gpu);
  for (const std::uint32_t id : done) part_done(now, id);
  // What was done may have brought a kernel, and with it a new appointment.
  if (sms.version() == finished) appoint_sms(now, gpu);
}

// That it has to itself.
int Device::sms_of(OpId collective) const {
  const auto known = has_aside_.find(collective);
  return known == has_aside_.end() ? 0 : known->second.sms;
}

// As much of memory as the closed form takes, over its time.
std::int64_t Device::memory_of(const CollectivePlan& plan) const {
  const double rate = machine_.gpu.memory_bytes_per_s * machine_.gpu.memory_efficiency * 1e-9;
  const double share = std::min(
      1.0, plan.memory_bytes / rate / static_cast<double>(std::max<Nanos>(plan.duration, 1)));
  return std::llround(share * static_cast<double>(kMemoryRate));
}

// From now on, in place of what it had. However much several collectives want of memory, blocks
// keep half of it.
void Device::set_aside(Nanos now, OpId id, SetAside needs) {
  const auto known = has_aside_.find(id);
  const SetAside has = known == has_aside_.end() ? SetAside{} : known->second;
  if (needs == has) return;
  const auto gpu = static_cast<std::uint32_t>(gpu_of(id));
  SetAside& together = aside_[gpu];
  together.sms += needs.sms - has.sms;
  together.memory += needs.memory - has.memory;
  if (needs == SetAside{}) {
    has_aside_.erase(known);
  } else {
    has_aside_[id] = needs;
  }
  sms_[gpu].set_aside(now, {together.sms, std::min(together.memory, kMemoryRate / 2)});
  sms_changed(now, gpu);
}

}  // namespace trainscope::sim
