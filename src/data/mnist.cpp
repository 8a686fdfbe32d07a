#include "data/mnist.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

#include "base/error.h"
#include "data/unpacked_file.h"

namespace trainscope::data {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kImagesMagic = 0x00000803;  // unsigned bytes, three dimensions
constexpr std::uint32_t kLabelsMagic = 0x00000801;  // unsigned bytes, one dimension
constexpr std::uint32_t kSide = 28;
constexpr int kClasses = 10;
constexpr std::size_t kLimit = std::size_t{256} << 20;  // five times the largest file
constexpr Normalization kNormalization = {{0.1307F, 0, 0}, {0.3081F, 1, 1}};

// The big-endian word number `index`.
std::uint32_t word(const NamedBytes& file, std::size_t index) {
  if (file.bytes.size() < 4 * (index + 1))
    throw InputError(fmt::format("{}: ends after {} bytes, within its header; copy it again",
                                 file.name, file.bytes.size()));
  std::uint32_t value = 0;
  for (std::size_t i = 4 * index; i < 4 * (index + 1); ++i)
    value = value << 8 | static_cast<std::uint8_t>(file.bytes[i]);
  return value;
}

void check_magic(const NamedBytes& file, std::uint32_t magic, std::string_view what) {
  const std::uint32_t found = word(file, 0);
  if (found != magic)
    throw InputError(
        fmt::format("{}: begins with 0x{:08X}, but a file of MNIST {} begins with 0x{:08X}; put "
                    "the right file there",
                    file.name, found, what, magic));
}

// What stands behind the header: `count` items of `item` bytes, no less and no more.
std::string_view items(const NamedBytes& file, std::size_t header, std::size_t item,
                       std::string_view what) {
  const std::uint64_t count = word(file, 1);
  const std::uint64_t expected = header + count * item;
  if (count == 0)
    throw InputError(fmt::format("{}: holds no {}; put the right file there", file.name, what));
  if (file.bytes.size() != expected)
    throw InputError(fmt::format("{}: has {} bytes, but its {} {} take {}; copy it again",
                                 file.name, file.bytes.size(), count, what, expected));
  return file.bytes.substr(header);
}

std::string_view images_in(const NamedBytes& file) {
  check_magic(file, kImagesMagic, "images");
  const std::uint32_t height = word(file, 2), width = word(file, 3);
  if (height != kSide || width != kSide)
    throw InputError(fmt::format("{}: holds images of {} x {} pixels; give ones of {} x {}",
                                 file.name, height, width, kSide, kSide));
  return items(file, 16, std::size_t{kSide} * kSide, "images");
}

std::string_view labels_in(const NamedBytes& file) {
  check_magic(file, kLabelsMagic, "labels");
  const std::string_view labels = items(file, 8, 1, "labels");
  const auto wrong = std::find_if(labels.begin(), labels.end(), [](char label) {
    return static_cast<std::uint8_t>(label) >= kClasses;
  });
  if (wrong != labels.end())
    throw InputError(fmt::format("{}: label {} is {}, but classes go from 0 to {}; copy it again",
                                 file.name, wrong - labels.begin(),
                                 static_cast<std::uint8_t>(*wrong), kClasses - 1));
  return labels;
}

fs::path plain_or_packed(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const char* ending : {"", ".gz"}) {
    fs::path path = folder / (name + ending);
    if (fs::exists(path, ignored)) return path;
  }
  throw InputError(
      fmt::format("{}: there is no such file, nor one that ends in .gz; name the folder with "
                  "MNIST's four files",
                  (folder / name).string()));
}

}  // namespace

LabelledImages parse_mnist(const NamedBytes& images, const NamedBytes& labels) {
  const std::string_view pixels = images_in(images), classes = labels_in(labels);
  if (word(images, 1) != classes.size())
    throw InputError(
        fmt::format("{}: has {} labels for the {} images of {}; take both from one "
                    "data set",
                    labels.name, classes.size(), word(images, 1), images.name));
  return {{pixels.begin(), pixels.end()}, {classes.begin(), classes.end()}};
}

std::unique_ptr<Dataset> open_mnist(const fs::path& folder, Split split) {
  const std::string part = split == Split::kTrain ? "train" : "t10k";
  const fs::path images = plain_or_packed(folder, part + "-images-idx3-ubyte");
  const fs::path labels = plain_or_packed(folder, part + "-labels-idx1-ubyte");
  const std::string images_name = images.string(), labels_name = labels.string();
  const std::string image_bytes = read_unpacked(images, kLimit);
  const std::string label_bytes = read_unpacked(labels, kLimit);
  return std::make_unique<ImageDataset>(
      SampleShape{1, kSide, kSide, 0, 1, kClasses}, kNormalization,
      parse_mnist({images_name, image_bytes}, {labels_name, label_bytes}));
}

}  // namespace trainscope::data
