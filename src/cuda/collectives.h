// Collectives on the ranks' streams: by the vendor's library where each rank has a GPU of its own
// and the library is there, else by a ring of copies and additions, ordered by events. No kernel of
// a ring waits for another, so that ranks may share a GPU.
//
// What two ranks send and receive is a copy for each way, whether there is a library or not; where
// they are processes, the library sends it.
//
// A chunk is pulled by the rank that gets it, on that rank's stream, once the rank before has it: a
// copy, or a copy into a room and an addition. Numbers are added in the order of host/ring.h, so
// sums have the same bits as there.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "cuda/host_log.h"
#include "cuda/rank_memory.h"
#include "sim/collectives/chunk_schedule.h"

namespace trainscope::cuda {

class Collectives {
 public:
  // All must outlive it. Joins the ranks by the library where that can be.
  Collectives(const program::Program& program, DeviceCalls& device, CollectiveMemory& memory,
              const std::vector<StreamHandle>& streams);

  // Puts all of a collective on the ranks' streams; `calls` are of all ranks, by rank. Each part of
  // it gets a number of `next_call`, and is kept in `log`. One thread at a time.
  void carry_out(const std::vector<RankCall>& calls, const std::function<CallId()>& next_call,
                 ThreadLog& log);

 private:
  // Of a rank of a communicator. Its steps are recorded in turns, so that a neighbour can wait for
  // one while the next is put on the stream.
  struct Marks {
    EventHandle after = 0;    // the work that the collective is behind
    EventHandle arrived = 0;  // the rank is there
    std::array<EventHandle, 2> steps{};
    std::size_t last = 0;  // of steps
  };
  struct Rank {
    const RankCall* call = nullptr;
    StreamHandle stream = 0;
    RankMemory memory;
    Marks* marks = nullptr;
  };
  struct Log {
    const std::function<CallId()>& next_call;
    ThreadLog& log;
  };

  std::vector<Marks>& marks_of(program::Index communicator, const std::vector<RankCall>& calls);
  const sim::ChunkSchedule& schedule_of(program::CollectiveKind kind, int ranks);
  const program::Operation& addition_of(std::int64_t units, program::ElementType type,
                                        bool maximum);
  const program::Operation& cast_of(std::int64_t units, program::ElementType from);
  void begin(const std::vector<Rank>& ranks, const Log& log);
  void by_library(const std::vector<Rank>& ranks);
  void exchange_by_library(const Rank& mine);
  void meet(const std::vector<Rank>& ranks);
  void exchange(const std::vector<Rank>& ranks, const Log& log);
  void by_ring(const std::vector<Rank>& ranks, const Log& log);
  void pull(const Rank& from, const Rank& to, const sim::ChunkSend& send,
            const sim::ChunkSchedule& schedule, const Log& log);
  void copy_piece(const PieceCopy& one, bool there, StreamHandle stream);
  void copy_pieces(const Rank& rank, const std::vector<PieceCopy>& copies, const Log& log);
  void begin_part(const Rank& rank, const sim::ChunkSend* send, const Log& log);

  const program::Program& program_;
  DeviceCalls& device_;
  CollectiveMemory& memory_;
  const std::vector<StreamHandle>& streams_;
  std::vector<bool> by_library_;                        // by communicator
  std::map<program::Index, std::vector<Marks>> marks_;  // by communicator and rank
  std::map<std::pair<program::CollectiveKind, int>, std::unique_ptr<sim::ChunkSchedule>> schedules_;
  // By how many numbers of which type; casts from it, and additions that keep the larger.
  using Operations = std::map<std::tuple<std::int64_t, program::ElementType, bool>,
                              std::unique_ptr<program::Operation>>;
  Operations additions_, casts_;
};

// A program's communicators as the vendor's library is to make them, by their numbers; those whose
// ranks only send and receive are empty, unless the library sends, as between processes.
std::vector<RankGroup> library_groups(const program::Program& program, bool it_sends = false);

// How a program's collectives are carried out on a device, in words that its trace says; nothing
// for a program that has none, or only some by the vendor's library.
std::string ring_note(const program::Program& program, DeviceCalls& device);

}  // namespace trainscope::cuda
