// The work of the devices of a recorded trace, by the calls that enqueue it, and what each piece of
// it waits for besides the work before it on its stream.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "program/program.h"
#include "train/replay/host_tracks.h"

namespace trainscope::train {

// Works of a call: the first of Recording::works, and how many.
struct WorksOfCall {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct DeviceWork {
  program::Recording recording;
  std::vector<program::Stream> streams;
  std::unordered_map<trace::SpanId, WorksOfCall> of_call;
  std::uint32_t without_call = 0;  // the first so many: nothing before them on their stream has one
  std::vector<std::vector<std::uint32_t>> on_stream;  // works, by stream
  std::vector<std::uint32_t> by_end;                  // works, as they end
  std::vector<Nanos> called;                          // by work: when its call begins
  Nanos usual_latency = 0;  // from there to the beginning of what waits for nothing else
};

// A copy to a GPU that is staged while its call holds the host.
bool is_from_pageable(const trace::Trace& trace, const trace::Span& work);

// Works are in the order of their calls. A work of which no call is known is enqueued with the work
// before it on its stream.
//
// What a work waited for is inferred, as the trace names no events: the latest of its call, of the
// end of the work before it, and of the end of other streams' work just before it begins. A
// collective waits for what was launched before it (ProcessGroupNCCL: its stream waits for the
// current one), and so does what is launched next after cudaStreamWaitEvent, as far as the times
// allow it. The ranks of a collective that are all here wait for one another.
DeviceWork device_work(std::shared_ptr<const trace::Trace> trace,
                       const std::vector<HostTrack>& tracks);

}  // namespace trainscope::train
