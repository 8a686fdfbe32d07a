// One operation of a program, computed: the functions of program/function.h by those of this
// folder.
#pragma once

#include "host/cast.h"
#include "host/interpreter.h"
#include "program/function.h"

namespace trainscope::host {

class Calculation {
 public:
  Calculation(Interpreter& interpreter, const program::Operation& operation)
      : interpreter_(interpreter), operation_(operation), workers_(interpreter.workers_) {}

  void operator()(const std::monostate&) {}
  // layers: calculation_layers.cpp
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
  // the rest: calculation.cpp
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

 private:
  Values in(std::size_t operand) const;
  Results out(std::size_t operand) const;
  std::span<const std::int64_t> whole(std::size_t operand) const;
  std::size_t inputs() const { return operation_.reads.size(); }
  std::size_t outputs() const { return operation_.writes.size(); }
  // What matrix units read: with TF32, rounded copies of the first two inputs.
  struct Pair {
    Values first;
    Values second;
  };
  Pair rounded(std::size_t more_room, Results& more) const;
  // The rank whose part it is of what so many share out, where one's operations stand for all.
  std::int64_t own_rank(std::int64_t rank, std::int64_t ranks) const;
  // Of the first result.
  NumberFormat format_written() const;
  // Of a gradient, in the type of the result.
  double squared_norm(std::size_t i) const;
  // The gradient of parameter `i` of an update, without the loss scale.
  Values unscaled(std::size_t i, bool scaled) const;

  Interpreter& interpreter_;
  const program::Operation& operation_;
  const Workers& workers_;
};

}  // namespace trainscope::host
