// After its first step a training allocates nothing: counts the allocations of this program.
#include <catch2/catch.hpp>

#include "support/allocations.h"
#include "support/stepper.h"
#include "training/training_run.h"

#ifdef TRAINSCOPE_COUNTS_ALLOCATIONS

namespace {

using namespace trainscope;

// Of each step.
std::vector<long> allocations_by_step(test::TrainingRun& run) {
  test::Stepper stepper(run.program(), run.numbers());
  std::vector<long> by_step(static_cast<std::size_t>(run.program().steps));
  for (long& count : by_step) {
    const long before = test::allocations;
    stepper.step();
    count = test::allocations - before;
  }
  return by_step;
}

}  // namespace

TEST_CASE("a step of a training in its loop allocates nothing") {
  const std::vector<std::string> common{"steps=6", "batch_size=16", "data.source=tensor",
                                        "loop.evaluate=false"};
  for (const std::vector<std::string>& model :
       {std::vector<std::string>{"model.name=mlp", "data.name=digits"},
        {"model.name=cnn", "data.name=digits"},
        {"model.name=cnn", "data.name=digits", "precision=fp16", "scaler.enabled=true"},
        {"model.name=mlp", "data.name=digits", "optimizer.name=adam", "optimizer.impl=fused",
         "scaler.enabled=true", "clip_grad_norm=1"},
        {"model.name=gpt-mini", "data.name=text", "model.seq_len=32", "model.dropout=0.1"},
        {"model.name=gpt-mini", "data.name=text", "model.seq_len=32", "attention.kernel=flash",
         "checkpoint.enabled=true", "optimizer.name=adamw"}}) {
    for (const int threads : {1, 2}) {
      INFO(model[0] << " " << model.back() << ", " << threads << " threads");
      test::TrainingRun run(test::with(model, common), threads);
      const std::vector<long> by_step = allocations_by_step(run);
      REQUIRE(by_step.size() == 6);
      CHECK(by_step[0] > 0);
      for (std::size_t step = 2; step < by_step.size(); ++step) CHECK(by_step[step] == 0);
    }
  }
}

#endif
