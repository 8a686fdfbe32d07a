// MNIST as its four IDX files, or any other data set that has their form: 28 x 28 grey images of
// ten classes.
//
// The form is the one of http://yann.lecun.com/exdb/mnist: big-endian words (a magic number, then
// the counts), then bytes. Values are normalised by MNIST's own mean and deviation, 0.1307 and
// 0.3081, as in PyTorch's MNIST example.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "data/dataset.h"
#include "data/images.h"

namespace trainscope::data {

// A file's content and its name for messages.
struct NamedBytes {
  std::string_view name;
  std::string_view bytes;
};

// The images of one IDX file with the labels of another. Throws InputError naming the file that is
// not what it should be.
LabelledImages parse_mnist(const NamedBytes& images, const NamedBytes& labels);

// Reads `{train,t10k}-{images-idx3,labels-idx1}-ubyte` in a folder, each plain or with `.gz`.
std::unique_ptr<Dataset> open_mnist(const std::filesystem::path& folder, Split split);

}  // namespace trainscope::data
