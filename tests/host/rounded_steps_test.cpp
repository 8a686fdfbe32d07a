// Updates and clipping of FP16 and BF16 parameters, held against PyTorch's.
#include "host/rounded_steps.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "host/clip_grad_norm.h"
#include "host/elementwise.h"
#include "host/golden.h"

using namespace trainscope::host;

namespace {

NumberFormat format_in(const std::string& name) {
  return name.find("fp16") != std::string::npos ? NumberFormat::kFloat16 : NumberFormat::kBfloat16;
}

std::vector<float> in(NumberFormat format, std::vector<float> values) {
  cast(format, values);
  return values;
}

// How many differ; two that are no number are the same.
int different(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    count += a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ? 0 : 1;
  return count;
}

struct Narrow {
  NumberFormat format;
  bool fused;
  std::vector<float> p, first, second;

  explicit Narrow(const GoldenCase& golden)
      : format(format_in(golden.name)),
        fused(golden.name.ends_with("fused")),
        p(in(format, golden["p"])),
        first(p.size()),
        second(p.size()) {}

  std::vector<float> gradient(const GoldenCase& golden, std::size_t step) const {
    return in(format, golden["g" + std::to_string(step)]);
  }
  void round() {
    for (std::vector<float>* values : {&p, &first, &second}) cast(format, *values);
  }
};

void check_sgd(const GoldenCase& golden) {
  Sgd options;
  options.lr = golden.number("lr", 0);
  options.momentum = golden.number("momentum", 0);
  options.weight_decay = golden.number("weight_decay", 0);
  Narrow run(golden);
  for (std::size_t i = 0; i < golden.count("steps"); ++i) {
    const std::vector<float> g = run.gradient(golden, i);
    if (!run.fused) {
      rounded_sgd_step(run.format, options, i == 0, g, run.p, run.first);
      continue;
    }
    sgd_step(options, i == 0, g, run.p, run.first);
    run.round();
  }
  CHECK(different(run.p, golden["after"]) == 0);
  if (options.momentum != 0) CHECK(different(run.first, golden["momentum_buffer"]) == 0);
}

void check_adam(const GoldenCase& golden, bool decoupled) {
  Adam options;
  options.lr = golden.number("lr", 0);
  options.weight_decay = golden.number("weight_decay", 0);
  options.decoupled = decoupled;
  Narrow run(golden);
  for (std::size_t i = 0; i < golden.count("steps"); ++i) {
    const std::vector<float> g = run.gradient(golden, i);
    const auto step = static_cast<std::int64_t>(i) + 1;
    if (!run.fused) {
      rounded_adam_step(run.format, options, step, g, run.p, {run.first, run.second});
      continue;
    }
    adam_step(options, step, g, run.p, {run.first, run.second});
    run.round();
  }
  CHECK(different(run.p, golden["after"]) == 0);
  CHECK(different(run.first, golden["exp_avg"]) == 0);
  CHECK(different(run.second, golden["exp_avg_sq"]) == 0);
}

}  // namespace

TEST_CASE("steps of narrow parameters are PyTorch's to the bit, fused and not") {
  const std::vector<GoldenCase> cases = golden_cases("narrow_optimizers");
  REQUIRE(cases.size() == 24);
  for (const GoldenCase& golden : cases) {
    INFO(golden.name);
    if (golden.name.starts_with("sgd"))
      check_sgd(golden);
    else
      check_adam(golden, golden.name.starts_with("adamw"));
  }
}

TEST_CASE("narrow gradients are clipped to PyTorch's bits") {
  const std::vector<GoldenCase> cases = golden_cases("narrow_gradients");
  REQUIRE(cases.size() == 4);
  for (const GoldenCase& golden : cases) {
    INFO(golden.name);
    const NumberFormat format = format_in(golden.name);
    double squares = 0;
    for (const char* part : {"a", "b", "c"})
      squares += rounded_sum_of_squares(format, in(format, golden[part]));
    const float norm = rounded(format, static_cast<float>(std::sqrt(squares)));
    CHECK(norm == golden["norm"].front());
    const float factor = rounded_clip_factor(format, norm, golden.number("max_norm", 0));
    for (const std::string part : {"a", "b", "c"}) {
      std::vector<float> g = in(format, golden[part]);
      scale(g, factor, g);
      CHECK(different(in(format, g), golden[part + "_after"]) == 0);
    }
  }
}

TEST_CASE("an update below half a unit in the last place changes no narrow parameter") {
  Sgd options;
  options.lr = 1;
  // BF16 has steps of 2^-7 from 1 on, and of 2^-8 below it.
  for (const auto& [change, after] : {std::pair{0x1p-9F, 1.0F},
                                      {0x1.8p-9F, 1 - 0x1p-8F},
                                      {-0x1p-8F, 1.0F},
                                      {-0x1.8p-8F, 1 + 0x1p-7F}}) {
    std::vector<float> p{1.0F};
    rounded_sgd_step(NumberFormat::kBfloat16, options, false, std::vector{change}, p, {});
    CHECK(p[0] == after);
  }
}

TEST_CASE("Adam's eps is 0 in FP16: a parameter without a gradient becomes no number") {
  const Adam options;
  std::vector<float> p{1.0F, 1.0F}, first(2), second(2);
  rounded_adam_step(NumberFormat::kFloat16, options, 1, std::vector{0.0F, 0x1p-13F}, p,
                    {first, second});
  CHECK(std::isnan(p[0]));
  CHECK(p[1] == -std::numeric_limits<float>::infinity());  // its square is lost as well
  for (const NumberFormat wide : {NumberFormat::kBfloat16, NumberFormat::kFloat32}) {
    std::vector<float> q{1.0F}, m(1), v(1);
    rounded_adam_step(wide, options, 1, std::vector{0.0F}, q, {m, v});
    CHECK(q[0] == 1.0F);
  }
}
