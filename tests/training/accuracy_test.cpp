// What the models reach on `digits`, and what that costs this machine's processor.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "training/training_run.h"

using namespace trainscope;

namespace {

// Of all threads of this process.
double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double accuracy(const std::vector<std::string>& settings, double& seconds) {
  const double before = cpu_seconds();
  test::TrainingRun run(settings, 2);
  run.finish();
  seconds = cpu_seconds() - before;
  REQUIRE(run.trace().evaluations().size() == 1);
  const trace::Evaluation& last = run.trace().evaluations()[0];
  const double share = static_cast<double>(last.correct) / static_cast<double>(last.samples);
  fmt::print("{}: {:.2f} % of the test set in {:.1f} s of CPU\n", settings[0], 100 * share,
             seconds);
  return share;
}

}  // namespace

TEST_CASE("a perceptron learns the digits to 97 % in less than 20 s of CPU") {
  double seconds = 0;
  CHECK(accuracy({"model.name=mlp", "data.name=digits", "steps=1000", "optimizer.name=adam",
                  "optimizer.lr=0.001", "loader.shuffle=true"},
                 seconds) >= 0.97);
#ifdef NDEBUG
  CHECK(seconds < 20);
#endif
}

TEST_CASE("a convolutional network learns the digits to more than 98 %") {
  double seconds = 0;
  CHECK(accuracy({"model.name=cnn", "data.name=digits", "steps=300", "optimizer.name=adam",
                  "optimizer.lr=0.002", "loader.shuffle=true"},
                 seconds) > 0.98);
}
