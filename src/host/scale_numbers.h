// The numbers of a program that is timing only: none but the loss scale's, which follow from the
// infinities that the program itself puts into gradients.
#pragma once

#include <vector>

#include "program/numbers.h"

namespace trainscope::host {

class ScaleNumbers : public program::Numbers {
 public:
  // The program must outlive it.
  explicit ScaleNumbers(const program::Program& program);

  void load(const program::LoadBatch&) override {}
  void run(const program::Operation& operation) override;
  void copy(const program::Copy& copy) override;
  double value(program::Index buffer) const override { return values_[buffer]; }
  trace::TrainingStep step(std::int64_t number) override;
  trace::Evaluation evaluation(std::int64_t step) override;

 private:
  const program::Program& program_;
  std::vector<float> values_;  // the first number of each buffer
  float used_scale_ = 0;
};

}  // namespace trainscope::host
