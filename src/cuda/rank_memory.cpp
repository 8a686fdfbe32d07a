#include "cuda/rank_memory.h"

#include <algorithm>

namespace trainscope::cuda {
namespace {

using program::CollectiveKind;
using program::Index;

constexpr std::int64_t kFloat = 4;

bool adds(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduce ||
         kind == CollectiveKind::kReduceScatter;
}

}  // namespace

std::string refusal_of_payloads(const program::Program& program) {
  for (const std::vector<Index>& payload : program.payloads)
    for (const Index buffer : payload)
      if (const program::Buffer& what = program.buffers[buffer]; program::size_of(what.type) == 2)
        return "the executor cuda has collectives of FP32 only, and " + what.name +
               " is not; set model.dtype = fp32, or simulate it with --executor sim";
  return "";
}

// Whole numbers (how many batches a norm has seen) are the same on all ranks.
std::vector<Index> CollectiveMemory::numbers_of(Index payload) const {
  std::vector<Index> numbers;
  if (payload == program::kNoIndex) return numbers;
  for (const Index buffer : program_.payloads[payload])
    if (program_.buffers[buffer].type != program::ElementType::kInt64) numbers.push_back(buffer);
  return numbers;
}

std::int64_t CollectiveMemory::elements_of(const program::Collective& collective) const {
  std::int64_t elements = 0;
  const bool gathers = collective.kind == CollectiveKind::kAllGather;
  const Index payload =
      gathers || collective.send == program::kNoIndex ? collective.receive : collective.send;
  if (payload == program::kNoIndex) return std::max<std::int64_t>(1, collective.bytes / kFloat);
  for (const Index buffer : numbers_of(payload)) elements += program_.buffers[buffer].elements();
  return elements;
}

CollectiveMemory::CollectiveMemory(const program::Program& program, DeviceCalls& device,
                                   Buffers& buffers, const std::vector<StreamHandle>& streams)
    : program_(program),
      device_(device),
      buffers_(buffers),
      streams_(streams),
      rooms_(streams.size()) {
  if (const std::string why = refusal_of_payloads(program); !why.empty()) throw MissingError(why);
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands) {
      const auto* one = std::get_if<program::Collective>(&command.action);
      if (!one || one->kind == CollectiveKind::kSendReceive) continue;
      Room& room = rooms_[one->stream];
      const std::int64_t elements = elements_of(*one);
      const bool scatters = one->kind == CollectiveKind::kReduceScatter;
      const bool is_whole = numbers_of(scatters ? one->send : one->receive).size() == 1 &&
                            one->kind != CollectiveKind::kReduce;
      if (!is_whole) room.piece = std::max(room.piece, elements);
      const std::int64_t ranks = program.communicators[one->communicator].ranks;
      if (adds(one->kind)) room.chunk = std::max(room.chunk, elements / ranks + 1);
    }
  for (Index i = 0; i < rooms_.size(); ++i) {
    const std::int64_t bytes = kFloat * (rooms_[i].piece + rooms_[i].chunk);
    if (bytes == 0) continue;
    rooms_[i].memory = static_cast<float*>(device.allocate(bytes, streams[i]));
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

RankMemory CollectiveMemory::of(const RankCall& call, std::int64_t elements) {
  const program::Collective& one = *call.collective;
  const bool is_root = call.rank == 0;
  std::vector<Index> gives = numbers_of(one.send), gets = numbers_of(one.receive);
  if (one.kind == CollectiveKind::kBroadcast && !is_root) gives.clear();
  if (one.kind == CollectiveKind::kReduce && !is_root) gets.clear();
  const auto at = [this](Index buffer) {
    buffers_.lend(buffer);
    return buffers_.at(buffer);
  };
  const Room& room = rooms_[one.stream];
  RankMemory memory;
  memory.room = room.memory + room.piece;
  const bool gathers = one.kind == CollectiveKind::kAllGather;
  const bool scatters = one.kind == CollectiveKind::kReduceScatter;
  const std::vector<Index>& whole = scatters ? gives : gets;
  memory.piece = whole.size() == 1 ? static_cast<float*>(at(whole.front())) : room.memory;
  // A root that only sends one buffer has it read from there.
  if (one.kind == CollectiveKind::kBroadcast && gets.empty() && gives.size() == 1)
    memory.piece = static_cast<float*>(at(gives.front()));
  const std::int64_t part = elements / program_.communicators[one.communicator].ranks;
  const auto copies = [&](const std::vector<Index>& list, bool of_rank,
                          std::vector<PieceCopy>& to) {
    std::int64_t place = of_rank ? part * call.rank : 0;
    for (const Index buffer : list) {
      const std::int64_t count = std::min(program_.buffers[buffer].elements(), elements - place);
      if (at(buffer) != memory.piece + place)
        to.push_back({at(buffer), memory.piece + place, count * kFloat});
      place += count;
    }
  };
  copies(gives, gathers, memory.before);
  if (!(is_root && one.kind == CollectiveKind::kBroadcast && one.send == one.receive))
    copies(gets, scatters, memory.after);
  return memory;
}

}  // namespace trainscope::cuda
