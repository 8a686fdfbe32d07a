// Numbers that are made when the first one is asked for: filling the buffers of a model takes
// longer than its timeline, which need not wait for them.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "program/numbers.h"

namespace trainscope::host {

class NumbersOnDemand final : public program::Numbers {
 public:
  using Make = std::function<std::unique_ptr<program::Numbers>()>;
  explicit NumbersOnDemand(Make make) : make_(std::move(make)) {}

  void load(const program::LoadBatch& load) override { made().load(load); }
  void run(const program::Operation& operation) override { made().run(operation); }
  void copy(const program::Copy& copy) override { made().copy(copy); }
  void view(const program::View& view) override { made().view(view); }
  void collective(const program::Collective& one) override { made().collective(one); }
  double value(program::Index buffer) const override { return made().value(buffer); }
  trace::TrainingStep step(std::int64_t number) override { return made().step(number); }
  trace::Evaluation evaluation(std::int64_t step) override { return made().evaluation(step); }
  void keep(const trace::TrainingStep& row, trace::Trace& trace) override {
    made().keep(row, trace);
  }
  void keep(const trace::Evaluation& row, trace::Trace& trace) override { made().keep(row, trace); }

 private:
  program::Numbers& made() const {
    if (!made_) made_ = make_();
    return *made_;
  }

  Make make_;
  mutable std::unique_ptr<program::Numbers> made_;
};

}  // namespace trainscope::host
