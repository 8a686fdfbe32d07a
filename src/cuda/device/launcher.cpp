#include "cuda/device/launcher.h"

#include <algorithm>
#include <span>
#include <vector>

#include "cuda/device/shapes.h"
#include "kernels/accuracy.h"
#include "kernels/bandwidth.h"
#include "kernels/copy_runs.h"
#include "kernels/elementwise.h"
#include "kernels/gradient_norm.h"
#include "kernels/log_softmax.h"
#include "kernels/loss_scale.h"
#include "kernels/nll_loss.h"
#include "kernels/number.h"
#include "kernels/optimizers.h"
#include "kernels/reductions.h"
#include "kernels/shared_loss.h"
#include "program/shards.h"

namespace trainscope::cuda {
namespace {

using program::Part;

// Of its loss scale a parameter's gradient is rid in the update itself. An update that is skipped
// on the device is told so by the predicate.
kernels::ScaledStep scaled_step(const KernelCall& call, const float* scale) {
  return {scale, call.predicate};
}

}  // namespace

void Launcher::operator()(const program::LogSoftmax& f) {
  const kernels::Matrix shape = matrix(f.rows, f.classes);
  float* result = operands_.out<float>(0);
  if (f.part == Part::kForward)
    return kernels::log_softmax_forward(stream_, shape, operands_.in<float>(0), result);
  kernels::log_softmax_backward(stream_, shape, operands_.in<float>(1), operands_.in<float>(0),
                                result);
}

void Launcher::operator()(const program::NllLoss& f) {
  const kernels::Matrix shape = matrix(f.rows, f.classes);
  float* result = operands_.out<float>(0);
  float* workspace = operands_.room(kernels::nll_loss_workspace(shape.rows));
  if (f.part == Part::kForward)
    return kernels::nll_loss_forward(stream_, shape, operands_.in<float>(0), operands_.whole(1),
                                     workspace, result);
  kernels::nll_loss_backward(stream_, shape, operands_.whole(1), operands_.in<float>(0), workspace,
                             result);
}

void Launcher::operator()(const program::SharedLoss& f) {
  using Step = program::LossStep;
  const kernels::Matrix shape = matrix(f.rows, f.classes);
  const std::int64_t begin = f.rank * f.classes;
  const kernels::OwnClasses own{size(begin),
                                size(std::clamp<std::int64_t>(f.all - begin, 0, f.classes))};
  float* result = operands_.out<float>(0);
  if (f.step == Step::kMark)
    return kernels::mark_targets(stream_, shape, own, operands_.whole(0), result);
  const float* x = operands_.in<float>(0);
  switch (f.step) {
    case Step::kMaximum:
      return kernels::row_maxima(stream_, shape, own, x, result);
    case Step::kShift:
      return kernels::shift_rows(stream_, shape, x, operands_.in<float>(1), result);
    case Step::kExponential:
      return kernels::exponentials(stream_, shape, own, x, result);
    case Step::kSum:
      return kernels::row_sums(stream_, shape, own, x, result);
    case Step::kLogarithm:
      return kernels::logarithms(stream_, x, shape.rows, result);
    case Step::kPick:
      return kernels::pick_targets(stream_, shape, own, x, operands_.whole(1), result);
    case Step::kMark:
      break;
  }
}

void Launcher::operator()(const program::Add&) {
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    kernels::add(stream_, operands_.in<T>(0), operands_.in<T>(1), operands_.out<T>(0),
                 operands_.size_of_write(0));
  });
}

void Launcher::operator()(const program::Product&) {
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    kernels::product(stream_, operands_.in<T>(0), operands_.in<T>(1), operands_.out<T>(0),
                     operands_.size_of_write(0));
  });
}

void Launcher::operator()(const program::Accumulate& f) {
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    T* sum = operands_.out<T>(0);
    const T* x = operands_.in<T>(0) + f.from;
    const std::size_t count = operands_.size_of_write(0);
    f.maximum ? kernels::larger(stream_, x, static_cast<const T*>(sum), sum, count)
              : kernels::add(stream_, x, static_cast<const T*>(sum), sum, count);
  });
}

void Launcher::operator()(const program::CopyPart& f) {
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    kernels::scale(stream_, operands_.in<T>(0) + f.from, static_cast<float>(f.factor),
                   operands_.in_out<T>(0) + f.to, static_cast<std::size_t>(f.elements));
  });
}

void Launcher::operator()(const program::CopyRuns& f) {
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    kernels::Runs runs{size(f.run),        size(f.outer),      size(f.inner),
                       size(f.outer_step), size(f.inner_step), size(f.first)};
    runs.times = operands_.size_of_write(0) / runs.size();
    kernels::copy_runs(stream_, runs, operands_.in<T>(0), operands_.out<T>(0));
  });
}

