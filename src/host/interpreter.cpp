#include "host/interpreter.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "host/calculation.h"
#include "host/cast.h"

namespace trainscope::host {
namespace {

// Users of one seed are kept apart by the stream of random words that they draw from.
constexpr std::uint64_t kInitialStream = std::uint64_t{1} << 32;

NumberFormat format_of(program::ElementType type) {
  switch (type) {
    case program::ElementType::kFp16:
      return NumberFormat::kFloat16;
    case program::ElementType::kBf16:
      return NumberFormat::kBfloat16;
    default:
      return NumberFormat::kFloat32;
  }
}

// In (0, 1]: a logarithm of it is finite.
double open_unit(std::uint32_t word) {
  return (static_cast<double>(word) + 1) * 0x1p-32;
}

// Box and Muller, doi:10.1214/aoms/1177706645.
double normal(std::uint32_t radius, std::uint32_t angle) {
  constexpr double kTurn = 6.283185307179586;
  return std::sqrt(-2 * std::log(open_unit(radius))) * std::cos(kTurn * open_unit(angle));
}

void fill(const program::Initial& initial, std::uint64_t seed, std::uint64_t stream,
          Results values) {
  using Kind = program::Initial::Kind;
  const auto size = static_cast<float>(initial.value);
  if (initial.kind == Kind::kConstant) return std::fill(values.begin(), values.end(), size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const PhiloxCounter words = random_block(seed, i / 2, stream);
    const std::uint32_t first = words.words[i % 2 * 2], second = words.words[i % 2 * 2 + 1];
    values[i] = initial.kind == Kind::kUniform
                    ? (2 * unit_float(first) - 1) * size
                    : static_cast<float>(normal(first, second) * initial.value);
  }
}

std::unique_ptr<data::Dataset> open(const program::DataSource& source, data::Split split) {
  return data::open_dataset(
      {source.name, source.path, split, static_cast<std::uint64_t>(source.seed), source.tokens});
}

}  // namespace

// ---- Batches -----------------------------------------------------------------------------------

BatchSource::BatchSource(const program::DataSource& source)
    : train_(open(source, data::Split::kTrain)),
      test_(open(source, data::Split::kTest)),
      epoch_size_(train_->size() / source.batch_size * source.batch_size),
      shuffle_(source.shuffle),
      order_(train_->size(), static_cast<std::uint64_t>(source.seed)) {
  if (epoch_size_ == 0)
    throw InputError("batch_size = " + std::to_string(source.batch_size) + " is more than the " +
                     std::to_string(train_->size()) + " samples of " + source.name +
                     "; make it smaller");
}

std::int64_t BatchSource::sample_at(std::int64_t place) {
  if (!shuffle_) return place % epoch_size_;
  // Loaders run ahead by less than an epoch, and never back into an earlier one.
  while (epoch_ < place / epoch_size_) {
    indices_ = order_.next_epoch();
    ++epoch_;
  }
  return indices_[static_cast<std::size_t>(place % epoch_size_)];
}

void BatchSource::read(std::int64_t first, std::int64_t samples, bool test, const Batch& batch) {
  const data::Dataset& set = test ? *test_ : *train_;
  const auto part = [](auto all, std::int64_t count, std::int64_t sample) {
    const std::size_t size = all.size() / static_cast<std::size_t>(count);
    return all.subspan(static_cast<std::size_t>(sample) * size, size);
  };
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t index = test ? (first + i) % set.size() : sample_at(first + i);
    set.read(index, part(batch.values, samples, i), part(batch.tokens, samples, i),
             part(batch.targets, samples, i));
  }
}

// ---- The interpreter ---------------------------------------------------------------------------

Interpreter::Interpreter(const program::Program& program, int threads)
    : program_(program), workers_(threads), stores_(program.buffers.size()) {
  if (!program.data.name.empty()) batches_ = std::make_unique<BatchSource>(program.data);
  initialise();
}

Interpreter::~Interpreter() = default;

// A buffer's stream of random words follows from how many random ones stand before it, so that a
// model begins the same whatever else a program has.
void Interpreter::initialise() {
  std::uint64_t stream = kInitialStream;
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    const program::Buffer& buffer = program_.buffers[i];
    const auto size = static_cast<std::size_t>(buffer.elements());
    if (buffer.type == program::ElementType::kInt64) {
      stores_[i].whole.resize(size);
      continue;
    }
    stores_[i].values.resize(size);
    const bool random = buffer.initial.kind != program::Initial::Kind::kConstant;
    fill(buffer.initial, static_cast<std::uint64_t>(program_.seed), stream, stores_[i].values);
    stream += random ? 1 : 0;
  }
}

