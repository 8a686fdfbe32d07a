// torch.channels_last moves numbers in memory and changes none: weights, images and flattened
// results keep the order of their dimensions.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "base/temporary_folder.h"
#include "training/sharded_weights.h"

using namespace trainscope;
using test::Settings;
using test::TrainingRun;
using test::whole_weights;
using test::with;

namespace {

const Settings kCnn{"model.name=cnn", "data.name=digits",       "batch_size=16",
                    "steps=4",        "cudnn.allow_tf32=false", "optimizer.lr=0.01",
                    "seed=13",        "model.batch_norm=false"};
const Settings kLast{"memory_format=channels_last"};

// Sums in another order, of losses of about 2.
constexpr double kRoundedLoss = 2e-6;

double largest_difference_of_losses(const TrainingRun& a, const TrainingRun& b) {
  REQUIRE(a.losses().size() == b.losses().size());
  double largest = 0;
  for (std::size_t i = 0; i < a.losses().size(); ++i)
    largest = std::max(largest, std::abs(a.losses()[i] - b.losses()[i]));
  return largest;
}

// As many images as a file, of three planes that differ.
void write_cifar10(const std::filesystem::path& folder, int images) {
  unsigned number = 1;
  for (const char* name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4",
                           "data_batch_5", "test_batch"}) {
    std::ofstream file(folder / (std::string(name) + ".bin"), std::ios::binary);
    for (int image = 0; image < images; ++image) {
      file.put(static_cast<char>(image % 10));
      for (int i = 0; i < 3 * 32 * 32; ++i)
        file.put(static_cast<char>((number = number * 1664525 + 1013904223) >> 24));
    }
  }
}

}  // namespace

TEST_CASE("a CNN learns the same whichever way its images lie") {
  const test::TemporaryFolder folder;
  write_cifar10(folder.path(), 16);
  const std::string path = "data.path=" + folder.path().string();
  int evaluated = 0;
  const Settings colours = with(kCnn, {"data.name=cifar10", path.c_str(), "loop.evaluate=false"});
  for (const Settings& model :
       {kCnn, with(kCnn, {"model.batch_norm=true"}), with(kCnn, {"checkpoint.enabled=true"}),
        with(kCnn, {"compile.fuse=true"}), colours}) {
    INFO(model[1] << ", " << model.back());
    TrainingRun first(model), last(with(model, kLast));
    first.finish();
    last.finish();
    CHECK(last.losses() != std::vector<double>(last.losses().size(), last.losses()[0]));
    CHECK(largest_difference_of_losses(first, last) < kRoundedLoss);
    evaluated += first.trace().evaluations().empty() ? 0 : 1;
    REQUIRE(first.trace().evaluations().size() == last.trace().evaluations().size());
    if (!first.trace().evaluations().empty())
      CHECK(first.trace().evaluations()[0].correct == last.trace().evaluations()[0].correct);
  }
  CHECK(evaluated == 4);  // all but the colours
}

TEST_CASE("weights whose channels lie innermost begin as PyTorch's constructor draws them") {
  TrainingRun first(kCnn), last(with(kCnn, kLast));
  const auto weight = [](TrainingRun& run) {
    const auto& buffers = run.program().buffers;
    const auto place = std::ranges::find(buffers, "conv 2.weight", &program::Buffer::name);
    REQUIRE(place != buffers.end());
    return run.numbers().values(static_cast<program::Index>(place - buffers.begin()));
  };
  const host::Results named = weight(first), lying = weight(last);
  constexpr std::size_t kOutputs = 32, kChannels = 16, kPixels = 9;
  REQUIRE(named.size() == kOutputs * kChannels * kPixels);
  std::vector<float> moved;
  for (std::size_t output = 0; output < kOutputs; ++output)
    for (std::size_t pixel = 0; pixel < kPixels; ++pixel)
      for (std::size_t channel = 0; channel < kChannels; ++channel)
        moved.push_back(named[(output * kChannels + channel) * kPixels + pixel]);
  CHECK(std::ranges::equal(lying, moved));
  CHECK_FALSE(std::ranges::equal(lying, named));
}

TEST_CASE("ranks that hold parts of weights have those of the weights as they lie") {
  const Settings ranks{"machine=h200-8", "parallel.world_size=2", "loop.evaluate=false"};
  for (const Settings& model : {with(kCnn, kLast), with(kCnn, with(kLast, {"precision=bf16"}))}) {
    const Settings both = with(model, ranks);
    TrainingRun ddp(with(both, {"parallel.strategy=ddp"}));
    TrainingRun fsdp(with(both, {"parallel.strategy=fsdp"}));
    REQUIRE_FALSE(fsdp.program().timing_only);
    CHECK(whole_weights(fsdp, 2) == ddp.weights());
    ddp.finish();
    fsdp.finish();
    REQUIRE_FALSE(ddp.losses().empty());
    if (model.back() == kLast.back()) CHECK(fsdp.losses() == ddp.losses());
  }
}
