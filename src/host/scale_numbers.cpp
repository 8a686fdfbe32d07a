#include "host/scale_numbers.h"

#include <cmath>

#include "host/loss_scale.h"
#include "host/unscale.h"

namespace trainscope::host {

ScaleNumbers::ScaleNumbers(const program::Program& program) : program_(program) {
  for (const program::Buffer& buffer : program.buffers) {
    const bool constant = buffer.initial.kind == program::Initial::Kind::kConstant;
    values_.push_back(constant ? static_cast<float>(buffer.initial.value) : 0.0F);
  }
}

void ScaleNumbers::run(const program::Operation& op) {
  using namespace program;
  if (const auto* fill = std::get_if<Fill>(&op.function)) {
    for (const Index buffer : op.writes) values_[buffer] = static_cast<float>(fill->value);
  } else if (std::holds_alternative<InvertScale>(op.function)) {
    values_[op.writes[0]] = inverse_scale(values_[op.reads[0]]);
  } else if (std::holds_alternative<Unscale>(op.function)) {
    for (std::size_t i = 0; i + 1 < op.writes.size(); ++i)
      if (!std::isfinite(values_[op.writes[i]])) values_[op.writes.back()] = 1;
  } else if (const auto* rule = std::get_if<UpdateScale>(&op.function)) {
    used_scale_ = values_[op.writes[0]];
    LossScale state{values_[op.writes[0]], static_cast<std::int32_t>(values_[op.writes[1]])};
    update(state, {rule->growth_factor, rule->backoff_factor, rule->growth_interval},
           values_[op.reads[0]] != 0);
    values_[op.writes[0]] = state.scale;
    values_[op.writes[1]] = static_cast<float>(state.clean_steps);
  } else if (!std::holds_alternative<std::monostate>(op.function)) {
    for (const Index buffer : op.writes) values_[buffer] = 0;  // whatever it is, it is finite
  }
}

void ScaleNumbers::copy(const program::Copy& copy) {
  values_[copy.to] = values_[copy.from];
}

trace::TrainingStep ScaleNumbers::step(std::int64_t number) {
  trace::TrainingStep step;
  step.step = number;
  const program::Gauges& gauges = program_.gauges;
  if (gauges.scale == program::kNoIndex) return step;
  step.loss_scale = values_[gauges.scale];
  step.used_scale = used_scale_;
  step.skipped = values_[gauges.found_inf] != 0;
  return step;
}

trace::Evaluation ScaleNumbers::evaluation(std::int64_t step) {
  return {.step = step};
}

}  // namespace trainscope::host
