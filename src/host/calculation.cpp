#include "host/calculation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/accuracy.h"
#include "host/clip_grad_norm.h"
#include "host/elementwise.h"
#include "host/log_softmax.h"
#include "host/loss_scale.h"
#include "host/nll_loss.h"
#include "host/rounded_steps.h"
#include "host/shards.h"
#include "host/shared_loss.h"
#include "host/unscale.h"

namespace trainscope::host {
namespace {

using program::Part;

MatrixShape matrix(std::int64_t rows, std::int64_t columns) {
  return {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)};
}

}  // namespace

void Calculation::operator()(const program::LogSoftmax& f) {
  const MatrixShape shape = matrix(f.rows, f.classes);
  return f.part == Part::kForward ? log_softmax_forward(shape, in(0), out(0), workers_)
                                  : log_softmax_backward(shape, in(1), in(0), out(0), workers_);
}

void Calculation::operator()(const program::NllLoss& f) {
  const MatrixShape shape = matrix(f.rows, f.classes);
  if (f.part == Part::kForward) {
    nll_loss_forward(shape, in(0), whole(1), out(0));
  } else {
    nll_loss_backward(shape, whole(1), in(0).front(), out(0));
  }
}

void Calculation::operator()(const program::SharedLoss& f) {
  using Step = program::LossStep;
  const MatrixShape shape = matrix(f.rows, f.classes);
  const std::int64_t begin = own_rank(f.rank, f.ranks) * f.classes;
  const auto count = std::clamp<std::int64_t>(f.all - begin, 0, f.classes);
  const OwnClasses own{static_cast<std::size_t>(begin), static_cast<std::size_t>(count)};
  switch (f.step) {
    case Step::kMaximum:
      return row_maxima(shape, own, in(0), out(0), workers_);
    case Step::kShift:
      return shift_rows(shape, in(0), in(1), out(0), workers_);
    case Step::kExponential:
      return exponentials(shape, own, in(0), out(0), workers_);
    case Step::kSum:
      return row_sums(shape, own, in(0), out(0), workers_);
    case Step::kLogarithm:
      return logarithms(in(0), out(0));
    case Step::kPick:
      return pick_targets(shape, own, in(0), whole(1), out(0));
    case Step::kMark:
      return mark_targets(shape, own, whole(0), out(0));
  }
}

std::int64_t Calculation::own_rank(std::int64_t rank, std::int64_t ranks) const {
  return (rank + interpreter_.rank_) % ranks;
}

void Calculation::operator()(const program::Add&) {
  add(in(0), in(1), out(0), workers_);
}

void Calculation::operator()(const program::Product&) {
  product(in(0), in(1), out(0), workers_);
}

void Calculation::operator()(const program::Accumulate& f) {
  const Values x = in(0).subspan(static_cast<std::size_t>(f.from), out(0).size());
  f.maximum ? larger(x, out(0), out(0), workers_) : add(x, out(0), out(0), workers_);
}

void Calculation::operator()(const program::CopyPart& f) {
  const auto elements = static_cast<std::size_t>(f.elements);
  scale(in(0).subspan(static_cast<std::size_t>(f.from), elements), static_cast<float>(f.factor),
        out(0).subspan(static_cast<std::size_t>(f.to), elements), workers_);
}

void Calculation::operator()(const program::CopyRuns& f) {
  const Values x = in(0);
  auto to = out(0).begin();
  const int rank = interpreter_.rank_ % interpreter_.program_.gpus_of_batch;
  const std::int64_t first = f.first + f.rank_step * rank, runs = f.outer * f.inner;
  const std::int64_t times = std::ssize(out(0)) / (runs * f.run);
  for (std::int64_t t = 0; t < times; ++t)
    for (std::int64_t o = 0; o < f.outer; ++o)
      for (std::int64_t i = 0; i < f.inner; ++i) {
        const std::int64_t place = first + t * runs + o * f.outer_step + i * f.inner_step;
        to = std::copy_n(x.begin() + place * f.run, f.run, to);
      }
}

void Calculation::operator()(const program::Concatenate&) {
  auto to = out(0).begin();
  for (std::size_t i = 0; i < inputs(); ++i) to = std::copy(in(i).begin(), in(i).end(), to);
}

void Calculation::operator()(const program::ShardsApart& f) {
  std::vector<Results> tensors;
  for (std::size_t i = 0; i < outputs(); ++i) tensors.push_back(out(i));
  shards_apart(in(0), static_cast<std::size_t>(f.ranks), tensors);
}

void Calculation::operator()(const program::ShardsTogether& f) {
  std::vector<Values> tensors;
  for (std::size_t i = 0; i < inputs(); ++i) tensors.push_back(in(i));
  shards_together(tensors, static_cast<std::size_t>(f.ranks), static_cast<float>(f.factor), out(0));
}

void Calculation::operator()(const program::Multiply& f) {
  const float factor = static_cast<float>(f.factor) * (inputs() > 1 ? in(1).front() : 1.0F);
  const Values x = in(0);
  const Results y = out(0);
  if (x.size() == y.size()) return scale(x, factor, y, workers_);
  if (x.size() == 1) return fill(y, factor * x.front(), workers_);
  y.front() = factor * static_cast<float>(std::accumulate(x.begin(), x.end(), 0.0));
}

