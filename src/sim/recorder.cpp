#include "sim/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "base/units.h"
#include "machine/occupancy.h"
#include "sim/block_cost.h"
#include "sim/kernel_model.h"
#include "sim/sm_lanes.h"

namespace trainscope::sim {
namespace {

using program::MemoryKind;

trace::LaneKind kind_of(program::ThreadRole role) {
  switch (role) {
    case program::ThreadRole::kLoaderWorker:
      return trace::LaneKind::kLoader;
    case program::ThreadRole::kPinThread:
      return trace::LaneKind::kPinThread;
    case program::ThreadRole::kMain:
    case program::ThreadRole::kAutograd:
    case program::ThreadRole::kReplica:
      break;
  }
  return trace::LaneKind::kHostThread;
}

struct CopyUse {
  bool h2d = false;
  bool d2h = false;
};

// What a program's commands touch, so that lanes are made for it; read in one pass, since a program
// of a thousand ranks has millions of commands.
struct Uses {
  std::vector<CopyUse> copies;  // by GPU
  std::vector<bool> streams;
  std::set<int> staging;  // ranks that copy pageable memory
  bool allocations = false;
};

void note_copy(const program::Program& program, const program::Copy& copy, Uses& uses) {
  const auto gpu = static_cast<std::size_t>(program.streams[copy.stream].device);
  const Direction direction = direction_of(copy, program);
  uses.copies[gpu].h2d |= direction == Direction::kH2D;
  uses.copies[gpu].d2h |= direction == Direction::kD2H;
  if (program.buffers[copy.from].kind == MemoryKind::kPageable ||
      program.buffers[copy.to].kind == MemoryKind::kPageable)
    uses.staging.insert(program.streams[copy.stream].rank);
}

Uses uses_of(const program::Program& program) {
  Uses uses;
  uses.copies.resize(static_cast<std::size_t>(gpus_to_the_last(program)));
  uses.streams.resize(program.streams.size());
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands) {
      if (const program::Copy* copy = program::copy_of(command.action))
        note_copy(program, *copy, uses);
      const program::Index stream = program::stream_of(command.action);
      if (stream < uses.streams.size()) uses.streams[stream] = true;
      uses.allocations |= std::holds_alternative<program::Alloc>(command.action);
    }
  for (const program::RecordedWork& work : program.recording.works)
    uses.streams[work.stream] = true;
  return uses;
}

// Of each GPU.
std::vector<int> ranks_of(const program::Program& program) {
  std::vector<int> ranks(static_cast<std::size_t>(gpus_to_the_last(program)));
  for (const program::Stream& stream : program.streams)
    ranks[static_cast<std::size_t>(stream.device)] = stream.rank;
  return ranks;
}

// The roles that buffers of each GPU have.
std::vector<std::array<bool, program::kRoles>> roles_of(const program::Program& program) {
  std::vector<std::array<bool, program::kRoles>> roles(
      static_cast<std::size_t>(gpus_to_the_last(program)));
  for (const program::Buffer& buffer : program.buffers)
    if (buffer.kind == MemoryKind::kDevice)
      roles[static_cast<std::size_t>(buffer.device)][static_cast<std::size_t>(buffer.role)] = true;
  return roles;
}

// As PyTorch's profiler names them.
std::string operation_name(program::CollectiveKind kind) {
  switch (kind) {
    case program::CollectiveKind::kAllReduce:
      return "allreduce";
    case program::CollectiveKind::kAllGather:
      return "allgather";
    case program::CollectiveKind::kReduceScatter:
      return "reduce_scatter";
    case program::CollectiveKind::kBroadcast:
      return "broadcast";
    case program::CollectiveKind::kReduce:
      return "reduce";
    case program::CollectiveKind::kSendReceive:
      break;
  }
  return "send_recv";
}

bool has_marks(const program::Thread& thread) {
  return std::ranges::any_of(thread.commands, [](const program::Command& command) {
    return std::holds_alternative<program::BeginMark>(command.action);
  });
}

// Of a replay.
bool has_steps(const program::Program& program, const program::Thread& thread) {
  const trace::Trace& recorded = *program.recording.trace;
  return std::ranges::any_of(thread.commands, [&](const program::Command& command) {
    const auto* begins = std::get_if<program::BeginRecorded>(&command.action);
    return begins &&
           recorded.lanes()[recorded.spans()[begins->span].lane].kind == trace::LaneKind::kSteps;
  });
}

// Of one rank; of another's send it is the receiver.
std::string operation_name(const program::Collective& collective) {
  const bool one_way =
      collective.kind == program::CollectiveKind::kSendReceive &&
      (collective.send == program::kNoIndex) != (collective.receive == program::kNoIndex);
  if (!one_way) return operation_name(collective.kind);
  return collective.send == program::kNoIndex ? "recv" : "send";
}

}  // namespace

