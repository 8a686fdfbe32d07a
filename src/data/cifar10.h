// CIFAR-10 in its binary form: records of a label and 32 x 32 pixels in red, green and blue planes
// (https://www.cs.toronto.edu/~kriz/cifar.html).
//
// Values are normalised by the mean and deviation of each channel over the training images.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "data/dataset.h"
#include "data/images.h"

namespace trainscope::data {

// Appends the records of one file, which messages call `name`. Throws InputError when it is not
// whole records or a label is out of range.
void append_cifar10(std::string_view name, std::string_view bytes, LabelledImages& images);

// Reads data_batch_1.bin … data_batch_5.bin, or test_batch.bin, in a folder, or in its folder
// cifar-10-batches-bin, into which the archive unpacks.
std::unique_ptr<Dataset> open_cifar10(const std::filesystem::path& folder, Split split);

}  // namespace trainscope::data
