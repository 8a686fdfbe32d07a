// Numbers that are computed once the program has been carried out: what is called for is noted in
// its order, and another Numbers is called so afterwards. A simulation's timeline need not wait for
// them.
//
// Where a program has the commands of several ranks, one that only receives may be far ahead: the
// calls of each rank keep their order, and go on once those that it meets in a collective are
// there.
//
// For programs in which no number decides what is done. A loss that ends a run is met only then:
// the program has to be carried out again, with the rows known by now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <variant>
#include <vector>

#include "program/numbers.h"

namespace trainscope::host {

// A command of the program is carried out or not as a number says: a step that a loss scale skips.
bool numbers_decide(const program::Program& program);

class LaterNumbers final : public program::Numbers {
 public:
  // The program whose parts it is called with must outlive it.
  LaterNumbers(const program::Program& program, std::unique_ptr<program::Numbers> numbers);

  // While the program is carried out.
  void load(const program::LoadBatch& load) override { calls_.emplace_back(&load); }
  void run(const program::Operation& operation) override { calls_.emplace_back(&operation); }
  void copy(const program::Copy& copy) override { calls_.emplace_back(&copy); }
  void view(const program::View& view) override { calls_.emplace_back(&view); }
  void collective(const program::Collective& one) override { calls_.emplace_back(&one); }
  double value(program::Index) const override { return 0; }
  trace::TrainingStep step(std::int64_t number) override;
  trace::Evaluation evaluation(std::int64_t step) override;
  void keep(const trace::TrainingStep& row, trace::Trace&) override { steps_.noted.push_back(row); }
  void keep(const trace::Evaluation& row, trace::Trace&) override {
    evaluations_.noted.push_back(row);
  }

  // Afterwards: computes the next call, and writes into the trace what it completes. False when
  // none is left.
  bool compute_next(trace::Trace& trace);
  double share() const;  // of the calls that are computed, 0..1
  bool ended_run() const { return ended_run_; }
  // The rows computed so far, to carry the program out with. This must outlive it.
  std::unique_ptr<program::Numbers> known() const;

 private:
  struct StepRow {
    std::int64_t number;
  };
  struct EvaluationRow {
    std::int64_t step;
  };
  using Call =
      std::variant<const program::LoadBatch*, const program::Operation*, const program::Copy*,
                   const program::View*, const program::Collective*, StepRow, EvaluationRow>;
  template <typename Row>
  struct Rows {
    std::vector<Row> noted;  // with their times, as the trace has them
    std::size_t written = 0;
    std::unordered_map<std::int64_t, Row> computed;  // by step; without times
  };
  class Known;

  // The GPU whose numbers a call is about.
  int gpu_of(const Call& call) const;
  void order_by_ranks();

  const program::Program& program_;
  std::unique_ptr<program::Numbers> numbers_;
  std::vector<Call> calls_;
  bool ordered_ = false;
  std::size_t computed_ = 0;
  Rows<trace::TrainingStep> steps_;
  Rows<trace::Evaluation> evaluations_;
  bool ended_run_ = false;
};

}  // namespace trainscope::host
