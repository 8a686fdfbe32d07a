#include "cuda/step_log.h"

#include <algorithm>
#include <bit>

#include "host/float_types.h"

namespace trainscope::cuda {
namespace {

using program::MemoryKind;

bool computes(const program::Operation& operation, program::Index buffer) {
  return (!operation.writes.empty() && operation.writes.front() == buffer) ||
         std::any_of(operation.parts.begin(), operation.parts.end(),
                     [&](const program::Operation& part) { return computes(part, buffer); });
}

// Micro-batches have a loss each.
program::Index computed_loss(const program::Program& program, const program::Operation& operation) {
  if (computes(operation, program.gauges.loss)) return program.gauges.loss;
  for (const program::Index loss : program.gauges.more_losses)
    if (computes(operation, loss)) return loss;
  return program::kNoIndex;
}

// A number of a narrow type is the first two bytes of its place.
double value_of(float place, program::ElementType type) {
  const auto half = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(place) & 0xffffU);
  if (type == program::ElementType::kFp16) return host::to_float(host::Float16{half});
  if (type == program::ElementType::kBf16) return host::to_float(host::Bfloat16{half});
  return place;
}

// Numbers that a run may put aside: one for each loss and change of the scale, a few for each row.
std::int64_t numbers_of(const program::Program& program) {
  constexpr std::int64_t kOfARow = 4;
  std::int64_t numbers = 0;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands) {
      const auto& action = command.action;
      if (std::holds_alternative<program::Launch>(action)) {
        const auto& operation = program.operations[std::get<program::Launch>(action).operation];
        const bool updates = std::holds_alternative<program::UpdateScale>(operation.function);
        numbers += updates || computed_loss(program, operation) != program::kNoIndex ? 1 : 0;
      }
      if (std::holds_alternative<program::GraphLaunch>(action)) numbers += 2;
      if (std::holds_alternative<program::LogStep>(action) ||
          std::holds_alternative<program::LogEvaluation>(action))
        numbers += kOfARow;
    }
  return numbers;
}

}  // namespace

StepLog::StepLog(const program::Program& program, DeviceCalls& device, const Buffers& buffers,
                 StreamHandle first)
    : program_(program), device_(device), buffers_(buffers), first_(first) {
  room_ = numbers_of(program);
  if (room_ > 0)
    log_ = static_cast<float*>(
        device.allocate(room_ * static_cast<std::int64_t>(sizeof(float)), first));
}

StepLog::~StepLog() {
  if (!log_) return;
  try {
    device_.release(log_, first_);
  } catch (const Error&) {  // the device is lost, and its memory with it
  }
}

program::Index StepLog::loss_of(const program::Operation& operation) const {
  return room_ > 0 ? computed_loss(program_, operation) : program::kNoIndex;
}

bool StepLog::changes_scale(const program::Operation& operation) const {
  return room_ > 0 && std::holds_alternative<program::UpdateScale>(operation.function) &&
         operation.writes.front() == program_.gauges.scale;
}

std::int64_t StepLog::put_aside(program::Index buffer, StreamHandle stream, CallId call) {
  if (buffer == program::kNoIndex || used_ == room_) return kNone;
  const void* from = buffers_.at(buffer);
  if (!from) return kNone;
  during_call(device_, call, stream, [&] {
    device_.copy({from, log_ + used_, program::size_of(program_.buffers[buffer].type),
                  MemoryKind::kDevice, MemoryKind::kDevice},
                 stream);
  });
  return used_++;
}

void StepLog::note_loss(program::Index loss, StreamHandle stream, CallId call) {
  const std::lock_guard held(mutex_);
  step_.losses.push_back(put_aside(loss, stream, call));
}

void StepLog::note_used_scale(StreamHandle stream, CallId call) {
  const std::lock_guard held(mutex_);
  step_.used_scale = put_aside(program_.gauges.scale, stream, call);
}

void StepLog::end_step(std::int64_t number, StreamHandle stream, CallId call) {
  const std::lock_guard held(mutex_);
  if (room_ == 0) return;
  step_.number = number;
  step_.call = call;
  step_.scale = put_aside(program_.gauges.scale, stream, call);
  step_.found_inf = put_aside(program_.gauges.found_inf, stream, call);
  step_.norm = put_aside(program_.gauges.gradient_norm, stream, call);
  steps_.push_back(std::move(step_));
  step_ = {};
}

void StepLog::note_evaluation(std::int64_t step, StreamHandle stream, CallId call) {
  const std::lock_guard held(mutex_);
  if (room_ == 0) return;
  evaluations_.push_back({step, put_aside(program_.gauges.correct, stream, call), call});
}

trace::TrainingStep StepLog::row_of(const Step& step, const std::vector<float>& log) const {
  const auto number = [&](std::int64_t place, program::Index gauge) {
    return place == kNone
               ? trace::kNoNumber
               : value_of(log[static_cast<std::size_t>(place)], program_.buffers[gauge].type);
  };
  const program::Gauges& gauges = program_.gauges;
  trace::TrainingStep row;
  row.step = step.number;
  double sum = 0;
  for (const std::int64_t place : step.losses) sum += number(place, gauges.loss);
  row.has_loss = !step.losses.empty();
  if (row.has_loss) row.loss = sum / static_cast<double>(step.losses.size());
  row.loss_scale = number(step.scale, gauges.scale);
  row.used_scale = number(step.used_scale, gauges.scale);
  row.gradient_norm = number(step.norm, gauges.gradient_norm);
  row.skipped = step.found_inf != kNone && number(step.found_inf, gauges.found_inf) != 0;
  return row;
}

void StepLog::write(trace::Trace& trace, const std::function<Nanos(CallId)>& done) {
  if (used_ == 0) return;
  std::vector<float> log(static_cast<std::size_t>(used_));
  device_.copy({log_, log.data(), used_ * static_cast<std::int64_t>(sizeof(float)),
                MemoryKind::kDevice, MemoryKind::kPageable},
               first_);
  device_.synchronise_stream(first_);
  for (const Step& step : steps_) {
    trace::TrainingStep row = row_of(step, log);
    row.time = done(step.call);
    trace.add_step(row);
  }
  for (const Evaluation& one : evaluations_) {
    trace::Evaluation row;
    row.step = one.step;
    row.time = done(one.call);
    row.samples = program_.tested_samples;
    if (one.correct != kNone)
      row.correct = static_cast<std::int64_t>(log[static_cast<std::size_t>(one.correct)]);
    trace.add_evaluation(row);
  }
}

}  // namespace trainscope::cuda
