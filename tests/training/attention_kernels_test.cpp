// The ways to compute attention, as trainings: the same numbers, or nearly.
#include <catch2/catch.hpp>

#include "training/training_run.h"

using namespace trainscope;

TEST_CASE("attention that is written out trains as the math backend does, number for number") {
  const std::vector<std::string> gpt{
      "model.name=gpt-mini", "data.name=text",      "model.seq_len=16",
      "model.width=32",      "model.heads=4",       "batch_size=4",
      "model.blocks=2",      "loop.evaluate=false", "steps=4"};
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"precision=bf16"}, {"checkpoint.enabled=true"}}) {
    const std::vector<std::string> settings = test::with(gpt, more);
    const std::vector<double> math = test::TrainingRun(settings).finish().losses();
    test::TrainingRun eager(test::with(settings, {"attention.kernel=eager"}));
    CHECK(eager.finish().losses() == math);
    CHECK(math.size() == 4);
  }
}
