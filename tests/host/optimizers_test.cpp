// SGD, Adam and AdamW.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "host/adam.h"
#include "host/adamw.h"
#include "host/golden.h"
#include "host/sgd.h"

using namespace trainscope::host;

namespace {

const std::vector<float>& gradient(const GoldenCase& golden, std::size_t step) {
  return golden["g" + std::to_string(step)];
}

void check_sgd(const GoldenCase& golden) {
  const Sgd options{golden.number("lr", 0), golden.number("momentum", 0),
                    golden.number("dampening", 0), golden.number("weight_decay", 0),
                    golden.number("nesterov", 0) != 0};
  std::vector<float> p = golden["p"];
  std::vector<float> velocity(options.momentum == 0 ? 0 : p.size());
  for (std::size_t i = 0; i < golden.count("steps"); ++i) {
    sgd_step(options, i == 0, gradient(golden, i), p, velocity);
  }
  golden.check("after", p, 2);
  if (options.momentum != 0) golden.check("momentum_buffer", velocity, 1);
}

void check_adam(const GoldenCase& golden, Adam options) {
  options.lr = golden.number("lr", options.lr);
  options.beta1 = golden.number("beta1", options.beta1);
  options.beta2 = golden.number("beta2", options.beta2);
  options.eps = golden.number("eps", options.eps);
  options.weight_decay = golden.number("weight_decay", options.weight_decay);
  std::vector<float> p = golden["p"];
  std::vector<float> first(p.size());
  std::vector<float> second(p.size());
  for (std::size_t i = 0; i < golden.count("steps"); ++i) {
    adam_step(options, static_cast<std::int64_t>(i) + 1, gradient(golden, i), p, {first, second});
  }
  golden.check("after", p, 1);
  golden.check("exp_avg", first, 3);
  golden.check("exp_avg_sq", second, 2);
}

}  // namespace

TEST_CASE("five steps of each optimizer are PyTorch's within a few units") {
  for (const GoldenCase& golden : golden_cases("optimizers")) {
    if (golden.name.starts_with("sgd")) check_sgd(golden);
    if (golden.name == "adam" || golden.name == "adam_decay") check_adam(golden, Adam{});
    if (golden.name.starts_with("adamw")) check_adam(golden, adamw_defaults());
  }
}

TEST_CASE("the first step of Adam is the learning rate, whatever the gradient") {
  std::vector<float> p = {1.0F, 1.0F, 1.0F};
  std::vector<float> first(3);
  std::vector<float> second(3);
  adam_step({0.125, 0.9, 0.999, 1e-8, 0, false}, 1, std::vector<float>{100.0F, -0.01F, 0.0F}, p,
            {first, second});
  CHECK(p[0] == Approx(0.875));
  CHECK(p[1] == Approx(1.125).epsilon(1e-5));
  CHECK(p[2] == 1.0F);
}
