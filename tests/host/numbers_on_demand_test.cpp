#include "host/numbers_on_demand.h"

#include <catch2/catch.hpp>

using namespace trainscope;

namespace {

struct Counting final : program::Numbers {
  explicit Counting(int& counted) : runs(counted) {}
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
  int& runs;
};

}  // namespace

TEST_CASE("numbers on demand are made once, when the first one is asked for") {
  int made = 0, runs = 0;
  host::NumbersOnDemand numbers([&] {
    ++made;
    return std::make_unique<Counting>(runs);
  });
  CHECK(made == 0);
  numbers.run({});
  numbers.run({});
  CHECK(made == 1);
  CHECK(runs == 2);
  CHECK(numbers.value(3) == 6);
  CHECK(numbers.step(7).step == 7);
  CHECK(made == 1);
}
