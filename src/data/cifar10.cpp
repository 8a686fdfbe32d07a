#include "data/cifar10.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace trainscope::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSide = 32;
constexpr std::size_t kRecord = 1 + 3 * kSide * kSide;
constexpr int kClasses = 10;
constexpr std::size_t kLimit = std::size_t{64} << 20;  // twice a file of 10,000 records

// Of the 50,000 training images, to four digits.
constexpr Normalization kNormalization = {{0.4914F, 0.4822F, 0.4465F}, {0.2470F, 0.2435F, 0.2616F}};

std::vector<std::string> file_names(Split split) {
  if (split == Split::kTest) return {"test_batch.bin"};
  std::vector<std::string> names;
  for (int batch = 1; batch <= 5; ++batch) names.push_back(fmt::format("data_batch_{}.bin", batch));
  return names;
}

fs::path with_batches(const fs::path& folder) {
  const fs::path unpacked = folder / "cifar-10-batches-bin";
  std::error_code ignored;
  return fs::is_directory(unpacked, ignored) ? unpacked : folder;
}

}  // namespace

void append_cifar10(std::string_view name, std::string_view bytes, LabelledImages& images) {
  if (bytes.empty() || bytes.size() % kRecord != 0)
    throw InputError(fmt::format(
        "{}: has {} bytes, which is no whole number of CIFAR-10 records of {} bytes; copy it again",
        name, bytes.size(), kRecord));
  for (std::size_t first = 0; first < bytes.size(); first += kRecord) {
    const auto label = static_cast<std::uint8_t>(bytes[first]);
    if (label >= kClasses)
      throw InputError(fmt::format(
          "{}: the label of record {} is {}, but classes go from 0 to {}; copy it again", name,
          first / kRecord, label, kClasses - 1));
    images.labels.push_back(label);
    const std::string_view pixels = bytes.substr(first + 1, kRecord - 1);
    images.pixels.insert(images.pixels.end(), pixels.begin(), pixels.end());
  }
}

std::unique_ptr<Dataset> open_cifar10(const fs::path& folder, Split split) {
  LabelledImages images;
  for (const std::string& name : file_names(split)) {
    const fs::path path = with_batches(folder) / name;
    std::error_code ignored;
    if (!fs::exists(path, ignored))
      throw InputError(path.string() +
                       ": there is no such file; name the folder with the files of CIFAR-10's "
                       "binary version");
    append_cifar10(path.string(), read_file(path, kLimit), images);
  }
  return std::make_unique<ImageDataset>(SampleShape{3, kSide, kSide, 0, 1, kClasses},
                                        kNormalization, std::move(images));
}

}  // namespace trainscope::data