Results Interpreter::values(program::Index buffer) {
  return stores_[buffer].values;
}

double Interpreter::value(program::Index buffer) const {
  const Store& store = stores_[buffer];
  if (!store.values.empty()) return store.values.front();
  return store.whole.empty() ? 0 : static_cast<double>(store.whole.front());
}

void Interpreter::load(const program::LoadBatch& load) {
  BatchSource::Batch batch{stores_[load.x].values, stores_[load.x].whole, stores_[load.y].whole};
  const std::int64_t samples = program_.data.batch_size;
  batches_->read(load.batch * samples, samples, load.test, batch);
}

void Interpreter::copy(const program::Copy& copy) {
  const Store& from = stores_[copy.from];
  Store& to = stores_[copy.to];
  std::copy(from.values.begin(), from.values.end(), to.values.begin());
  std::copy(from.whole.begin(), from.whole.end(), to.whole.begin());
}

Results Interpreter::room(std::size_t size) {
  // Growing moves what is there, so an operation asks for all of its room before it writes any.
  workspace_used_ += size;
  if (workspace_.size() < workspace_used_) workspace_.resize(workspace_used_);
  return Results(workspace_).subspan(workspace_used_ - size, size);
}

void Interpreter::run(const program::Operation& operation) {
  if (!operation.parts.empty()) {
    for (const program::Operation& part : operation.parts) run(part);
    return;
  }
  workspace_used_ = 0;
  const bool reads_gradients = std::holds_alternative<program::Unscale>(operation.function) ||
                               std::holds_alternative<program::GradientNorm>(operation.function) ||
                               std::holds_alternative<program::SgdUpdate>(operation.function) ||
                               std::holds_alternative<program::AdamUpdate>(operation.function);
  if (reads_gradients) note_gradients();
  if (std::holds_alternative<program::UpdateScale>(operation.function))
    step_.used_scale = value(program_.gauges.scale);
  std::visit(Calculation(*this, operation), operation.function);
  round_results(operation);
  if (std::holds_alternative<program::NllLoss>(operation.function) &&
      operation.writes[0] == program_.gauges.loss) {
    loss_sum_ += value(program_.gauges.loss);
    ++losses_;
  }
}

void Interpreter::round_results(const program::Operation& operation) {
  for (const program::Index buffer : operation.writes) {
    const NumberFormat format = format_of(program_.buffers[buffer].type);
    if (format == NumberFormat::kFloat32) continue;
    const Results values = stores_[buffer].values;
    if (operation.is_gradient) {
      const CastLosses losses = cast_losses(format, values);
      step_.rounded += static_cast<std::int64_t>(values.size());
      step_.lost_to_zero += losses.to_zero;
      step_.lost_to_infinity += losses.to_infinity;
    }
    cast(format, values, workers_);
  }
}

// The gradients as backward left them: before anything scales, clips or uses them.
void Interpreter::note_gradients() {
  if (step_.has_gradients || !program_.gauges.watch_gradients) return;
  step_.has_gradients = true;
  for (const program::Index buffer : program_.gauges.gradients)
    for (const float value : stores_[buffer].values) step_.gradients.add(value);
}

trace::TrainingStep Interpreter::step(std::int64_t number) {
  const program::Gauges& gauges = program_.gauges;
  trace::TrainingStep step = step_;
  step_ = {};
  step.step = number;
  if (gauges.loss != program::kNoIndex) {
    step.has_loss = true;
    step.loss = loss_sum_ / losses_;
    loss_sum_ = 0;
    losses_ = 0;
  }
  if (gauges.gradient_norm != program::kNoIndex) step.gradient_norm = value(gauges.gradient_norm);
  if (gauges.scale != program::kNoIndex) {
    step.loss_scale = value(gauges.scale);
    step.skipped = value(gauges.found_inf) != 0;
  }
  return step;
}

trace::Evaluation Interpreter::evaluation(std::int64_t step) {
  trace::Evaluation evaluation;
  evaluation.step = step;
  evaluation.samples = program_.tested_samples;
  evaluation.correct = static_cast<std::int64_t>(value(program_.gauges.correct));
  return evaluation;
}

}  // namespace trainscope::host
