#include "cuda/collectives.h"

#include <algorithm>
#include <numeric>

#include "base/rank_words.h"

namespace trainscope::cuda {
namespace {

constexpr program::MemoryKind kDevice = program::MemoryKind::kDevice;

// The sum of a part ends with the rank of its number (host/ring.h); chunks of an all-reduce have
// the number of the rank that they leave first, the one behind it.
std::int64_t part_of(const sim::ChunkSend& send, program::CollectiveKind kind, int chunks) {
  return kind == program::CollectiveKind::kAllReduce ? (send.chunk + chunks - 1) % chunks
                                                     : send.chunk;
}

// Calls `act` with each of a program's collectives.
template <typename Act>
void for_each_collective(const program::Program& program, const Act& act) {
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* one = std::get_if<program::Collective>(&command.action)) act(*one);
}

// Whether each rank of the groups has a GPU of its own in this process; not of groups that are all
// empty.
bool has_gpus_for(const std::vector<RankGroup>& groups, const DeviceCalls& device) {
  int wanted = 0;
  for (const RankGroup& group : groups)
    for (const int gpu : group.gpus) wanted = std::max(wanted, gpu + 1);
  return wanted > 0 && wanted <= device.gpus();
}

}  // namespace

std::vector<RankGroup> library_groups(const program::Program& program, bool it_sends) {
  std::vector<RankGroup> groups(program.communicators.size());
  for_each_collective(program, [&](const program::Collective& collective) {
    RankGroup& group = groups[collective.communicator];
    const bool sends = collective.kind == program::CollectiveKind::kSendReceive;
    if (sends && !it_sends) return;
    group.exchanges |= sends;
    if (!group.gpus.empty()) return;
    const program::Communicator& one = program.communicators[collective.communicator];
    for (int rank = 0; rank < one.ranks; ++rank) group.gpus.push_back(one.gpu_of(rank));
    group.name = one.groups == 1 ? one.name : one.name + " of " + range_words(one.gpus);
  });
  return groups;
}

Collectives::Collectives(const program::Program& program, DeviceCalls& device,
                         CollectiveMemory& memory, const std::vector<StreamHandle>& streams)
    : program_(program), device_(device), memory_(memory), streams_(streams) {
  const bool are_processes = device.ranks_elsewhere() > 0;
  const std::vector<RankGroup> groups = library_groups(program, are_processes);
  const bool joined =
      are_processes || (has_gpus_for(groups, device) && device.join(groups).empty());
  for (const RankGroup& group : groups) by_library_.push_back(joined && !group.gpus.empty());
  for_each_collective(program, [this](const program::Collective& one) {
    marks_[one.communicator];
    if (one.kind != program::CollectiveKind::kSendReceive)
      schedule_of(one.kind, program_.communicators[one.communicator].ranks);
  });
}

const sim::ChunkSchedule& Collectives::schedule_of(program::CollectiveKind kind, int ranks) {
  auto& known = schedules_[{kind, ranks}];
  if (known) return *known;
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  known = std::make_unique<sim::ChunkSchedule>(sim::ring_schedule(std::move(order), kind, ranks));
  return *known;
}

const program::Operation& Collectives::addition_of(std::int64_t units, program::ElementType type,
                                                   bool maximum) {
  auto& known = additions_[{units, type, maximum}];
  if (known) return *known;
  known = std::make_unique<program::Operation>();
  known->kernel = "add a chunk";
  known->function = program::Accumulate{units, 0, maximum};
  known->type = type;
  known->m = units;
  known->flops = static_cast<double>(units);
  known->bytes = static_cast<double>(3 * program::size_of(type) * units);  // two read, one written
  return *known;
}

const program::Operation& Collectives::cast_of(std::int64_t units, program::ElementType from) {
  auto& known = casts_[{units, from, false}];
  if (known) return *known;
  known = std::make_unique<program::Operation>();
  known->kernel = "cast a piece";
  known->function = program::Cast{units};
  known->type = from;
  known->m = units;
  const std::int64_t wide = program::size_of(program::ElementType::kFp32), narrow = wide / 2;
  known->bytes = static_cast<double>((wide + narrow) * units);
  return *known;
}

std::vector<Collectives::Marks>& Collectives::marks_of(program::Index communicator,
                                                       const std::vector<RankCall>& calls) {
  std::vector<Marks>& marks = marks_.at(communicator);
  if (!marks.empty()) return marks;
  for (const RankCall& call : calls) {
    const int gpu = program_.streams[call.collective->stream].device;
    const int of_after = call.collective->after == program::kNoIndex
                             ? gpu
                             : program_.streams[call.collective->after].device;
    marks.push_back({device_.make_event(of_after),
                     device_.make_event(gpu),
                     {device_.make_event(gpu), device_.make_event(gpu)}});
  }
  return marks;
}

