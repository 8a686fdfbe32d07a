// Writes what the simulator does into a trace: which lanes there are, what each span is called.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "machine/machine.h"
#include "program/program.h"
#include "sim/collectives/chunk_schedule.h"
#include "trace/trace.h"

namespace trainscope::sim {

enum class Direction : std::uint8_t { kH2D, kD2H, kD2D };

// How many GPUs are numbered up to the last that the program has a stream or a buffer on, those
// included that it has nothing on; at least 1. What is kept by GPU has so many places.
int gpus_to_the_last(const program::Program& program);
Direction direction_of(const program::Copy& copy, const program::Program& program);
bool is_between_gpus(const program::Copy& copy, const program::Program& program);
trace::Memory memory_of(program::MemoryKind kind);

class Recorder {
 public:
  // Whether what SMs do is known block by block: then it has lanes.
  enum class Sms { kPlaced, kUnknown };
  Recorder(const program::Program& program, const machine::Machine& machine, trace::Trace& trace,
           Sms sms = Sms::kPlaced);

  // Throws InputError when the run has more spans than a machine has room for.
  trace::SpanId add(const trace::Span& span) {
    if (trace_.spans().size() >= kMostSpans) refuse_more();
    return trace_.add_span(span);
  }
  trace::Trace& trace() { return trace_; }
  trace::NameId name(std::string_view text) { return trace_.intern(text); }
  // Of a literal: looked up by where it stands, which is quicker than by its letters.
  template <std::size_t size>
  trace::NameId name(const char (&literal)[size]) {
    const auto [entry, added] = literals_.try_emplace(literal, 0);
    if (added) entry->second = trace_.intern(literal);
    return entry->second;
  }
  // The command's own name, or `otherwise` when it has none.
  trace::NameId name_of(const program::Command& command, std::string_view otherwise);
  // What a launch writes, made once: by operation.
  struct LaunchNames {
    trace::NameId framework = 0;
    trace::NameId call = 0;
    trace::NameId kernel = 0;
  };
  const LaunchNames& launch_names(program::Index operation) const {
    return launch_names_[operation];
  }

  // Of a rank that has marks.
  trace::LaneId steps_lane(int rank = 0) const { return steps_.at(rank); }
  trace::LaneId thread_lane(program::Index thread) const { return threads_[thread]; }
  // Of the marks that a thread sets: steps and what is in them are the main thread's; of others
  // they stand where their calls do.
  trace::LaneId marks_lane(program::Index thread) const {
    const program::Thread& of = program_.threads[thread];
    return of.role == program::ThreadRole::kMain ? steps_lane(of.rank) : thread_lane(thread);
  }
  trace::LaneId stream_lane(program::Index stream) const { return streams_[stream]; }
  trace::LaneId engine_lane(int gpu, Direction direction) const {
    const auto& engines = engines_[static_cast<std::size_t>(gpu)];
    return direction == Direction::kH2D ? engines.h2d : engines.d2h;
  }
  // Of a rank that copies pageable memory: its driver's buffer.
  trace::LaneId staging_lane(int rank) const { return staging_.at(rank); }
  // From a GPU to another; a lane for those links alone that something is sent over.
  trace::LaneId link_lane(int from, int to);
  // A counter of what a GPU's links carry, and a node's adapters, in percent; each made once.
  trace::LaneId add_link_use_lane(int gpu, std::string_view name);
  trace::LaneId add_network_use_lane(int node);
  // The lanes of that, where Sms::kUnknown left them out and something tells of blocks after all.
  void add_sm_lanes();
  // How many SMs have a block, and how many warps are on them; where kernels are placed block by
  // block. Written where they change.
  void sample_sms(Nanos now, std::int64_t busy, std::int64_t warps);
  // kNone where the program allocates nothing, or, of a role, where no buffer on that GPU has it.
  struct MemoryLanes {
    trace::LaneId allocated = trace::kNone;
    trace::LaneId reserved = trace::kNone;
    std::array<trace::LaneId, program::kRoles> roles{};
    MemoryLanes() { roles.fill(trace::kNone); }
  };
  const MemoryLanes& memory_lanes(int gpu) const { return memory_[static_cast<std::size_t>(gpu)]; }

  // Memory that was written while it was still read: a lane only for programs that do so.
  trace::LaneId add_overwritten_lane();

  std::uint32_t next_correlation() { return ++correlation_; }
  trace::NameId transfer_name(std::int64_t bytes);     // "4 MiB"
  trace::NameId copy_name(const program::Copy& copy);  // "Memcpy HtoD (Pinned -> Device)"
  trace::DetailId kernel_detail(const program::Operation& operation, program::Index stream);
  trace::DetailId collective_detail(const program::Collective& collective,
                                    const CollectivePlan& plan);
  trace::DetailId copy_detail(const program::Copy& copy, std::int64_t bytes);
  // Of a span of the program's recording.
  trace::DetailId recorded_detail(trace::SpanId span);
  // "waits for rank 3", of the stream whose work the others wait for; "GPU 3" within one process.
  trace::NameId wait_name(program::Index stream);
  trace::NameId chunk_name(const ChunkSend& send);  // "add chunk 3, step 2"; or "copy chunk ..."
  trace::DetailId chunk_detail(const ChunkSend& send, double bytes);

 private:
  static constexpr std::uint32_t kMostSpans = 50'000'000;  // two gigabytes of them
  [[noreturn]] static void refuse_more();

  void add_host_lanes(const std::set<int>& staging);
  void add_engines(int gpu, int rank, bool h2d, bool d2h);
  void add_device_lanes(const std::vector<bool>& streams, bool allocations, Sms sms);
  MemoryLanes add_memory_lanes(int gpu, int rank, const std::array<bool, program::kRoles>& roles);

  const program::Program& program_;
  const machine::Machine& machine_;
  trace::Trace& trace_;
  std::vector<int> ranks_;                 // by GPU
  std::vector<trace::NameId> wait_names_;  // by GPU; kNone: not written yet
  std::map<int, trace::LaneId> steps_;     // by rank
  std::map<int, trace::LaneId> staging_;   // likewise
  std::vector<MemoryLanes> memory_;        // counters of bytes, by GPU
  trace::LaneId busy_sms_ = trace::kNone;
  trace::LaneId resident_warps_ = trace::kNone;
  std::int64_t last_busy_sms_ = 0;
  std::int64_t last_warps_ = 0;
  struct Engines {
    trace::LaneId h2d = trace::kNone;
    trace::LaneId d2h = trace::kNone;
  };
  std::vector<Engines> engines_;  // by GPU
  std::vector<trace::LaneId> threads_;
  std::vector<trace::LaneId> streams_;
  std::uint32_t correlation_ = 0;
  std::vector<LaunchNames> launch_names_;
  // Equal details and names are written once.
  std::unordered_map<const char*, trace::NameId> literals_;
  std::vector<trace::NameId> command_names_;                // by Program::names
  std::array<std::array<trace::NameId, 3>, 3> copy_names_;  // by the two kinds of memory
  std::map<std::int64_t, trace::NameId> transfer_names_;
  std::map<std::pair<const program::Operation*, program::Index>, trace::DetailId> kernel_details_;
  std::map<std::array<std::int64_t, 4>, trace::DetailId> copy_details_;
  std::map<std::pair<int, int>, trace::LaneId> links_;                     // by from and to
  std::map<std::pair<int, std::int64_t>, trace::DetailId> chunk_details_;  // by GPU and bytes
};

trace::Category category_of(Direction direction);
trace::Category category_of(program::Phase phase);  // of a kernel

}  // namespace trainscope::sim
