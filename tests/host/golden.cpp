#include "host/golden.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.h"

using trainscope::host::Values;

namespace {

std::vector<float> read_bits(const std::string& digits) {
  std::vector<float> values;
  values.reserve(digits.size() / 8);
  for (std::size_t i = 0; i + 8 <= digits.size(); i += 8) {
    const auto bits = std::stoul(digits.substr(i, 8), nullptr, 16);
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return values;
}

GoldenCase read_case(const std::string& operation, const std::string& name,
                     const nlohmann::json& json) {
  GoldenCase result{operation, name, {}, {}, {}, {}};
  json.at("numbers").get_to(result.numbers);
  json.at("integers").get_to(result.integers);
  json.at("away").get_to(result.away);
  for (const auto& [key, tensor] : json.at("tensors").items()) {
    result.tensors[key] = read_bits(tensor.at("bits").get<std::string>());
  }
  return result;
}

double root_mean_square(Values values) {
  double squares = 0;
  for (const float value : values) {
    if (std::isfinite(value)) squares += static_cast<double>(value) * value;
  }
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(values.size(), 1)));
}

double distance(float ours, float expected, double least) {
  if (std::isnan(expected) && std::isnan(ours)) return 0;
  if (ours == expected) return 0;
  if (!std::isfinite(ours) || !std::isfinite(expected)) {
    return std::numeric_limits<double>::infinity();
  }
  const double scale = std::max({std::abs(static_cast<double>(expected)), least, 0x1p-126});
  const double unit = std::ldexp(1.0, std::ilogb(scale) - 23);
  return std::abs(static_cast<double>(ours) - expected) / unit;
}

}  // namespace

double worst_distance(Values ours, Values expected) {
  REQUIRE(ours.size() == expected.size());
  const double least = root_mean_square(expected);
  double worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    worst = std::max(worst, distance(ours[i], expected[i], least));
  }
  return worst;
}

double GoldenCase::number(const std::string& key, double otherwise) const {
  const auto found = numbers.find(key);
  return found == numbers.end() ? otherwise : found->second;
}

std::size_t GoldenCase::count(const std::string& key) const {
  return static_cast<std::size_t>(numbers.at(key));
}

void GoldenCase::check(const std::string& tensor, Values ours, double bound) const {
  INFO(operation << " " << name << " " << tensor);
  const double worst = worst_distance(ours, tensors.at(tensor));
  if (std::getenv("TRAINSCOPE_GOLDEN_REPORT") != nullptr) {
    fmt::print("golden {:13} {:24} {:15} {:9.2f} of {:6} allowed; PyTorch from its FP64 {:9.2f}\n",
               operation, name, tensor, worst, bound, away.at(tensor));
  }
  CHECK(worst <= bound);
}

std::vector<GoldenCase> golden_cases(const std::string& operation) {
  const std::string path =
      fmt::format("{}/tests/golden/operations/{}.json", TRAINSCOPE_SOURCE_DIR, operation);
  const auto json = nlohmann::json::parse(trainscope::read_file(path, 1 << 20));
  std::vector<GoldenCase> cases;
  for (const auto& [name, value] : json.at("cases").items()) {
    cases.push_back(read_case(operation, name, value));
  }
  REQUIRE(!cases.empty());
  return cases;
}

GoldenCase golden_case(const std::string& operation, const std::string& name) {
  for (GoldenCase& one : golden_cases(operation)) {
    if (one.name == name) return std::move(one);
  }
  FAIL("there is no case " << name << " of " << operation);
  return {};
}