void Collectives::begin_part(const Rank& rank, const sim::ChunkSend* send, const Log& log) {
  Call call;
  call.id = log.next_call();
  call.line = rank.call->line;
  call.stream = rank.call->collective->stream;
  call.collective = rank.call->collective;
  call.part_of = rank.call->call;
  call.send = send;
  log.log.calls.push_back(call);
  device_.begin_call(call.id, rank.stream);
}

// `there`: from the buffer to the piece.
void Collectives::copy_piece(const PieceCopy& one, bool there, StreamHandle stream) {
  const Operand &from = there ? one.buffer : one.piece, &to = there ? one.piece : one.buffer;
  if (from.type == to.type)
    return device_.copy({from.memory, to.memory, one.bytes, kDevice, kDevice}, stream);
  KernelCall cast;
  cast.operation = &cast_of(from.elements, from.type);
  cast.reads = {from};
  cast.writes = {to};
  device_.launch(cast, stream);
}

void Collectives::copy_pieces(const Rank& rank, const std::vector<PieceCopy>& copies,
                              const Log& log) {
  const bool there = &copies == &rank.memory.before;
  for (const PieceCopy& one : copies) {
    begin_part(rank, nullptr, log);
    copy_piece(one, there, rank.stream);
    device_.end_call();
  }
}

// Each rank behind its own work.
void Collectives::begin(const std::vector<Rank>& ranks, const Log& log) {
  for (const Rank& rank : ranks) {
    const program::Index after = rank.call->collective->after;
    if (after != program::kNoIndex) {
      device_.record(rank.marks->after, streams_[after]);
      device_.wait(rank.stream, rank.marks->after);
    }
    copy_pieces(rank, rank.memory.before, log);
  }
}

// In place: a gathered part, and one of a scattered sum, lies where the whole has it.
void Collectives::by_library(const std::vector<Rank>& ranks) {
  const program::Collective& one = *ranks.front().call->collective;
  const CollectiveUnit unit = ranks.front().memory.unit;
  const std::int64_t units = ranks.front().memory.units;
  const program::Communicator& group = program_.communicators[one.communicator];
  const std::int64_t part = units / group.ranks * bytes_of(unit);
  std::vector<RankShare> shares;
  for (const Rank& rank : ranks) {
    std::byte* whole = rank.memory.piece;
    std::byte* own = whole + part * group.rank_of(rank.call->rank);
    shares.push_back({one.kind == program::CollectiveKind::kAllGather ? own : whole,
                      one.kind == program::CollectiveKind::kReduceScatter ? own : whole,
                      rank.stream, rank.call->call, one.maximum});
  }
  device_.together(one.communicator, one.kind, unit, units, shares);
}

// Of two processes, this one's part. What moves is not added, so it is bytes.
void Collectives::exchange_by_library(const Rank& mine) {
  const program::Collective& one = *mine.call->collective;
  const auto memory = [this](program::Index payload) {
    return payload == program::kNoIndex ? nullptr : memory_.at(payload);
  };
  device_.together(one.communicator, one.kind, CollectiveUnit::kByte, one.bytes,
                   {{memory(one.send), memory(one.receive), mine.stream, mine.call->call}});
}

void Collectives::pull(const Rank& from, const Rank& to, const sim::ChunkSend& send,
                       const sim::ChunkSchedule& schedule, const Log& log) {
  const program::Collective& one = *to.call->collective;
  const CollectiveUnit unit = to.memory.unit;
  const std::int64_t units = to.memory.units, part = part_of(send, one.kind, schedule.chunks);
  const std::int64_t begin = part * units / schedule.chunks;
  const std::int64_t count = (part + 1) * units / schedule.chunks - begin;
  if (count == 0) return;
  const std::int64_t place = begin * bytes_of(unit);
  std::byte* mine = to.memory.piece + place;
  std::byte* target = send.reduces ? to.memory.room : mine;
  begin_part(to, &send, log);
  device_.copy({from.memory.piece + place, target, count * bytes_of(unit), kDevice, kDevice},
               to.stream);
  if (send.reduces) {
    KernelCall add;
    add.operation = &addition_of(count, type_of(unit), one.maximum);
    add.reads = {{target, count, type_of(unit)}};
    add.writes = {{mine, count, type_of(unit)}};
    device_.launch(add, to.stream);
  }
  device_.end_call();
}