void Launcher::operator()(const program::Concatenate&) {
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    T* to = operands_.out<T>(0);
    for (std::size_t i = 0; i < operands_.reads(); ++i) {
      kernels::scale(stream_, operands_.in<T>(i), 1.0F, to, operands_.size_of_read(i));
      to += operands_.size_of_read(i);
    }
  });
}

// A copy for each part of each tensor.
void Launcher::operator()(const program::ShardsApart& f) {
  with_type(operands_.read(0).type, [&](auto type) {
    using T = decltype(type);
    const T* parts = operands_.in<T>(0);
    std::vector<T*> tensors;
    for (std::size_t i = 0; i < operands_.writes(); ++i) tensors.push_back(operands_.in_out<T>(i));
    program::for_each_shard(
        size(f.ranks), operands_.writes(),
        [&](std::size_t i) { return operands_.size_of_write(i); },
        [&](std::size_t i, std::size_t first, std::size_t count, std::size_t place) {
          if (count == 0) return;
          kernels::scale(stream_, parts + place, 1.0F, tensors[i] + first, count);
        });
  });
}

void Launcher::operator()(const program::ShardsTogether& f) {
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    T* parts = operands_.out<T>(0);
    std::vector<const T*> tensors;  // each is cast once, into room that is counted once
    for (std::size_t i = 0; i < operands_.reads(); ++i) tensors.push_back(operands_.in<T>(i));
    kernels::fill(stream_, parts, 0.0F, operands_.size_of_write(0));
    program::for_each_shard(
        size(f.ranks), operands_.reads(), [&](std::size_t i) { return operands_.size_of_read(i); },
        [&](std::size_t i, std::size_t first, std::size_t count, std::size_t place) {
          if (count == 0) return;
          kernels::scale(stream_, tensors[i] + first, static_cast<float>(f.factor), parts + place,
                         count);
        });
  });
}

void Launcher::operator()(const program::Multiply& f) {
  const auto factor = static_cast<float>(f.factor);
  const std::size_t count = operands_.size_of_write(0), given = operands_.size_of_read(0);
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    const T* x = operands_.in<T>(0);
    if (count == 1 && given > 1) {
      float* total = operands_.out<float>(0);
      kernels::sum(stream_, x, given, operands_.room(kernels::sum_workspace(given)), total);
      return kernels::scale(stream_, static_cast<const float*>(total), factor, total, 1);
    }
    T* y = operands_.out<T>(0);
    if (count > 1 && given == 1) {
      kernels::fill(stream_, y, 1.0F, count);
      return kernels::scale_by(stream_, static_cast<const T*>(y), factor, operands_.in<float>(0), y,
                               count);
    }
    if (operands_.reads() == 1) return kernels::scale(stream_, x, factor, y, count);
    kernels::scale_by(stream_, x, factor, operands_.in<float>(1), y, count);
  });
}

void Launcher::operator()(const program::Power& f) {
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    kernels::power(stream_, operands_.in<T>(0), static_cast<float>(f.exponent), operands_.out<T>(0),
                   operands_.size_of_write(0));
  });
}

void Launcher::operator()(const program::Fill& f) {
  for_each_type([&](auto type) {
    using T = decltype(type);
    auto tensors = operands_.written<T>(operands_.writes());
    for (auto& one : tensors) one.count = std::min(one.count, size(f.elements));
    kernels::fill<T>(stream_, tensors, static_cast<float>(f.value));
  });
}

void Launcher::operator()(const program::Cast&) {
  if (operands_.write(0).type == program::ElementType::kInt64) {  // from such: their bits
    constexpr std::size_t kFloats = sizeof(std::int64_t) / sizeof(float);
    return kernels::copy_values(stream_, static_cast<const float*>(operands_.read(0).memory),
                                static_cast<float*>(operands_.write(0).memory),
                                kFloats * operands_.size_of_write(0));
  }
  with_type(operands_.write(0).type, [&](auto type) {
    using To = decltype(type);
    cast_to(stream_, operands_.read(0), static_cast<To*>(operands_.write(0).memory));
  });
}

void Launcher::operator()(const program::CountCorrect& f) {
  const kernels::Matrix shape = matrix(f.rows, f.classes);
  kernels::count_correct(stream_, shape, operands_.in<float>(0), operands_.whole(1),
                         operands_.room(kernels::count_correct_workspace(shape.rows)),
                         operands_.in_out<float>(0));
}

