#include "host/interpreter.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "host/calculation.h"
#include "host/cast.h"
#include "host/channel_order.h"
#include "host/initial_values.h"
#include "program/reading_order.h"

namespace trainscope::host {
namespace {

std::unique_ptr<data::Dataset> open(const program::DataSource& source, data::Split split) {
  return data::open_dataset(
      {source.name, source.path, split, static_cast<std::uint64_t>(source.seed), source.tokens});
}

// How many tensors of weights an operation updates: its first results, the gradients its first
// operands. None of another operation.
std::size_t updated_weights(const program::Operation& operation) {
  const auto without_scale = [&](bool scaled) { return operation.reads.size() - (scaled ? 1 : 0); };
  if (const auto* sgd = std::get_if<program::SgdUpdate>(&operation.function))
    return without_scale(sgd->scaled);
  if (const auto* adam = std::get_if<program::AdamUpdate>(&operation.function))
    return without_scale(adam->scaled);
  return 0;
}

}  // namespace

// ---- Batches -----------------------------------------------------------------------------------

DataSets::DataSets(const program::DataSource& source) {
  if (source.name.empty()) return;
  train = open(source, data::Split::kTrain);
  test = open(source, data::Split::kTest);
}

BatchSource::BatchSource(const program::DataSource& source, DataSets sets, int rank)
    : sets_(std::move(sets)),
      order_(program::reading_order(source, sets_.train->size(), rank)),
      batch_size_(source.batch_size) {
  if (order_.size() > 0) return;
  throw InputError("batch_size = " + std::to_string(source.batch_size) + " is more than the " +
                   std::to_string(order_.samples()) + " samples of " + source.name +
                   (source.replicas > 1 ? " that each rank gets" : "") + "; make it smaller");
}

std::int64_t BatchSource::sample_at(std::int64_t place) {
  // Loaders run ahead by less than an epoch, and never back into an earlier one.
  for (; epoch_ < place / order_.size(); ++epoch_) indices_ = order_.next_epoch();
  return indices_[static_cast<std::size_t>(place % order_.size())];
}

BatchSource::Range BatchSource::range_of(std::int64_t batch, bool test) const {
  if (test) return {batch * batch_size_, batch_size_};
  const std::int64_t epoch = batch / order_.batches(), place = batch % order_.batches();
  return {epoch * order_.size() + place * batch_size_, order_.size_of(place)};
}

void BatchSource::read(std::int64_t number, bool test, const Batch& batch) {
  const data::Dataset& set = test ? *sets_.test : *sets_.train;
  const auto [first, samples] = range_of(number, test);
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
    : Interpreter(program, DataSets(program.data), 0, threads) {}

Interpreter::Interpreter(const program::Program& program, const DataSets& sets, int rank,
                         int threads)
    : program_(program),
      workers_(threads),
      sets_(as_convolutions_read(program, sets)),
      rank_(rank),
      stores_(program.buffers.size()) {
  if (sets_.train) batches_of(0);
  initialise(rank);
}

BatchSource& Interpreter::batches_of(int device) {
  // Ranks that share batches read the same, those of one program by their GPUs.
  const int reader = (rank_ + device) / program_.gpus_of_batch;
  return batches_.try_emplace(device, program_.data, sets_, reader).first->second;
}

Interpreter::~Interpreter() = default;

void Interpreter::initialise(int rank) {
  const InitialValues initial(program_);
  for (program::Index i = 0; i < stores_.size(); ++i) {
    const program::Buffer& buffer = program_.buffers[i];
    const auto size = static_cast<std::size_t>(buffer.elements());
    if (buffer.type == program::ElementType::kInt64) {
      stores_[i].whole.resize(size);
      continue;
    }
    if (buffer.type == program::ElementType::kBool) continue;  // of memory alone
    stores_[i].values.resize(size);                            // zeros
    if (buffer.initial.kind == program::Initial::Kind::kConstant && buffer.initial.value == 0)
      continue;
    initial.read(i, stores_[i].values, rank);
    cast(format_of(buffer.type), stores_[i].values, workers_);
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
  const BatchSource::Batch batch{stores_[load.x].values, stores_[load.x].whole,
                                 stores_[load.y].whole};
  batches_of(program_.buffers[load.x].device).read(load.batch, load.test, batch);
  cast(format_of(program_.buffers[load.x].type), batch.values, workers_);
}

void Interpreter::copy(const program::Copy& copy) {
  copy_part(copy.from, copy.from_begin, copy.to, copy.to_begin, copy.bytes);
}

void Interpreter::view(const program::View& view) {
  copy_part(view.of, view.begin, view.view, 0, program_.buffers[view.view].bytes);
}

void Interpreter::copy_part(program::Index from, std::int64_t from_begin, program::Index to,
                            std::int64_t to_begin, std::int64_t bytes) {
  const std::int64_t size = program::size_of(program_.buffers[from].type);
  const auto part = [&](const auto& source, auto& target) {
    if (source.empty()) return;
    std::copy_n(source.begin() + from_begin / size, bytes / size, target.begin() + to_begin / size);
  };
  part(stores_[from].values, stores_[to].values);
  part(stores_[from].whole, stores_[to].whole);
}

Pieces Interpreter::pieces(program::Index payload) {
  Pieces pieces;
  if (payload == program::kNoIndex) return pieces;
  for (const program::Index buffer : program_.payloads[payload])
    pieces.push_back(stores_[buffer].values);
  return pieces;
}

// Of ranks that are all in the program, one process that drives them calls for one after another.
void Interpreter::collective(const program::Collective& collective) {
  together_.push_back(collective);
  const program::Communicator& ranks = program_.communicators[collective.communicator];
  if (together_.size() < static_cast<std::size_t>(ranks.simulated)) return;
  std::vector<Pieces> sends, receives;
  for (const program::Collective& part : together_) {
    sends.push_back(pieces(part.send));
    receives.push_back(pieces(part.receive));
  }
  together_.clear();
  workspace_used_ = 0;
  carry_out(collective, format_of(program::type_of(program_, collective)), sends, receives,
            workspace_);
}

std::uint64_t& Interpreter::drawn_on(program::Index buffer) {
  const auto device = static_cast<std::size_t>(program_.buffers[buffer].device);
  if (drawn_.size() <= device) drawn_.resize(device + 1);
  return drawn_[device];
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
  const bool updates = updated_weights(operation) > 0;
  if (updates || std::holds_alternative<program::Unscale>(operation.function) ||
      std::holds_alternative<program::GradientNorm>(operation.function) ||
      std::holds_alternative<program::GradientNorms>(operation.function))
    note_gradients();
  const bool watched = updates && program_.gauges.watch_gradients;
  if (watched) keep_weights(operation);
  if (std::holds_alternative<program::UpdateScale>(operation.function))
    step_.used_scale = value(program_.gauges.scale);
  std::visit(Calculation(*this, operation), operation.function);
  round_results(operation);
  if (watched) note_update(operation);
  if (!operation.writes.empty() && is_loss(operation.writes[0])) {
    loss_sum_ += value(operation.writes[0]);
    ++losses_;
  }
}

bool Interpreter::is_loss(program::Index buffer) const {
  const program::Gauges& gauges = program_.gauges;
  return buffer == gauges.loss ||
         std::ranges::find(gauges.more_losses, buffer) != gauges.more_losses.end();
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

void Interpreter::keep_weights(const program::Operation& update) {
  kept_weights_.clear();
  for (std::size_t i = 0; i < updated_weights(update); ++i) {
    const std::vector<float>& weights = stores_[update.writes[i]].values;
    kept_weights_.insert(kept_weights_.end(), weights.begin(), weights.end());
  }
}

void Interpreter::note_update(const program::Operation& update) {
  const float* before = kept_weights_.data();
  for (std::size_t i = 0; i < updated_weights(update); ++i) {
    const std::vector<float>& gradients = stores_[update.reads[i]].values;
    const std::vector<float>& weights = stores_[update.writes[i]].values;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const bool has_gradient = gradients[k] != 0;
      step_.updated += has_gradient ? 1 : 0;
      step_.lost_updates += has_gradient && weights[k] == before[k] ? 1 : 0;
    }
    before += weights.size();
  }
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
