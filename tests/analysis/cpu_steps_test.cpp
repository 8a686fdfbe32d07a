// Steps on the CPU beside PyTorch's.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "analysis/runs/run.h"

using namespace trainscope;

// Least times of many steps with PyTorch 2.11 on one core of a cloud Xeon of 2.0 GHz with AVX-512,
// as the H200's host has it: Linear(784, hidden), ReLU, …, Linear(hidden, 10), SGD. Where products
// take longer than the operators that ask for them.
TEST_CASE("a step on one core takes about as long as PyTorch's, from narrow layers to wide ones") {
  struct Measured {
    int hidden, layers, batch;
    double milliseconds;
  };
  for (const Measured& one :
       {Measured{128, 1, 64, 0.55}, Measured{512, 1, 64, 1.57}, Measured{512, 1, 512, 8.45},
        Measured{1024, 1, 64, 2.83}, Measured{2048, 1, 16, 2.36}, Measured{2048, 1, 512, 33.9},
        Measured{1024, 2, 128, 14.2}}) {
    program::Config config;
    for (const std::string& setting :
         {std::string("device=cpu"), std::string("host.cores=1"), std::string("machine=h200-1"),
          std::string("data.source=tensor"), std::string("steps=3"),
          fmt::format("model.hidden={}", one.hidden), fmt::format("model.layers={}", one.layers),
          fmt::format("batch_size={}", one.batch)})
      config.set_text(setting);
    const analysis::Run run = analysis::run_config("A", config);
    const auto step = analysis::value_of(run.metrics, "time.step");
    REQUIRE(step);
    INFO(one.hidden << " x " << one.layers << ", batch " << one.batch << ": " << *step / 1e6);
    CHECK(*step / 1e6 > one.milliseconds / 1.4);
    CHECK(*step / 1e6 < one.milliseconds * 1.4);
  }
}
