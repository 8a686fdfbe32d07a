// The spirals: inside their square, in equal shares, and not to be parted by straight lines.

#include "data/spirals.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "data/samples.h"

using namespace trainscope::data;
using trainscope::test::read_sample;
using trainscope::test::Sample;

namespace {

constexpr std::size_t kArms = 3;

std::vector<Sample> points_of(Split split) {
  const SpiralsDataset dataset(split, 0);
  std::vector<Sample> points;
  for (std::int64_t i = 0; i < dataset.size(); ++i) points.push_back(read_sample(dataset, i));
  return points;
}

float distance(const Sample& a, const Sample& b) {
  return std::hypot(a.values[0] - b.values[0], a.values[1] - b.values[1]);
}

// How many of `points` have the arm of the nearest of `known`.
double share_told_by_nearest(const std::vector<Sample>& points, const std::vector<Sample>& known) {
  const auto right = std::count_if(points.begin(), points.end(), [&](const Sample& point) {
    const auto nearest = std::min_element(
        known.begin(), known.end(),
        [&](const Sample& a, const Sample& b) { return distance(a, point) < distance(b, point); });
    return nearest->targets == point.targets;
  });
  return static_cast<double>(right) / static_cast<double>(points.size());
}

// The middle of each arm's points.
std::vector<Sample> middles_of(const std::vector<Sample>& points) {
  std::vector<Sample> middles(kArms, Sample{{0, 0}, {}, {0}});
  for (std::size_t arm = 0; arm < kArms; ++arm) {
    float count = 0;
    for (const Sample& point : points) {
      if (point.targets[0] != static_cast<std::int64_t>(arm)) continue;
      ++count;
      middles[arm].values[0] += point.values[0];
      middles[arm].values[1] += point.values[1];
    }
    for (float& value : middles[arm].values) value /= count;
    middles[arm].targets[0] = static_cast<std::int64_t>(arm);
  }
  return middles;
}

}  // namespace

TEST_CASE("spirals are points of a unit disc on three arms of like size") {
  const std::vector<Sample> points = points_of(Split::kTrain);
  REQUIRE(points.size() == 3000);
  std::array<int, kArms> counts{};
  for (const Sample& point : points) {
    const float radius = std::hypot(point.values[0], point.values[1]);
    REQUIRE((radius > 0.049F && radius < 1.001F));
    ++counts[static_cast<std::size_t>(point.targets[0])];
  }
  for (const int count : counts) CHECK(std::abs(count - 1000) < 130);  // five deviations of 26
}

TEST_CASE("neighbours tell the arm, straight lines do not") {
  const std::vector<Sample> train = points_of(Split::kTrain), test = points_of(Split::kTest);
  CHECK(share_told_by_nearest(test, train) > 0.95);
  // Nearest of three middles: the plane is parted by straight lines.
  CHECK(share_told_by_nearest(test, middles_of(train)) < 0.7);
}
