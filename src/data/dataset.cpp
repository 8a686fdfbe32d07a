#include "data/dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/suggest.h"
#include "data/cifar10.h"
#include "data/digits.h"
#include "data/mnist.h"
#include "data/spirals.h"
#include "data/text.h"

namespace trainscope::data {
namespace {

const std::string& needed_path(const DatasetOptions& options) {
  if (options.path.empty())
    throw InputError(
        fmt::format("{} is read from files; name the folder that holds them, or take "
                    "the data set digits, which needs none",
                    options.name));
  return options.path;
}

}  // namespace

const std::vector<std::string>& dataset_names() {
  static const std::vector<std::string> names = {"digits", "spirals", "text", "mnist", "cifar10"};
  return names;
}

std::unique_ptr<Dataset> open_dataset(const DatasetOptions& options) {
  const auto& [name, path, split, seed, seq_len] = options;
  if (name == "digits") return std::make_unique<DigitsDataset>(split, seed);
  if (name == "spirals") return std::make_unique<SpiralsDataset>(split, seed);
  if (name == "text") return std::make_unique<TextDataset>(split, seed, seq_len);
  if (name == "mnist") return open_mnist(needed_path(options), split);
  if (name == "cifar10") return open_cifar10(needed_path(options), split);
  throw InputError(fmt::format("there is no data set {}{}; take one of {}", name,
                               did_you_mean(name, dataset_names()),
                               fmt::join(dataset_names(), ", ")));
}

}  // namespace trainscope::data
