#include "host/numbers_on_demand.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace trainscope;

namespace {

struct Counting final : program::Numbers {
  Counting(int& counted, std::vector<std::int64_t>& numbers) : runs(counted), kept(numbers) {}
  void load(const program::LoadBatch&) override {}
  void run(const program::Operation&) override { ++runs; }
  void copy(const program::Copy&) override {}
  double value(program::Index buffer) const override { return 2.0 * buffer; }
  trace::TrainingStep step(std::int64_t number) override {
    trace::TrainingStep row;
    row.step = number;
    return row;
  }
  trace::Evaluation evaluation(std::int64_t step) override { return {.step = step}; }
  void keep(const trace::TrainingStep& row, trace::Trace&) override { kept.push_back(row.step); }
  void keep(const trace::Evaluation& row, trace::Trace&) override { kept.push_back(row.step); }
  int& runs;
  std::vector<std::int64_t>& kept;  // rows, by their steps
};

}  // namespace

TEST_CASE("numbers on demand are made once, when the first one is asked for") {
  int made = 0, runs = 0;
  std::vector<std::int64_t> kept;
  host::NumbersOnDemand numbers([&] {
    ++made;
    return std::make_unique<Counting>(runs, kept);
  });
  CHECK(made == 0);
  numbers.run({});
  numbers.run({});
  CHECK(made == 1);
  CHECK(runs == 2);
  CHECK(numbers.value(3) == 6);
  CHECK(numbers.step(7).step == 7);
  trace::Trace trace(trace::Origin{});
  numbers.keep(numbers.step(7), trace);
  numbers.keep(numbers.evaluation(9), trace);
  CHECK(kept == std::vector<std::int64_t>{7, 9});
  CHECK(trace.steps().size() == 0);
  CHECK(made == 1);
}
