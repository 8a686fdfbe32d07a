#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "data/cifar10.h"
#include "data/mnist.h"
#include "fuzz/targets.h"

namespace trainscope::fuzz {
namespace {

void check_images(const data::LabelledImages& images, std::size_t values) {
  promise(!images.labels.empty(), "there is an image");
  promise(images.pixels.size() == images.labels.size() * values, "each label has its pixels");
  for (const std::uint8_t label : images.labels) promise(label < 10, "labels are classes");
}

template <typename Read>
void read(std::size_t values, const Read& reader) {
  data::LabelledImages images;
  try {
    images = reader();
  } catch (const Error& error) {
    return check_sentence(error.what());
  }
  check_images(images, values);
}

}  // namespace

// The first byte says where the file of labels begins, counted from the end.
void images(std::string_view bytes) {
  const std::size_t labels = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front());
  const std::string_view both = bytes.substr(bytes.empty() ? 0 : 1);
  const std::size_t cut = both.size() - std::min(labels, both.size());
  read(784, [&] {
    return data::parse_mnist({"images", both.substr(0, cut)}, {"labels", both.substr(cut)});
  });
  read(3072, [&] {
    data::LabelledImages images;
    data::append_cifar10("batch", bytes, images);
    return images;
  });
}

}  // namespace trainscope::fuzz
