// What the host does with a model under torch.compile: guards, compiled code, CUDA graphs.
//
// Each call first looks whether the compiled code still fits what it is called with (guards). With
// graphs (torch/_inductor/cudagraph_trees.py) the first step's forward and backward are launched as
// they stand, to warm up; the second's are captured, instantiated and launched; from then on each
// is one cudaGraphLaunch, forward's by the thread that trains, backward's by autograd's. What they
// hold lies in a pool of their own, which is as large as the most that lives at once and is never
// given back; so are the gradients. Compiling itself, which a first step waits for, takes no time
// here.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/tape.h"
#include "train/writer.h"

namespace trainscope::train {

class CompiledModel {
 public:
  // Adds graphs to a program, where the model is replayed.
  CompiledModel(program::Program& program, const program::Config& config,
                const Compilation& compilation);

  // With graphs: what the plan's compiled launches hold lies in their pool from here on, and
  // nothing of it is allocated or freed.
  void lay_out(Plan& plan);

  using Launch = std::function<void(ThreadWriter&, const PlannedLaunch&)>;
  // All launches of a plan's forward, or of its backward, on the current line and in the current
  // phase. `launch` writes one of those that are not in a graph.
  void forward(ThreadWriter& main, const std::vector<PlannedLaunch>& launches,
               const CompiledRange& compiled, const Launch& launch);
  void backward(ThreadWriter& autograd, const std::vector<PlannedLaunch>& launches,
                const CompiledRange& compiled, const Launch& launch);

 private:
  // Of forward or of backward.
  struct Call {
    program::Index graph = program::kNoIndex;
    std::int64_t made = 0;
  };

  void carry_out(ThreadWriter& thread, Call& call, const std::vector<PlannedLaunch>& launches,
                 const CompiledRange& compiled, const Launch& launch);
  void capture(ThreadWriter& thread, program::Index graph,
               const std::vector<PlannedLaunch>& launches, const CompiledRange& compiled,
               const Launch& launch) const;

  program::Program& program_;
  bool has_guards_;  // a host without Python has none
  bool cuda_graph_;
  Call forward_, backward_;
  program::Index pool_ = program::kNoIndex;
};

}  // namespace trainscope::train
