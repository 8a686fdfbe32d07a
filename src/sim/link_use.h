// How much of its links each GPU uses: counters of a trace, in percent of what a direction carries.
//
// Counted is what comes in from other GPUs: collectives in closed form, at the steady rate of their
// bytes on the wire over their time, and copies between GPUs as they share the GPU's port. Where
// ranks are on several nodes, what the adapters of a node carry is counted beside it. Collectives
// that are taken apart have their chunks on lanes of links instead.
#pragma once

#include <vector>

#include "machine/machine.h"
#include "program/program.h"
#include "sim/collectives/collective_model.h"
#include "sim/recorder.h"

namespace trainscope::sim {

class LinkUse {
 public:
  LinkUse(const program::Program& program, const machine::Machine& machine, Recorder& recorder);

  // A GPU's part of a collective begins, and ends.
  void begin(Nanos now, int gpu, const program::Communicator& group, const CollectivePlan& plan);
  void end(Nanos now, int gpu, const program::Communicator& group, const CollectivePlan& plan);

  // What other GPUs copy to this one from now on, bytes a nanosecond.
  void copies(Nanos now, int gpu, double bytes_per_ns);

 private:
  struct Counter {
    trace::LaneId lane = trace::kNone;  // made when something comes
    double collectives = 0;             // bytes a nanosecond
    double copies = 0;
    double shown = 0;  // the last sample, percent
  };
  void change(Nanos now, int gpu, const program::Communicator& group, double bytes_per_ns);
  void sample(Nanos now, Counter& counter, double carries, int gpu, bool network);

  const machine::Machine& machine_;
  Recorder& recorder_;
  bool over_nvlinks_ = false;
  double gpu_carries_ = 0;  // bytes a nanosecond
  double node_carries_ = 0;
  std::vector<Counter> gpus_;
  std::vector<Counter> nodes_;
};

}  // namespace trainscope::sim
