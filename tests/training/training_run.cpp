#include "training/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>

#include "analysis/metrics/metrics.h"
#include "host/later_numbers.h"
#include "sim/simulation.h"
#include "train/build.h"

namespace trainscope::test {
namespace {

// Another's numbers, which this test goes on to look at.
class Referred : public program::Numbers {
 public:
  explicit Referred(program::Numbers& to) : to_(to) {}
  void load(const program::LoadBatch& one) override { to_.load(one); }
  void run(const program::Operation& one) override { to_.run(one); }
  void copy(const program::Copy& one) override { to_.copy(one); }
  void view(const program::View& one) override { to_.view(one); }
  void collective(const program::Collective& one) override { to_.collective(one); }
  double value(program::Index buffer) const override { return to_.value(buffer); }
  trace::TrainingStep step(std::int64_t number) override { return to_.step(number); }
  trace::Evaluation evaluation(std::int64_t step) override { return to_.evaluation(step); }

 private:
  program::Numbers& to_;
};

}  // namespace

TrainingRun::TrainingRun(const std::vector<std::string>& settings, int threads) {
  program::Config config;
  for (const std::string& setting : settings) config.set_text(setting);
  profile_ = config.word("host.profile");
  machine_ = std::make_unique<machine::Machine>(train::machine_of(config));
  program_ = std::make_unique<program::Program>(train::build_program(config, *machine_));
  trace_ = std::make_unique<trace::Trace>(trace::Origin{});
  if (program_->computed_ranks > 1) {
    ranks_ = std::make_unique<host::RankNumbers>(*program_, threads);
  } else {
    numbers_ = std::make_unique<host::Interpreter>(*program_, threads);
  }
}

TrainingRun& TrainingRun::finish() {
  program::Numbers* numbers = numbers_.get();
  if (ranks_) numbers = ranks_.get();
  if (has_stages()) {
    host::LaterNumbers later(*program_, std::make_unique<Referred>(*numbers));
    sim::Simulation(*program_, *machine_, profile_, *trace_, &later).finish();
    while (later.compute_next(*trace_)) {
    }
  } else {
    sim::Simulation(*program_, *machine_, profile_, *trace_, numbers).finish();
  }
  return *this;
}

// Ranks that differ are all in the program, and their calls come in no order that could be
// computed.
bool TrainingRun::has_stages() const {
  return program_->stages > 1;
}

std::vector<program::Index> TrainingRun::parameters() const {
  std::vector<program::Index> found;
  for (program::Index i = 0; i < program_->buffers.size(); ++i)
    if (program_->buffers[i].role == program::Role::kParameter && program_->buffers[i].device == 0)
      found.push_back(i);
  return found;
}

std::vector<float> TrainingRun::weights(std::size_t rank) {
  std::vector<float> all;
  for (const program::Index parameter : parameters()) {
    const host::Results values = numbers(rank).values(parameter);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

std::vector<double> TrainingRun::losses() const {
  std::vector<double> losses;
  for (std::uint32_t i = 0; i < trace_->steps().size(); ++i)
    losses.push_back(trace_->steps()[i].loss);
  return losses;
}

std::vector<std::int64_t> TrainingRun::skipped_steps() const {
  std::vector<std::int64_t> skipped;
  for (std::uint32_t i = 0; i < trace_->steps().size(); ++i)
    if (trace_->steps()[i].skipped) skipped.push_back(trace_->steps()[i].step);
  return skipped;
}

double TrainingRun::metric(const std::string& name) const {
  const auto facts = analysis::gather_facts(*trace_, program_.get(), machine_.get());
  return analysis::find_metric(name).compute(facts).value();
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  return largest;
}

void Hash::add(const std::vector<float>& values) {
  for (const float value : values) add(std::bit_cast<std::uint32_t>(value));
}

std::string Hash::text() const {
  return fmt::format("{:016x}", value_);
}

}  // namespace trainscope::test
