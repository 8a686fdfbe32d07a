// The drawn digits: the same everywhere, normalised, and neither too easy nor too hard.

#include "data/digits.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#include "data/sampler.h"
#include "data/samples.h"

using namespace trainscope::data;
using trainscope::test::read_sample;
using trainscope::test::Sample;

namespace {

constexpr std::size_t kValues = 784;
constexpr std::size_t kClasses = 10;

std::vector<Sample> all_samples(const Dataset& dataset) {
  std::vector<Sample> samples;
  for (std::int64_t i = 0; i < dataset.size(); ++i) samples.push_back(read_sample(dataset, i));
  return samples;
}

// Softmax regression, trained by plain gradient descent a sample at a time.
class LinearClassifier {
 public:
  std::size_t answer(const Sample& sample) const {
    const auto scores = scores_of(sample);
    return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) -
                                    scores.begin());
  }

  void learn(const Sample& sample, float rate) {
    std::array<float, kClasses> scores = scores_of(sample);
    const float most = *std::max_element(scores.begin(), scores.end());
    float sum = 0;
    for (float& score : scores) sum += score = std::exp(score - most);
    for (std::size_t c = 0; c < kClasses; ++c) {
      const bool right = static_cast<std::int64_t>(c) == sample.targets[0];
      const float step = rate * (scores[c] / sum - (right ? 1.0F : 0.0F));
      for (std::size_t i = 0; i < kValues; ++i) weights_[c][i] -= step * sample.values[i];
      weights_[c][kValues] -= step;
    }
  }

 private:
  std::array<float, kClasses> scores_of(const Sample& sample) const {
    std::array<float, kClasses> scores{};
    for (std::size_t c = 0; c < kClasses; ++c) {
      scores[c] = weights_[c][kValues];
      for (std::size_t i = 0; i < kValues; ++i) scores[c] += weights_[c][i] * sample.values[i];
    }
    return scores;
  }

  std::array<std::array<float, kValues + 1>, kClasses> weights_{};  // the last is the bias
};

}  // namespace

TEST_CASE("digits have mean 0 and standard deviation 1, and each class its share") {
  const DigitsDataset dataset(Split::kTrain, 0);
  double sum = 0, squares = 0;
  std::array<int, kClasses> counts{};
  for (const Sample& sample : all_samples(dataset)) {
    for (const double value : sample.values) {
      sum += value;
      squares += value * value;
    }
    ++counts[static_cast<std::size_t>(sample.targets[0])];
  }
  const double values = static_cast<double>(dataset.size()) * kValues;
  CHECK(std::abs(sum / values) < 1e-3);
  CHECK(std::abs(std::sqrt(squares / values) - 1) < 1e-3);
  // 1,000 of each are expected with a standard deviation of 30.
  for (const int count : counts) CHECK(std::abs(count - 1000) < 120);
}

TEST_CASE("a linear classifier learns the digits, but not all of them") {
  const std::vector<Sample> train = all_samples(DigitsDataset(Split::kTrain, 0));
  const std::vector<Sample> test = all_samples(DigitsDataset(Split::kTest, 0));
  LinearClassifier classifier;
  ShuffledLoader loader(static_cast<std::int64_t>(train.size()), 0);
  for (const float rate : {3e-3F, 1e-3F, 3e-4F}) {
    for (const std::int64_t index : loader.next_epoch())
      classifier.learn(train[static_cast<std::size_t>(index)], rate);
  }
  const auto right = std::count_if(test.begin(), test.end(), [&](const Sample& sample) {
    return static_cast<std::int64_t>(classifier.answer(sample)) == sample.targets[0];
  });
  const double accuracy = static_cast<double>(right) / static_cast<double>(test.size());
  INFO("test accuracy " << accuracy);
  CHECK(accuracy > 0.85);
  CHECK(accuracy < 0.95);
}

TEST_CASE("several threads may be the first to read") {
  const DigitsDataset shared(Split::kTest, 5);
  std::array<Sample, 4> samples;
  {
    std::vector<std::jthread> threads;
    for (Sample& sample : samples)
      threads.emplace_back([&shared, &sample] { sample = read_sample(shared, 11); });
  }
  const Sample alone = read_sample(DigitsDataset(Split::kTest, 5), 11);
  for (const Sample& sample : samples) CHECK(sample == alone);
}
