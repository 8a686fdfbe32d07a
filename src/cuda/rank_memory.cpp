#include "cuda/rank_memory.h"

#include <algorithm>

#include "base/error.h"

namespace trainscope::cuda {
namespace {

using program::CollectiveKind;
using program::Index;

constexpr std::int64_t kAligned = 16;  // bytes

bool adds(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduce ||
         kind == CollectiveKind::kReduceScatter;
}

CollectiveUnit unit_of(program::ElementType type) {
  if (type == program::ElementType::kFp16) return CollectiveUnit::kHalf;
  return type == program::ElementType::kBf16 ? CollectiveUnit::kBfloat16 : CollectiveUnit::kFloat;
}

}  // namespace

program::ElementType type_of(CollectiveUnit unit) {
  if (unit == CollectiveUnit::kHalf) return program::ElementType::kFp16;
  return unit == CollectiveUnit::kBfloat16 ? program::ElementType::kBf16
                                           : program::ElementType::kFp32;
}

// Whole numbers (how many batches a norm has seen) are the same on all ranks.
std::vector<Index> CollectiveMemory::numbers_of(Index payload) const {
  std::vector<Index> numbers;
  if (payload == program::kNoIndex) return numbers;
  for (const Index buffer : program_.payloads[payload])
    if (program_.buffers[buffer].type != program::ElementType::kInt64) numbers.push_back(buffer);
  return numbers;
}

Index CollectiveMemory::larger_payload(const program::Collective& collective) const {
  const bool gathers = collective.kind == CollectiveKind::kAllGather;
  return gathers || collective.send == program::kNoIndex ? collective.receive : collective.send;
}

// Numbers of several types that one collective moves are bytes to it.
CollectiveUnit CollectiveMemory::unit_of(const program::Collective& collective) const {
  const std::vector<Index> numbers = numbers_of(larger_payload(collective));
  if (numbers.empty()) return CollectiveUnit::kFloat;
  const CollectiveUnit first = cuda::unit_of(program_.buffers[numbers.front()].type);
  for (const Index buffer : numbers)
    if (cuda::unit_of(program_.buffers[buffer].type) != first) return CollectiveUnit::kByte;
  return first;
}

std::int64_t CollectiveMemory::bytes_of(const program::Collective& collective) const {
  const Index payload = larger_payload(collective);
  constexpr std::int64_t kFloat = cuda::bytes_of(CollectiveUnit::kFloat);
  if (payload == program::kNoIndex) return std::max(kFloat, collective.bytes / kFloat * kFloat);
  std::int64_t bytes = 0;
  for (const Index buffer : numbers_of(payload)) bytes += program_.buffers[buffer].bytes;
  return bytes;
}

CollectiveMemory::CollectiveMemory(const program::Program& program, DeviceCalls& device,
                                   Buffers& buffers, const std::vector<StreamHandle>& streams)
    : program_(program),
      device_(device),
      buffers_(buffers),
      streams_(streams),
      rooms_(streams.size()) {
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands) {
      const auto* one = std::get_if<program::Collective>(&command.action);
      if (!one || one->kind == CollectiveKind::kSendReceive) continue;
      Room& room = rooms_[one->stream];
      const CollectiveUnit counted = unit_of(*one);
      if (adds(one->kind) && counted == CollectiveUnit::kByte)
        throw Error(Fault::kInternal, "a collective adds numbers of several types");
      const std::int64_t unit = cuda::bytes_of(counted), units = bytes_of(*one) / unit;
      const bool scatters = one->kind == CollectiveKind::kReduceScatter;
      const bool is_whole = numbers_of(scatters ? one->send : one->receive).size() == 1 &&
                            one->kind != CollectiveKind::kReduce;
      if (!is_whole) room.piece = std::max(room.piece, bytes_of(*one));
      const std::int64_t ranks = program.communicators[one->communicator].ranks;
      if (adds(one->kind)) room.chunk = std::max(room.chunk, (units / ranks + 1) * unit);
    }
  for (Index i = 0; i < rooms_.size(); ++i) {
    rooms_[i].piece = (rooms_[i].piece + kAligned - 1) / kAligned * kAligned;
    const std::int64_t bytes = rooms_[i].piece + rooms_[i].chunk;
    if (bytes == 0) continue;
    rooms_[i].memory = static_cast<std::byte*>(device.allocate(bytes, streams[i]));
    device.fill_zero(rooms_[i].memory, bytes, streams[i]);
  }
}

CollectiveMemory::~CollectiveMemory() {
  try {
    for (Index i = 0; i < rooms_.size(); ++i)
      if (rooms_[i].memory) device_.release(rooms_[i].memory, streams_[i]);
  } catch (const Error&) {  // the device is lost, and its memory with it
  }
}

void* CollectiveMemory::at(Index payload) {
  const Index buffer = program_.payloads[payload].front();
  buffers_.lend(buffer);
  return buffers_.at(buffer);
}

RankMemory CollectiveMemory::of(const RankCall& call) {
  const program::Collective& one = *call.collective;
  const program::Communicator& group = program_.communicators[one.communicator];
  const int rank = group.rank_of(call.rank);
  const bool is_root = rank == 0;
  std::vector<Index> gives = numbers_of(one.send), gets = numbers_of(one.receive);
  if (one.kind == CollectiveKind::kBroadcast && !is_root) gives.clear();
  if (one.kind == CollectiveKind::kReduce && !is_root) gets.clear();
  const auto at = [this](Index buffer) {
    buffers_.lend(buffer);
    return static_cast<std::byte*>(buffers_.at(buffer));
  };
  const Room& room = rooms_[one.stream];
  RankMemory memory;
  memory.room = room.memory + room.piece;
  const bool gathers = one.kind == CollectiveKind::kAllGather;
  const bool scatters = one.kind == CollectiveKind::kReduceScatter;
  const std::vector<Index>& whole = scatters ? gives : gets;
  memory.piece = whole.size() == 1 ? at(whole.front()) : room.memory;
  // A root that only sends one buffer has it read from there.
  if (one.kind == CollectiveKind::kBroadcast && gets.empty() && gives.size() == 1)
    memory.piece = at(gives.front());
  const std::int64_t all = bytes_of(one), ranks = group.ranks;
  const CollectiveUnit unit = memory.unit = unit_of(one);
  memory.units = all / cuda::bytes_of(unit);
  const std::int64_t part = memory.units / ranks * cuda::bytes_of(unit);
  const auto copies = [&](const std::vector<Index>& list, bool of_rank,
                          std::vector<PieceCopy>& to) {
    std::int64_t place = of_rank ? part * rank : 0;
    for (const Index index : list) {
      const program::Buffer& buffer = program_.buffers[index];
      const bool is_cast = unit != CollectiveUnit::kByte && cuda::unit_of(buffer.type) != unit;
      const std::int64_t bytes =
          std::min(is_cast ? buffer.elements() * cuda::bytes_of(unit) : buffer.bytes, all - place);
      std::byte* const piece = memory.piece + place;
      const std::int64_t count =
          bytes / cuda::bytes_of(is_cast ? unit : cuda::unit_of(buffer.type));
      if (at(index) != piece)
        to.push_back({{at(index), count, buffer.type},
                      {piece, count, is_cast ? type_of(unit) : buffer.type},
                      bytes});
      place += bytes;
    }
  };
  copies(gives, gathers, memory.before);
  if (!(is_root && one.kind == CollectiveKind::kBroadcast && one.send == one.receive))
    copies(gets, scatters, memory.after);
  return memory;
}

}  // namespace trainscope::cuda