template <typename Body>
void Launcher::with_gradients(const Body& body) {
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    std::vector<kernels::Tensor<const T>> gradients;
    std::size_t room = 0;
    for (std::size_t i = 0; i < operands_.reads(); ++i) {
      gradients.push_back({operands_.in<T>(i), operands_.size_of_read(i)});
      room += kernels::squares_workspace(gradients.back().count);
    }
    body(std::span<const kernels::Tensor<const T>>(gradients), operands_.room(room));
  });
}

void Launcher::operator()(const program::GradientNorm&) {
  with_gradients([&](const auto& gradients, float* room) {
    kernels::gradient_norm(stream_, gradients, room, operands_.out<float>(0));
  });
}

void Launcher::operator()(const program::GradientNorms&) {
  with_gradients([&](const auto& gradients, float* room) {
    kernels::gradient_norms(stream_, gradients, room, operands_.out<float>(0));
  });
}

void Launcher::operator()(const program::ClipGradients& f) {
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    std::vector<kernels::Tensor<T>> gradients;
    for (std::size_t i = 0; i < operands_.writes(); ++i)
      gradients.push_back({operands_.in_out<T>(i), operands_.size_of_write(i)});
    kernels::clip_gradients<T>(stream_, operands_.in<float>(0), static_cast<float>(f.max_norm),
                               gradients);
  });
}

void Launcher::operator()(const program::SgdUpdate& f) {
  static_assert(sizeof(kernels::SgdState) <= kStateBytes);
  kernels::Sgd options;
  options.lr = static_cast<float>(f.lr);
  options.momentum = static_cast<float>(f.momentum);
  options.weight_decay = static_cast<float>(f.weight_decay);
  options.rounds = !f.fused;
  const std::size_t count = operands_.reads() - (f.scaled ? 1 : 0);
  const auto scaled = scaled_step(call_, f.scaled ? operands_.in<float>(count) : nullptr);
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    std::vector<kernels::SgdArrays<T, T>> parameters(count);
    for (std::size_t i = 0; i < count; ++i)
      parameters[i] = {operands_.in<T>(i), operands_.in_out<T>(i),
                       f.momentum != 0 ? operands_.in_out<T>(count + i) : nullptr, nullptr,
                       operands_.size_of_write(i)};
    kernels::sgd_step<T, T>(stream_, options, scaled, static_cast<kernels::SgdState*>(call_.state),
                            parameters);
  });
}

void Launcher::operator()(const program::AdamUpdate& f) {
  static_assert(sizeof(kernels::AdamState) <= kStateBytes);
  kernels::Adam options{f.lr, f.beta1, f.beta2, f.eps, f.weight_decay, f.decoupled};
  const std::size_t count = operands_.reads() - (f.scaled ? 1 : 0);
  const auto scaled = scaled_step(call_, f.scaled ? operands_.in<float>(count) : nullptr);
  with_type(operands_.write(0).type, [&](auto type) {
    using T = decltype(type);
    options.rounds = !f.fused && !std::is_same_v<T, float>;
    std::vector<kernels::AdamArrays<T, T>> parameters(count);
    for (std::size_t i = 0; i < count; ++i)
      parameters[i] = {operands_.in<T>(i),
                       operands_.in_out<T>(i),
                       operands_.in_out<T>(count + i),
                       operands_.in_out<T>(2 * count + i),
                       nullptr,
                       operands_.size_of_write(i)};
    kernels::adam_step<T, T>(stream_, options, scaled,
                             static_cast<kernels::AdamState*>(call_.state), parameters);
  });
}

void Launcher::operator()(const program::InvertScale&) {
  kernels::invert(stream_, operands_.in<float>(0), operands_.out<float>(0));
}

void Launcher::operator()(const program::Unscale& f) {
  const std::size_t gradients = operands_.writes() - 1;
  float* found_inf = operands_.in_out<float>(gradients);
  const float* inverse = f.only_look ? nullptr : operands_.in<float>(0);
  for_each_type([&](auto type) {
    using T = decltype(type);
    kernels::unscale<T>(stream_, operands_.written<T>(gradients), inverse, found_inf);
  });
}

// The growth tracker is a float in a program, and whole in the kernel: it has a place in the room
// of this call alone, so it is kept in the state.
void Launcher::operator()(const program::UpdateScale& f) {
  const kernels::LossScaleRule rule{f.growth_factor, f.backoff_factor,
                                    static_cast<std::int32_t>(f.growth_interval)};
  kernels::update_loss_scale(stream_, rule, operands_.in<float>(0), operands_.in_out<float>(0),
                             static_cast<std::int32_t*>(call_.state));
}

}  // namespace trainscope::cuda
