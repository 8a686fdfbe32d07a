// The numbers of a run, as an executor in virtual time needs them: something beside it computes
// what the device would have computed.
//
// Calls come in the order in which the program issues the work, which for a program without races
// is the order in which a device carries it out.
#pragma once

#include <cmath>

#include "program/program.h"
#include "trace/trace.h"

namespace trainscope::program {

class Numbers {
 public:
  virtual ~Numbers() = default;

  virtual void load(const LoadBatch& load) = 0;
  virtual void run(const Operation& operation) = 0;
  virtual void copy(const Copy& copy) = 0;
  virtual void view(const View&) {}
  // A rank's part of a collective. Those of its other ranks, where the program has them, come next.
  virtual void collective(const Collective&) {}
  // The first number of a buffer.
  virtual double value(Index buffer) const = 0;
  // What LogStep and LogEvaluation keep; the executor adds the time.
  virtual trace::TrainingStep step(std::int64_t number) = 0;
  virtual trace::Evaluation evaluation(std::int64_t step) = 0;
  // Of those, the next that the device has computed, with its time: it goes into the trace.
  virtual void keep(const trace::TrainingStep& row, trace::Trace& trace) { trace.add_step(row); }
  virtual void keep(const trace::Evaluation& row, trace::Trace& trace) {
    trace.add_evaluation(row);
  }
};

// The run diverges with this step: from here on every number would be NaN.
inline bool ends_run(const trace::TrainingStep& row) {
  return row.has_loss && !std::isfinite(row.loss) && !row.skipped;
}

}  // namespace trainscope::program