int gpus_to_the_last(const program::Program& program) {
  int gpus = 1;
  for (const program::Stream& stream : program.streams) gpus = std::max(gpus, stream.device + 1);
  for (const program::Buffer& buffer : program.buffers) gpus = std::max(gpus, buffer.device + 1);
  return gpus;
}

Direction direction_of(const program::Copy& copy, const program::Program& program) {
  const bool from_device = program.buffers[copy.from].kind == MemoryKind::kDevice;
  const bool to_device = program.buffers[copy.to].kind == MemoryKind::kDevice;
  if (from_device && to_device) return Direction::kD2D;
  return to_device ? Direction::kH2D : Direction::kD2H;
}

bool is_between_gpus(const program::Copy& copy, const program::Program& program) {
  return direction_of(copy, program) == Direction::kD2D &&
         program.buffers[copy.from].device != program.buffers[copy.to].device;
}

trace::Memory memory_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kDevice:
      return trace::Memory::kDevice;
    case MemoryKind::kPinned:
      return trace::Memory::kPinned;
    case MemoryKind::kPageable:
      return trace::Memory::kPageable;
  }
  return trace::Memory::kUnknown;
}

trace::Category category_of(Direction direction) {
  switch (direction) {
    case Direction::kH2D:
      return trace::Category::kCopyH2D;
    case Direction::kD2H:
      return trace::Category::kCopyD2H;
    case Direction::kD2D:
      return trace::Category::kCopyD2D;
  }
  return trace::Category::kOther;
}

trace::Category category_of(program::Phase phase) {
  switch (phase) {
    case program::Phase::kForward:
      return trace::Category::kForward;
    case program::Phase::kBackward:
      return trace::Category::kBackward;
    case program::Phase::kOptimizer:
      return trace::Category::kOptimizer;
    case program::Phase::kNone:
      break;
  }
  return trace::Category::kKernel;
}

void Recorder::refuse_more() {
  throw InputError("this run has more than " + std::to_string(kMostSpans / 1'000'000) +
                   " million events; give fewer steps, or fewer or smaller copies");
}

Recorder::Recorder(const program::Program& program, const machine::Machine& machine,
                   trace::Trace& trace, Sms sms)
    : program_(program),
      machine_(machine),
      trace_(trace),
      ranks_(ranks_of(program)),
      command_names_(program.names.size(), trace::kNone) {
  for (auto& row : copy_names_) row.fill(trace::kNone);
  const Uses uses = uses_of(program);
  add_host_lanes(uses.staging);
  for (std::size_t gpu = 0; gpu < ranks_.size(); ++gpu)
    add_engines(static_cast<int>(gpu), ranks_[gpu], uses.copies[gpu].h2d, uses.copies[gpu].d2h);
  add_device_lanes(uses.streams, uses.allocations, sms);
  for (const program::Operation& operation : program.operations)
    launch_names_.push_back(
        {name(operation.framework), name("cudaLaunchKernel"), name(operation.kernel)});
}

void Recorder::add_host_lanes(const std::set<int>& staging) {
  std::int64_t number = 1;
  const auto lane = [&](std::string name, trace::LaneKind kind, int rank) {
    return trace_.add_lane({std::move(name), kind, rank, -1, 1, number++, "host"});
  };
  const bool is_replay = program_.recording.trace != nullptr;
  if (!is_replay) steps_[0] = lane("steps", trace::LaneKind::kSteps, 0);
  for (const program::Thread& thread : program_.threads) {
    const bool is_main = thread.role == program::ThreadRole::kMain;
    if (is_main && is_replay && (steps_.empty() || has_steps(program_, thread)))
      steps_[thread.rank] = lane("steps", trace::LaneKind::kSteps, thread.rank);
    if (is_main && !steps_.contains(thread.rank) && has_marks(thread))
      steps_[thread.rank] =
          lane(fmt::format("steps, rank {}", thread.rank), trace::LaneKind::kSteps, thread.rank);
    threads_.push_back(lane(thread.name, kind_of(thread.role), thread.rank));
  }
  for (const int rank : staging)
    staging_[rank] = lane(rank == 0 ? "staging" : fmt::format("staging, rank {}", rank),
                          trace::LaneKind::kStaging, rank);
}

