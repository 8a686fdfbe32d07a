// Convolutions as cuDNN carries them out: which kernels a planned launch becomes on a GPU, with
// transposes before and after and a workspace around them, and the search of
// torch.backends.cudnn.benchmark.
//
// Without the search cuDNN's heuristic chooses. With it, the first launch of each shape tries every
// way that there is, on the stream and one after another, and from then on that shape takes the
// fastest (aten/src/ATen/native/cudnn/Conv_v8.cpp). How cuDNN's kernels themselves cost:
// machine/convolution.h.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "machine/convolution.h"
#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/writer.h"

namespace trainscope::train {

class Convolutions {
 public:
  // `benchmark`: search.
  Convolutions(program::Program& program, const machine::Gpu& gpu, bool benchmark)
      : program_(program), gpu_(gpu), benchmark_(benchmark) {}

  // Every convolution of a plan as the kernels that compute it.
  void expand(Plan& plan);

  // The search, before a launch that computes a shape for the first time on its device.
  void search(ThreadWriter& thread, const PlannedLaunch& launch, program::Index stream);

 private:
  // Kernels of one call into the library.
  struct Call {
    std::vector<program::Index> operations;
    program::Index workspace = program::kNoIndex;
    std::size_t computes = 0;  // the place of the one that computes
  };

  void expand(std::vector<PlannedLaunch>& launches);
  const Call* call_of(program::Index operation);
  static void try_out(ThreadWriter& thread, const Call& call, program::Index stream);
  Call make_call(const machine::ConvolutionPlan& plan, program::Index operation, bool trial);
  program::Index workspace(std::int64_t bytes, int device);
  const std::vector<machine::ConvolutionPlan>& plans(const machine::ConvolutionShape& shape);

  program::Program& program_;
  const machine::Gpu& gpu_;
  bool benchmark_;
  std::map<machine::ConvolutionShape, std::vector<machine::ConvolutionPlan>> plans_;
  std::map<program::Index, Call> calls_;                           // by operation
  std::map<std::pair<std::int64_t, int>, program::Index> spaces_;  // by size, device
  // Of the search: what is tried for a shape on a device, the shape that a call's first kernel
  // begins, and whether that has been searched for.
  struct Search {
    std::vector<Call> tried;
    bool done = false;
  };
  std::map<std::pair<machine::ConvolutionShape, int>, std::size_t> places_;  // in searches_
  std::vector<Search> searches_;
  std::map<program::Index, std::size_t> begins_;
};

}  // namespace trainscope::train
