// A config carried out as the command `run` does it, with a look at the numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/interpreter.h"
#include "host/rank_numbers.h"
#include "machine/machine.h"
#include "program/program.h"
#include "support/config.h"
#include "trace/trace.h"

namespace trainscope::test {

class TrainingRun {
 public:
  // Settings as --set takes them: "steps=50". Nothing is carried out yet: numbers() holds what
  // every buffer holds at the start.
  explicit TrainingRun(const std::vector<std::string>& settings, int threads = 1);

  // Carries the program out.
  TrainingRun& finish();

  const program::Program& program() const { return *program_; }
  const trace::Trace& trace() const { return *trace_; }
  // A rank's.
  host::Interpreter& numbers(std::size_t rank = 0) {
    return ranks_ ? ranks_->rank(rank) : *numbers_;
  }

  // The model's parameters, running moments among them, in its order.
  std::vector<program::Index> parameters() const;
  // All of their numbers, one after another, of a rank.
  std::vector<float> weights(std::size_t rank = 0);
  std::vector<double> losses() const;
  std::vector<std::int64_t> skipped_steps() const;
  double metric(const std::string& name) const;

 private:
  bool has_stages() const;

  std::string profile_;
  std::unique_ptr<machine::Machine> machine_;
  std::unique_ptr<program::Program> program_;
  std::unique_ptr<trace::Trace> trace_;
  std::unique_ptr<host::Interpreter> numbers_;
  std::unique_ptr<host::RankNumbers> ranks_;  // of several; then there is no other
};

// Of as many weights, which it requires.
double largest_difference(const std::vector<float>& a, const std::vector<float>& b);

// Steps that round weights of up to about 1 by 2^-24, and sums by little more.
inline constexpr double kRounding = 4 * 0x1p-22;

// FNV-1a, 64 bits, over words taken whole.
class Hash {
 public:
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001B3; }
  void add(const std::vector<float>& values);
  std::string text() const;

 private:
  std::uint64_t value_ = 0xCBF29CE484222325;
};

}  // namespace trainscope::test
