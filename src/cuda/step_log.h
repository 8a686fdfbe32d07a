// How training goes, kept without waiting for the device: after the work that computes a number, a
// copy of its few bytes within device memory puts it aside; all are read at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "cuda/buffers.h"
#include "cuda/device_calls.h"
#include "trace/trace.h"

namespace trainscope::cuda {

class StepLog {
 public:
  StepLog(const program::Program& program, DeviceCalls& device, const Buffers& buffers,
          StreamHandle first);
  ~StepLog();
  StepLog(const StepLog&) = delete;

  // The loss that an operation computes, of several ranks the first one's that has one; kNoIndex:
  // none. And whether one is about to change the loss scale.
  program::Index loss_of(const program::Operation& operation) const;
  bool changes_scale(const program::Operation& operation) const;

  // Each puts a number aside on the stream, as call `call`. After it, the loss of a batch; before
  // it, the scale of a step.
  void note_loss(program::Index loss, StreamHandle stream, CallId call);
  void note_used_scale(StreamHandle stream, CallId call);
  // At LogStep and LogEvaluation.
  void end_step(std::int64_t step, StreamHandle stream, CallId call);
  void note_evaluation(std::int64_t step, StreamHandle stream, CallId call);

  // Reads all and writes them into the trace; `done` tells when the work of a call was, on the
  // trace's clock. Once the device is idle.
  void write(trace::Trace& trace, const std::function<Nanos(CallId)>& done);

 private:
  static constexpr std::int64_t kNone = -1;
  struct Step {
    std::int64_t number = 0;
    std::vector<std::int64_t> losses;  // places in the log
    std::int64_t scale = kNone;
    std::int64_t used_scale = kNone;
    std::int64_t found_inf = kNone;
    std::int64_t norm = kNone;
    CallId call = 0;
  };
  struct Evaluation {
    std::int64_t step = 0;
    std::int64_t correct = kNone;
    CallId call = 0;
  };

  // The place that the buffer's first number goes to; kNone where there is no such buffer.
  std::int64_t put_aside(program::Index buffer, StreamHandle stream, CallId call);
  trace::TrainingStep row_of(const Step& step, const std::vector<float>& log) const;

  const program::Program& program_;
  DeviceCalls& device_;
  const Buffers& buffers_;
  StreamHandle first_;
  std::mutex mutex_;
  float* log_ = nullptr;  // in device memory
  std::int64_t room_ = 0;
  std::int64_t used_ = 0;
  Step step_;  // under way
  std::vector<Step> steps_;
  std::vector<Evaluation> evaluations_;
};

}  // namespace trainscope::cuda
