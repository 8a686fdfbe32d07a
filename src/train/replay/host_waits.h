// What the calls of a recorded trace waited for on the device, and how long they took besides.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "train/replay/device_work.h"

namespace trainscope::train {

// What is left out of a recording, for the question what it would bring.
struct LeftOut {
  bool staging = false;        // copies to the GPU come from pinned memory, with non_blocking=True
  bool synchronising = false;  // the host never waits for the device: no .item(), no synchronize()
};

// The thread that makes a call.
struct Caller {
  std::optional<std::uint32_t> given;  // the work that it has given last
  int device = 0;                      // of its rank, where it has given none
  LeftOut left_out;
};

class HostWaits {
 public:
  HostWaits(const trace::Trace& trace, const DeviceWork& work,
            const std::vector<HostTrack>& tracks);

  // A call as the program has it. One that synchronises with a stream does so with that of the work
  // that its thread has given last, which is the current one; it waits for what was launched before
  // it, and what it takes besides is from the end of that. Where it returned before, it does not
  // wait.
  program::RecordedCall call(const HostEvent& event, const Caller& caller) const;

 private:
  struct Target {
    program::RecordedCall::Wait wait = program::RecordedCall::Wait::kNothing;
    std::uint32_t waits_for = 0;
    Nanos end = 0;            // of all that it waits for; of its own turn, when it comes
    bool of_staging = false;  // it waits as a copy from pageable memory does
    bool is_sure = false;     // the call must have waited for it: its own copy
  };

  void give_works(program::RecordedCall& call, trace::SpanId span) const;
  Nanos clock_behind(const std::vector<HostTrack>& tracks) const;
  std::optional<Target> target(const HostEvent& event, const program::RecordedCall& call,
                               const Caller& caller) const;
  bool is_from_pageable(std::uint32_t work) const;
  std::optional<Target> own_copy(std::string_view name, const program::RecordedCall& call) const;
  Nanos turn_of(std::uint32_t work) const;
  std::optional<Target> stream_so_far(const HostEvent& event, std::uint32_t given) const;
  std::optional<Target> device_so_far(const HostEvent& event, int device) const;
  std::optional<Target> done_within(const HostEvent& event, int rank) const;

  const trace::Trace& trace_;
  const DeviceWork& work_;
  Nanos behind_ = 0;      // the GPU's clock
  Nanos usual_call_ = 0;  // that enqueues something and does not wait
  // By stream: the end of each of its works and of all before it.
  std::vector<std::vector<Nanos>> stream_done_;
};

}  // namespace trainscope::train