void Recorder::add_engines(int gpu, int rank, bool h2d, bool d2h) {
  const auto engine = [&](std::string name, std::int64_t number) {
    return trace_.add_lane({std::move(name), trace::LaneKind::kCopyEngine, rank, gpu, 2, number,
                            fmt::format("GPU {}", gpu)});
  };
  Engines& engines = engines_.emplace_back();
  if (machine_.gpu.copy_engines < 2 && (h2d || d2h)) {
    engines.h2d = engines.d2h = engine("copy engine", 1);
  } else {
    if (h2d) engines.h2d = engine("H2D copy engine", 1);
    if (d2h) engines.d2h = engine("D2H copy engine", 2);
  }
}

void Recorder::add_device_lanes(const std::vector<bool>& streams, bool allocations, Sms sms) {
  for (program::Index i = 0; i < program_.streams.size(); ++i) {
    const program::Stream& stream = program_.streams[i];
    streams_.push_back(streams[i] ? trace_.add_lane({stream.name, trace::LaneKind::kStream,
                                                     stream.rank, stream.device, 0, stream.number,
                                                     fmt::format("GPU {}", stream.device)})
                                  : trace::kNone);
  }
  const auto roles = roles_of(program_);
  for (std::size_t gpu = 0; gpu < ranks_.size(); ++gpu)
    memory_.push_back(allocations ? add_memory_lanes(static_cast<int>(gpu), ranks_[gpu], roles[gpu])
                                  : MemoryLanes());
  if (sms == Sms::kPlaced) add_sm_lanes();
}

void Recorder::add_sm_lanes() {
  const bool placed =
      std::any_of(program_.operations.begin(), program_.operations.end(),
                  [](const program::Operation& one) { return one.block_work.has_value(); });
  if (!placed) return;
  const auto lane = [&](std::string_view name) {
    return trace_.add_lane({std::string(name), trace::LaneKind::kCounter, 0, 0, 0, 0, "GPU 0"});
  };
  busy_sms_ = lane(kBusySmsLane);
  resident_warps_ = lane(kResidentWarpsLane);
}

void Recorder::sample_sms(Nanos now, std::int64_t busy, std::int64_t warps) {
  if (busy_sms_ == trace::kNone) return;
  if (busy != last_busy_sms_) trace_.add_sample({now, static_cast<double>(busy), busy_sms_});
  if (warps != last_warps_) trace_.add_sample({now, static_cast<double>(warps), resident_warps_});
  last_busy_sms_ = busy;
  last_warps_ = warps;
}

Recorder::MemoryLanes Recorder::add_memory_lanes(int gpu, int rank,
                                                 const std::array<bool, program::kRoles>& roles) {
  MemoryLanes lanes;
  const auto lane = [&](std::string name, trace::LaneKind kind) {
    return trace_.add_lane({std::move(name), kind, rank, gpu, 0, 0, fmt::format("GPU {}", gpu)});
  };
  lanes.allocated = lane("allocated memory", trace::LaneKind::kMemory);
  lanes.reserved = lane("reserved memory", trace::LaneKind::kMemory);
  for (std::size_t i = 0; i < lanes.roles.size(); ++i) {
    const auto role = static_cast<program::Role>(i);
    if (roles[i])
      lanes.roles[i] =
          lane("allocated: " + std::string(program::name_of(role)), trace::LaneKind::kMemoryRole);
  }
  return lanes;
}

trace::LaneId Recorder::add_overwritten_lane() {
  return trace_.add_lane({"overwritten too early", trace::LaneKind::kOther, 0, 0, 0, 0, "GPU 0"});
}

trace::NameId Recorder::name_of(const program::Command& command, std::string_view otherwise) {
  if (command.name == program::kNoIndex) return name(otherwise);
  trace::NameId& known = command_names_[command.name];
  if (known == trace::kNone) known = name(std::string_view(program_.names[command.name]));
  return known;
}

trace::NameId Recorder::copy_name(const program::Copy& copy) {
  static constexpr std::string_view kShort[] = {"HtoD", "DtoH", "DtoD"};
  if (is_between_gpus(copy, program_)) return name("Memcpy PtoP (Device -> Device)");
  const MemoryKind from = program_.buffers[copy.from].kind, to = program_.buffers[copy.to].kind;
  trace::NameId& known = copy_names_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  if (known != trace::kNone) return known;
  std::string text = "Memcpy ";
  text += kShort[static_cast<int>(direction_of(copy, program_))];
  text.append(" (").append(trace::name_of(memory_of(from)));
  text.append(" -> ").append(trace::name_of(memory_of(to))).append(")");
  return known = name(std::string_view(text));
}