void Calculation::operator()(const program::Power& f) {
  power(in(0), static_cast<float>(f.exponent), out(0), workers_);
}

// A fill with an infinity stands for one gradient that overflows.
void Calculation::operator()(const program::Fill& f) {
  const auto most = static_cast<std::size_t>(f.elements);
  for (std::size_t i = 0; i < outputs(); ++i)
    fill(out(i).first(std::min(out(i).size(), most)), static_cast<float>(f.value), workers_);
}

// Rounded as any result is. Whole numbers are copied.
void Calculation::operator()(const program::Cast&) {
  const Values x = in(0);
  std::copy(x.begin(), x.end(), out(0).begin());
  const auto tokens = whole(0);
  std::copy(tokens.begin(), tokens.end(), interpreter_.stores_[operation_.writes[0]].whole.begin());
}

void Calculation::operator()(const program::CountCorrect& f) {
  out(0).front() += static_cast<float>(correct_rows(matrix(f.rows, f.classes), in(0), whole(1)));
}

void Calculation::operator()(const program::GradientNorm&) {
  double squares = 0;
  for (std::size_t i = 0; i < inputs(); ++i) squares += squared_norm(i);
  out(0).front() = static_cast<float>(std::sqrt(squares));
}

void Calculation::operator()(const program::GradientNorms&) {
  for (std::size_t i = 0; i < inputs(); ++i)
    out(0)[i] = static_cast<float>(std::sqrt(squared_norm(i)));
}

double Calculation::squared_norm(std::size_t i) const {
  const NumberFormat format = format_written();
  return format == NumberFormat::kFloat32 ? sum_of_squares(in(i), workers_)
                                          : rounded_sum_of_squares(format, in(i), workers_);
}

void Calculation::operator()(const program::ClipGradients& f) {
  const NumberFormat format = format_written();
  const float factor = format == NumberFormat::kFloat32
                           ? clip_factor(in(0).front(), f.max_norm)
                           : rounded_clip_factor(format, in(0).front(), f.max_norm);
  for (std::size_t i = 0; i < outputs(); ++i) scale(out(i), factor, out(i), workers_);
}

NumberFormat Calculation::format_written() const {
  return format_of(interpreter_.program_.buffers[operation_.writes.front()].type);
}

Values Calculation::unscaled(std::size_t i, bool scaled) const {
  const Values gradient = in(i);
  if (!scaled) return gradient;
  const float scale = in(inputs() - 1).front();
  interpreter_.workspace_used_ = 0;  // of the parameter before
  const Results room = interpreter_.room(gradient.size());
  for (std::size_t k = 0; k < room.size(); ++k) room[k] = gradient[k] / scale;
  return room;
}

void Calculation::operator()(const program::SgdUpdate& f) {
  Sgd options;
  options.lr = f.lr;
  options.momentum = f.momentum;
  options.weight_decay = f.weight_decay;
  const std::size_t parameters = inputs() - (f.scaled ? 1 : 0);
  const NumberFormat format = f.fused ? NumberFormat::kFloat32 : format_written();
  // Velocities begin at 0, of which the first step makes what PyTorch's first step has.
  for (std::size_t i = 0; i < parameters; ++i) {
    const Values gradient = unscaled(i, f.scaled);
    const Results velocity = f.momentum != 0 ? out(parameters + i) : Results{};
    if (format == NumberFormat::kFloat32)
      sgd_step(options, false, gradient, out(i), velocity, workers_);
    else
      rounded_sgd_step(format, options, false, gradient, out(i), velocity, workers_);
  }
}

void Calculation::operator()(const program::AdamUpdate& f) {
  const host::Adam options{f.lr, f.beta1, f.beta2, f.eps, f.weight_decay, f.decoupled};
  const std::size_t parameters = inputs() - (f.scaled ? 1 : 0);
  float& steps = out(3 * parameters).front();
  steps += 1;
  const auto step = static_cast<std::int64_t>(steps);
  const NumberFormat format = f.fused ? NumberFormat::kFloat32 : format_written();
  for (std::size_t i = 0; i < parameters; ++i) {
    const Values gradient = unscaled(i, f.scaled);
    const AdamMoments moments{out(parameters + i), out(2 * parameters + i)};
    if (format == NumberFormat::kFloat32)
      adam_step(options, step, gradient, out(i), moments, workers_);
    else
      rounded_adam_step(format, options, step, gradient, out(i), moments, workers_);
  }
}

void Calculation::operator()(const program::InvertScale&) {
  out(0).front() = inverse_scale(in(0).front());
}

void Calculation::operator()(const program::Unscale& f) {
  const std::size_t found = outputs() - 1;
  const float inverse = f.only_look ? 1.0F : in(0).front();
  for (std::size_t i = 0; i < found; ++i)
    if (unscale(out(i), inverse, workers_)) out(found).front() = 1;
}

void Calculation::operator()(const program::UpdateScale& f) {
  LossScale state{out(0).front(), static_cast<std::int32_t>(out(1).front())};
  update(state, {f.growth_factor, f.backoff_factor, f.growth_interval}, in(0).front() != 0);
  out(0).front() = state.scale;
  out(1).front() = static_cast<float>(state.clean_steps);
}

}  // namespace trainscope::host
