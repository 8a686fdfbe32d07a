// What a model learns from: samples that are read by their index.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trainscope::data {

// What one sample looks like: an image, a point (two channels of 1 x 1) or a piece of text.
struct SampleShape {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t tokens = 0;   // of a text; it has no values
  std::int64_t targets = 1;  // classes to be told: one, or one behind each token
  std::int64_t classes = 10;

  std::int64_t values() const { return channels * height * width; }
  bool operator==(const SampleShape&) const = default;
};

// Reading is const and may be done by several threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual const SampleShape& shape() const = 0;
  virtual std::int64_t size() const = 0;  // samples

  // Fills one sample, 0 <= index < size(). The spans are exactly as long as the shape says: values
  // (channel by channel, row by row, normalised), token ids, target classes.
  virtual void read(std::int64_t index, std::span<float> values, std::span<std::int64_t> tokens,
                    std::span<std::int64_t> targets) const = 0;
};

enum class Split : std::uint8_t { kTrain, kTest };

struct DatasetOptions {
  std::string name;  // one of dataset_names()
  std::string path;  // of mnist and cifar10: the folder with the files; else unused
  Split split = Split::kTrain;
  std::uint64_t seed = 0;     // of generated data
  std::int64_t seq_len = 64;  // of text: tokens of a sample
};

const std::vector<std::string>& dataset_names();

// Throws InputError for a name that there is not, and for files that are missing or damaged.
std::unique_ptr<Dataset> open_dataset(const DatasetOptions& options);

}  // namespace trainscope::data
