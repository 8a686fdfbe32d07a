// Convolutions by cuDNN, loaded when the first one is wanted: an algorithm for each shape, found
// once by cuDNN's own heuristics, or by trying. Where it is missing, or has none, kernels/conv2d
// computes them.
//
// Only algorithms that give the same bits every time are taken. FP32 is multiplied as TF32 where
// the operation says so.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "cuda/device/operation_kernels.h"

namespace trainscope::cuda {

class CudnnConvolutions : public Convolutions {
 public:
  CudnnConvolutions();
  ~CudnnConvolutions() override;
  CudnnConvolutions(const CudnnConvolutions&) = delete;

  // From any thread. Throws an Error where the device fails.
  bool convolve(const ConvolutionCall& call, kernels::Stream stream) override;

  // Why some convolution so far was not cuDNN's; empty: all were.
  std::string why_not() const;

  // What belonged to a stream that is no more is another's.
  void forget(cudaStream_t stream);

 private:
  struct Library;

  mutable std::mutex mutex_;
  bool is_looked_for_ = false;
  std::string why_not_;
  std::unique_ptr<Library> library_;  // null: it is not there, or does not start
};

}  // namespace trainscope::cuda