// All behind the last.
void Collectives::meet(const std::vector<Rank>& ranks) {
  for (const Rank& rank : ranks) device_.record(rank.marks->arrived, rank.stream);
  for (const Rank& rank : ranks) device_.wait(ranks.front().stream, rank.marks->arrived);
  device_.record(ranks.front().marks->arrived, ranks.front().stream);
  for (const Rank& rank : ranks) {
    device_.wait(rank.stream, ranks.front().marks->arrived);
    device_.record(rank.marks->steps[rank.marks->last], rank.stream);
  }
}

// Each pulls what the other gives. Neither goes on before the other has read what it gave.
void Collectives::exchange(const std::vector<Rank>& ranks, const Log& log) {
  static constexpr sim::ChunkSend kWays[] = {{0, 1, 0, 0, false}, {1, 0, 1, 0, false}};
  meet(ranks);
  for (const sim::ChunkSend& send : kWays) {
    const Rank& from = ranks[static_cast<std::size_t>(send.from)];
    const Rank& to = ranks[static_cast<std::size_t>(send.to)];
    if (from.call->collective->send == program::kNoIndex) continue;
    begin_part(to, &send, log);
    device_.copy({memory_.at(from.call->collective->send), memory_.at(to.call->collective->receive),
                  from.call->collective->bytes, kDevice, kDevice},
                 to.stream);
    device_.end_call();
  }
  for (const Rank& rank : ranks) device_.record(rank.marks->steps[rank.marks->last], rank.stream);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Marks& other = *ranks[1 - i].marks;
    device_.wait(ranks[i].stream, other.steps[other.last]);
  }
}

// Chunk by chunk. What a rank reads of its neighbour is not written any more until all is over: of
// a sum that goes around, the whole comes back only after the part was read. At the end a rank's
// stream waits for those that still read its memory.
void Collectives::by_ring(const std::vector<Rank>& ranks, const Log& log) {
  meet(ranks);
  const sim::ChunkSchedule& schedule =
      *schedules_.at({ranks.front().call->collective->kind, static_cast<int>(ranks.size())});
  std::vector<std::size_t> last(ranks.size());
  auto next = schedule.sends.begin();
  for (int step = 0; step < schedule.steps; ++step) {
    for (std::size_t i = 0; i < ranks.size(); ++i) last[i] = ranks[i].marks->last;
    for (; next != schedule.sends.end() && next->step == step; ++next) {
      const auto from = static_cast<std::size_t>(next->from);
      const auto to = static_cast<std::size_t>(next->to);
      device_.wait(ranks[to].stream, ranks[from].marks->steps[last[from]]);
      pull(ranks[from], ranks[to], *next, schedule, log);
      ranks[to].marks->last = 1 - last[to];
      device_.record(ranks[to].marks->steps[ranks[to].marks->last], ranks[to].stream);
    }
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Marks& reader = *ranks[(i + 1) % ranks.size()].marks;
    device_.wait(ranks[i].stream, reader.steps[reader.last]);
  }
}

void Collectives::carry_out(const std::vector<RankCall>& calls,
                            const std::function<CallId()>& next_call, ThreadLog& thread_log) {
  const Log log{next_call, thread_log};
  const program::Collective& first = *calls.front().collective;
  const bool exchanges = first.kind == program::CollectiveKind::kSendReceive;
  std::vector<Marks>& marks = marks_of(first.communicator, calls);
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < calls.size(); ++i)
    ranks.push_back({&calls[i], streams_[calls[i].collective->stream],
                     exchanges ? RankMemory() : memory_.of(calls[i]), &marks[i]});
  begin(ranks, log);
  if (exchanges && device_.ranks_elsewhere() > 0) {
    exchange_by_library(ranks.front());
  } else if (exchanges) {
    exchange(ranks, log);
  } else if (by_library_[first.communicator]) {
    by_library(ranks);
  } else {
    by_ring(ranks, log);
  }
  for (const Rank& rank : ranks) copy_pieces(rank, rank.memory.after, log);
}

std::string ring_note(const program::Program& program, DeviceCalls& device) {
  constexpr const char* kByRing = "collectives are a ring of copies and additions";
  for (const program::Communicator& one : program.communicators)
    if (one.simulated < one.ranks) return "";
  bool sums = false, sends = false;
  for_each_collective(program, [&](const program::Collective& one) {
    (one.kind == program::CollectiveKind::kSendReceive ? sends : sums) = true;
  });
  const std::vector<RankGroup> groups = library_groups(program);
  std::string note;
  if (sums && !has_gpus_for(groups, device)) {
    note = kByRing;
  } else if (const std::string why = sums ? device.join(groups) : ""; !why.empty()) {
    note = kByRing + (" between the GPUs: " + why);
  }
  if (sends)
    note += (note.empty() ? "" : "; ") + std::string("what ranks send and receive is copied");
  return note;
}

}  // namespace trainscope::cuda