trace::NameId Recorder::transfer_name(std::int64_t bytes) {
  const auto [entry, added] = transfer_names_.try_emplace(bytes, 0);
  if (added) entry->second = name(format_bytes(static_cast<double>(bytes)));
  return entry->second;
}

trace::DetailId Recorder::kernel_detail(const program::Operation& operation,
                                        program::Index stream) {
  const auto [entry, added] = kernel_details_.try_emplace({&operation, stream}, trace::kNone);
  if (!added) return entry->second;
  trace::KernelDetail detail;
  detail.device = program_.streams[stream].device;
  detail.stream = program_.streams[stream].number;
  const std::int64_t blocks = grid_blocks(operation, machine_.gpu);
  detail.grid[0] = static_cast<std::int32_t>(std::min<std::int64_t>(blocks, INT32_MAX));
  detail.block[0] = operation.threads;
  detail.flops = operation.flops;
  detail.bytes = operation.bytes;
  if (operation.block_work) {
    const machine::Occupancy occupancy =
        machine::occupancy(machine_.gpu, launch_shape(operation, machine_.gpu));
    detail.registers_per_thread = operation.block_work->registers;
    detail.shared_bytes = operation.block_work->shared_bytes;
    // As PyTorch's profiler estimates it: no more blocks an SM than the grid has.
    const double grid = static_cast<double>(blocks) / machine_.gpu.sm_count;
    detail.occupancy = occupancy.theoretical * std::min(1.0, grid / occupancy.blocks_per_sm);
  }
  return entry->second = trace_.add_detail(detail);
}

trace::DetailId Recorder::collective_detail(const program::Collective& collective,
                                            const CollectivePlan& plan) {
  const program::Stream& stream = program_.streams[collective.stream];
  constexpr int kThreads = 512;  // of a block, as NCCL launches them where there is NVLink
  trace::CollectiveDetail detail;
  detail.operation = operation_name(collective);
  const program::ElementType type = program::type_of(program_, collective);
  detail.type = type == program::ElementType::kFp16   ? "Half"
                : type == program::ElementType::kBf16 ? "BFloat16"
                                                      : "Float";
  const program::Communicator& group = program_.communicators[collective.communicator];
  detail.group_size = group.ranks;
  if (!group.gpus.empty()) {  // numbered, as PyTorch does, behind the default group
    detail.group = std::to_string(collective.communicator + 1);
    detail.members = fmt::format("[{}]", fmt::join(group.gpus, ", "));
  }
  const std::int64_t numbers = std::max<std::int64_t>(1, collective.bytes / program::size_of(type));
  const std::int64_t shard = std::max<std::int64_t>(1, numbers / detail.group_size);
  const bool gathers = collective.kind == program::CollectiveKind::kAllGather;
  const bool scatters = collective.kind == program::CollectiveKind::kReduceScatter;
  detail.elements_in = gathers ? shard : numbers;
  detail.elements_out = scatters ? shard : numbers;
  detail.sequence = collective.sequence;
  if (collective.kind != program::CollectiveKind::kSendReceive) {
    constexpr std::array<const char*, 3> kAlgorithms{"tree", "ring", "NVLS"};
    constexpr std::array<const char*, 3> kProtocols{"LL", "LL128", "Simple"};
    detail.algorithm = kAlgorithms[static_cast<std::size_t>(plan.algorithm)];
    detail.protocol = kProtocols[static_cast<std::size_t>(plan.protocol)];
  }
  detail.kernel.device = stream.device;
  detail.kernel.stream = stream.number;
  detail.kernel.grid[0] = plan.channels;
  detail.kernel.block[0] = kThreads;
  return trace_.add_detail(detail);
}

trace::DetailId Recorder::recorded_detail(trace::SpanId span) {
  const trace::Trace& recorded = *program_.recording.trace;
  const trace::Detail* detail = recorded.detail(recorded.spans()[span]);
  return detail ? trace_.add_detail(*detail) : trace::kNone;
}

trace::DetailId Recorder::copy_detail(const program::Copy& copy, std::int64_t bytes) {
  const auto [entry, added] =
      copy_details_.try_emplace({copy.from, copy.to, copy.stream, bytes}, trace::kNone);
  if (!added) return entry->second;
  trace::CopyDetail detail;
  detail.bytes = bytes;
  detail.from = memory_of(program_.buffers[copy.from].kind);
  detail.to = memory_of(program_.buffers[copy.to].kind);
  detail.device = program_.streams[copy.stream].device;
  detail.stream = program_.streams[copy.stream].number;
  return entry->second = trace_.add_detail(detail);
}

}  // namespace trainscope::sim
