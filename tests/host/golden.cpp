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

// Numbers of `digits` hexadecimal digits each, one after another.
std::vector<std::uint32_t> read_words(const std::string& text, std::size_t digits) {
  std::vector<std::uint32_t> words;
  words.reserve(text.size() / digits);
  for (std::size_t i = 0; i + digits <= text.size(); i += digits) {
    words.push_back(static_cast<std::uint32_t>(std::stoul(text.substr(i, digits), nullptr, 16)));
  }
  return words;
}

std::vector<float> read_bits(const std::string& text) {
  std::vector<float> values;
  for (const std::uint32_t word : read_words(text, 8)) values.push_back(std::bit_cast<float>(word));
  return values;
}

// What the values are with the rest, each a BF16, that FP32 had no room for.
std::vector<double> with_rest(const std::vector<float>& values, const std::string& text) {
  const std::vector<std::uint32_t> rest = read_words(text, 4);
  REQUIRE(rest.size() == values.size());
  std::vector<double> exact(values.begin(), values.end());
  for (std::size_t i = 0; i < rest.size(); ++i) exact[i] += std::bit_cast<float>(rest[i] << 16);
  return exact;
}

GoldenCase read_case(const std::string& operation, const std::string& name,
                     const nlohmann::json& json) {
  GoldenCase result{operation, name, {}, {}, {}, {}, {}};
  json.at("numbers").get_to(result.numbers);
  json.at("integers").get_to(result.integers);
  json.at("away").get_to(result.away);
  for (const auto& [key, tensor] : json.at("tensors").items()) {
    result.tensors[key] = read_bits(tensor.at("bits").get<std::string>());
    if (!tensor.contains("rest")) continue;
    result.exact[key] = with_rest(result.tensors[key], tensor.at("rest").get<std::string>());
  }
  return result;
}

double root_mean_square(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) {
    if (std::isfinite(value)) squares += value * value;
  }
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(values.size(), 1)));
}

double distance(float ours, double expected, double least) {
  if (std::isnan(expected) && std::isnan(ours)) return 0;
  if (ours == expected) return 0;
  if (!std::isfinite(ours) || !std::isfinite(expected)) {
    return std::numeric_limits<double>::infinity();
  }
  const double scale = std::max({std::abs(expected), least, 0x1p-126});
  const double unit = std::ldexp(1.0, std::ilogb(scale) - 23);
  return std::abs(static_cast<double>(ours) - expected) / unit;
}

}  // namespace

double worst_distance(Values ours, std::span<const double> expected) {
  REQUIRE(ours.size() == expected.size());
  const double least = root_mean_square(expected);
  double worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    worst = std::max(worst, distance(ours[i], expected[i], least));
  }
  return worst;
}

double worst_distance(Values ours, Values expected) {
  return worst_distance(ours, std::vector<double>(expected.begin(), expected.end()));
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
  const double from_exact = worst_distance(ours, exact.at(tensor));
  const double pytorch = away.at(tensor);
  if (std::getenv("TRAINSCOPE_GOLDEN_REPORT") != nullptr) {
    fmt::print(
        "golden {:13} {:24} {:15} {:9.2f} of {:6} allowed; from FP64 {:9.2f}, PyTorch {:9.2f}\n",
        operation, name, tensor, worst, bound, from_exact, pytorch);
  }
  CHECK(worst <= bound);
  CHECK(from_exact <= kTimesAway * pytorch + kFloor);
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
