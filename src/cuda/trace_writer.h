// A measured run as a trace: the host threads' spans, what the device did on its streams, the joins
// between them.
//
// Lanes and names are the simulator's, so that a measured run stands beside a simulated one line by
// line. What no tracer shows is inferred and says so: the staging of pageable memory is the call of
// its copy. What decided when a span on the device began is told from times alone: the work before
// it on its stream, or the call that launched it, whichever was later.
//
// A collective is one span on each rank's stream, from the first chunk that any rank sent to the
// last that this one got or sent, behind a wait for the last rank; its chunks are on lanes of the
// links between GPUs, whatever carried them.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time_ends.h"
#include "cuda/activity.h"
#include "cuda/buffers.h"
#include "cuda/host_log.h"
#include "machine/machine.h"
#include "program/program.h"
#include "sim/recorder.h"
#include "trace/trace.h"

namespace trainscope::cuda {

class TraceWriter {
 public:
  // `begin`: the device's clock at the trace's time 0.
  TraceWriter(const program::Program& program, const machine::Machine& machine, trace::Trace& trace,
              Nanos begin);

  // Once for a run. Work that belongs to no call is counted among what is dropped, as are, of a run
  // that failed, marks that reach to where the device had not come: no step is whole there.
  void write(const std::vector<ThreadLog>& logs, const Activities& activities,
             const std::vector<MemoryChange>& changes, const std::vector<BlockTrace>& blocks,
             bool failed);

  // When the device was done with a call, on the trace's clock; the end of all where it is not
  // known.
  Nanos done(CallId call) const;

 private:
  struct Known {
    const Call* call = nullptr;
    trace::SpanId span = trace::kNone;  // of the call, on its thread
    Nanos begun = 0;                    // the call
    Nanos called = 0;                   // the end of it
  };
  // Of a collective, by communicator and sequence.
  struct Joint {
    std::vector<CallId> ranks;  // their calls
    Nanos begun = 0;            // the first chunk of any rank; 0: none is known
  };
  // A send of a chunk, or the whole of what a rank got and sent.
  struct Extent {
    Nanos start = 0;
    Nanos end = 0;
    std::int64_t bytes = 0;
    bool is_known = false;
    void take(Nanos from, Nanos to);
  };
  // The last work of a stream so far.
  struct Last {
    Nanos end = 0;
    trace::SpanId span = trace::kNone;
  };

  void set_clock(const std::vector<ThreadLog>& logs, std::vector<Activity>& activities);
  void write_host(const std::vector<ThreadLog>& logs);
  void write_thread(program::Index thread, const ThreadLog& log);
  void write_staging(const Call& call, const trace::Span& host);
  void write_activity(const Activity& activity);
  // collective_spans.cpp
  void note_collectives(const std::vector<Activity>& sorted);
  void write_collectives();
  void write_joint(const Joint& joint);
  void write_share(CallId id, const Extent& share, CallId last);
  Nanos ready(CallId id) const;
  CallId of_gpu(const Joint& joint, int gpu) const;
  void write_engine(const Activity& activity, const Known& known, const trace::Span& on_stream);
  void write_blocks(const std::vector<Activity>& sorted, const std::vector<BlockTrace>& launches);
  void write_memory(const std::vector<MemoryChange>& changes);
  void write_dropped(const Activities& activities);
  bool waited(const HostSpan& span) const;
  void note_ends(const std::vector<Activity>& sorted);
  void find_undone(const std::vector<ThreadLog>& logs);
  trace::DetailId detail_of(const Activity& activity, const Known& known);
  trace::NameId name_of(const Activity& activity, const Known& known);
  Nanos at(Nanos time) const { return time - begin_; }

  const program::Program& program_;
  trace::Trace& trace_;
  sim::Recorder recorder_;
  Nanos begin_;
  std::unordered_map<CallId, Known> calls_;
  std::unordered_map<CallId, Nanos> done_;
  std::vector<std::vector<Nanos>> ends_;  // of the work on each stream, sorted
  std::vector<Last> last_;                // by stream
  std::map<std::pair<program::Index, std::int64_t>, Joint> joints_;
  std::map<CallId, Extent> sends_;
  std::unordered_map<CallId, Extent> shares_;  // by the rank's call
  std::unordered_map<CallId, const Activity*> library_kernels_;
  std::unordered_map<CallId, Nanos> flattened_;               // by the rank's call
  std::vector<std::vector<std::pair<CallId, Nanos>>> ended_;  // by stream: until then all was done
  Nanos undone_ = kEndless;  // when the host first called for work that a failed device did not do
  std::int64_t unmarked_ = 0;
  std::int64_t hidden_ = 0;
  std::int64_t unknown_ = 0;
};

}  // namespace trainscope::cuda
