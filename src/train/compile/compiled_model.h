// What the host does with a model under torch.compile: guards, compiled code, CUDA graphs.
//
// Each call first looks whether the compiled code still fits what it is called with (guards): once
// for a model, cut into pieces or not, and once for each block that is compiled by itself. With
// graphs (torch/_inductor/cudagraph_trees.py) the first step's forward and backward are launched as
// they stand, to warm up; the second's are captured, instantiated and launched; from then on each,
// of each piece, is one cudaGraphLaunch, forward's by the thread that trains, backward's by
// autograd's. What they hold lies in a pool of their own, which is as large as the most that lives
// at once and is never given back; so are the gradients. Compiling itself, which a first step waits
// for, takes no time here.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "program/config.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/loop/launch_writer.h"
#include "train/settings/train_settings.h"
#include "train/writer.h"

namespace trainscope::train {

class CompiledModel {
 public:
  // `pieces`: how many there are. Adds graphs to a program, where the model is replayed.
  CompiledModel(program::Program& program, const program::Config& config,
                const TrainSettings& settings, int pieces);

  // With graphs: what the plan's compiled launches hold lies in their pool from here on, and
  // nothing of it is allocated or freed.
  void lay_out(Plan& plan);

  // All launches of a plan's forward, or of its backward, on the current line and in the current
  // phase. `launch` writes one of those that are not in a graph. `done`: what autograd does once a
  // launch is given to the GPU, by its place.
  using Done = std::function<void(std::size_t)>;
  void forward(ThreadWriter& main, const std::vector<PlannedLaunch>& launches,
               const WriteLaunch& launch);
  void backward(ThreadWriter& autograd, const std::vector<PlannedLaunch>& launches,
                const WriteLaunch& launch, const Done& done);

  // For those that write all launches of a forward, or of a backward, one by one, and no graphs:
  // before the first of each piece comes what its call costs.
  WriteLaunch forward_by_pieces(const WriteLaunch& launch) const;
  WriteLaunch backward_by_pieces(const WriteLaunch& launch) const;

 private:
  // Of a piece's forward or of its backward.
  struct Call {
    program::Index graph = program::kNoIndex;
    std::int64_t made = 0;
  };
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  void look_up(ThreadWriter& main) const;
  void carry_out(ThreadWriter& thread, Call& call, const std::vector<PlannedLaunch>& launches,
                 Range piece, const WriteLaunch& launch) const;
  void capture(ThreadWriter& thread, program::Index graph,
               const std::vector<PlannedLaunch>& launches, Range piece,
               const WriteLaunch& launch) const;

  program::Program& program_;
  bool has_guards_;  // a host without Python has none
  bool cuda_graph_;
  std::vector<Call> forward_, backward_;  // by piece
  program::Index pool_ = program::kNoIndex;
};

}  // namespace trainscope::train
