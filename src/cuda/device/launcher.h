// One operation of a program, launched: the functions of program/function.h by those of kernels/.
#pragma once

#include "cuda/device/operands.h"
#include "cuda/device/operation_kernels.h"
#include "kernels/attention.h"
#include "program/function.h"

namespace trainscope::cuda {

class Launcher {
 public:
  Launcher(const KernelCall& call, kernels::Stream stream, const Libraries& libraries)
      : call_(call), stream_(stream), libraries_(libraries), operands_(call, stream) {}

  void operator()(const std::monostate&) {}
  // layers: launcher_layers.cpp
  void operator()(const program::Linear& f);
  void operator()(const program::Convolution& f);
  void operator()(const program::Activation& f);
  void operator()(const program::MaxPooling& f);
  void operator()(const program::AveragePooling& f);
  void operator()(const program::BatchNorm& f);
  void operator()(const program::LayerNorm& f);
  void operator()(const program::RmsNorm& f);
  void operator()(const program::Rotate& f);
  void operator()(const program::Embedding& f);
  void operator()(const program::AddPositions& f);
  void operator()(const program::Dropout& f);
  void operator()(const program::Attention& f);
  // the rest: launcher.cpp
  void operator()(const program::LogSoftmax& f);
  void operator()(const program::NllLoss& f);
  void operator()(const program::SharedLoss& f);
  void operator()(const program::Add& f);
  void operator()(const program::Product& f);
  void operator()(const program::Accumulate& f);
  void operator()(const program::CopyPart& f);
  void operator()(const program::CopyRuns& f);
  void operator()(const program::Concatenate& f);
  void operator()(const program::ShardsApart& f);
  void operator()(const program::ShardsTogether& f);
  void operator()(const program::Multiply& f);
  void operator()(const program::Power& f);
  void operator()(const program::Fill& f);
  void operator()(const program::Cast& f);
  void operator()(const program::CountCorrect& f);
  void operator()(const program::GradientNorm& f);
  void operator()(const program::GradientNorms& f);
  void operator()(const program::ClipGradients& f);
  void operator()(const program::SgdUpdate& f);
  void operator()(const program::AdamUpdate& f);
  void operator()(const program::InvertScale& f);
  void operator()(const program::Unscale& f);
  void operator()(const program::UpdateScale& f);

  // After it: what was computed in another type than its buffer's goes there.
  void finish() { operands_.finish(); }

 private:
  template <typename T>
  void launch_attention(const program::Attention& f);
  // body(the gradients that are read, a span of tensors; room for their squares).
  template <typename Body>
  void with_gradients(const Body& body);
  bool convolves_by_library(const program::Convolution& f);
  template <typename T>
  void launch_convolution(const program::Convolution& f);

  const KernelCall& call_;
  kernels::Stream stream_;
  const Libraries& libraries_;
  Operands operands_;
};

}  // namespace trainscope::cuda
