// MNIST and CIFAR-10 files: read when they are right, refused by name when they are not.

#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "data/dataset.h"
#include "data/mnist.h"
#include "data/samples.h"

using namespace trainscope::data;
using trainscope::test::read_sample;
using trainscope::test::Sample;
using trainscope::test::TemporaryFolder;

namespace {

const std::string kImages = "t10k-images-idx3-ubyte", kLabels = "t10k-labels-idx1-ubyte";

std::string word(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

// Image i is the bytes 10 i, with 255 in its last pixel.
std::string images_file(std::uint32_t count, std::uint32_t magic = 0x803,
                        std::uint32_t width = 28) {
  std::string bytes = word(magic) + word(count) + word(28) + word(width);
  for (std::uint32_t i = 0; i < count; ++i)
    bytes += std::string(783, static_cast<char>(10 * i)) + '\xFF';
  return bytes;
}

std::string labels_file(const std::string& labels) {
  return word(0x801) + word(static_cast<std::uint32_t>(labels.size())) + labels;
}

void write_packed(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  const gzFile file = gzopen((folder.path() / name).string().c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) ==
          static_cast<int>(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
}

std::unique_ptr<Dataset> open(const TemporaryFolder& folder, const char* name,
                              Split split = Split::kTest) {
  return open_dataset({.name = name, .path = folder.path().string(), .split = split});
}

void check_mnist(const Dataset& dataset) {
  REQUIRE(dataset.size() == 3);
  CHECK(dataset.shape() == SampleShape{1, 28, 28, 0, 1, 10});
  const Sample sample = read_sample(dataset, 2);
  CHECK(sample.targets[0] == 9);
  CHECK(sample.values.front() == Approx((20 / 255.0 - 0.1307) / 0.3081));
  CHECK(sample.values.back() == Approx((1 - 0.1307) / 0.3081));
}

// The files of a test folder, one of them replaced, are refused by that one's name.
void refuses_mnist(const std::string& images, const std::string& labels, const std::string& part) {
  const TemporaryFolder folder;
  folder.write(kImages, images);
  folder.write(kLabels, labels);
  CHECK_THROWS_WITH(open(folder, "mnist"), Catch::Contains(part));
}

std::string record(int label, char red, char green, char blue) {
  return static_cast<char>(label) + std::string(1024, red) + std::string(1024, green) +
         std::string(1024, blue);
}

}  // namespace

TEST_CASE("MNIST is read, plain or packed") {
  const TemporaryFolder folder;
  folder.write(kImages, images_file(3));
  write_packed(folder, kLabels + ".gz", labels_file({5, 0, 9}));
  check_mnist(*open(folder, "mnist"));
  write_packed(folder, "train-images-idx3-ubyte.gz", images_file(3));
  folder.write("train-labels-idx1-ubyte", labels_file({1, 2, 9}));
  check_mnist(*open(folder, "mnist", Split::kTrain));
}

TEST_CASE("MNIST files that are missing are asked for by name") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(open(folder, "mnist"),
                    Catch::Contains(kImages + ": there is no such file, nor one that ends in .gz"));
  folder.write(kImages, images_file(3));
  CHECK_THROWS_WITH(open(folder, "mnist"), Catch::Contains(kLabels + ": there is no such file"));
  std::filesystem::create_directory(folder.path() / kLabels);
  CHECK_THROWS_WITH(open(folder, "mnist"), Catch::Contains(kLabels + ": this is a folder"));
}

TEST_CASE("MNIST files that are not what they should be are refused by name") {
  const std::string images = images_file(3), labels = labels_file({5, 0, 9});
  refuses_mnist("", labels, kImages + ": ends after 0 bytes");
  refuses_mnist(images.substr(0, 10), labels, kImages + ": ends after 10 bytes, within its header");
  refuses_mnist(images.substr(0, images.size() - 1), labels,
                kImages + ": has 2367 bytes, but its 3 images take 2368");
  refuses_mnist(images + "x", labels, kImages + ": has 2369 bytes");
  refuses_mnist(images_file(3, 0x801), labels, kImages + ": begins with 0x00000801, but");
  refuses_mnist(images_file(3, 0x803, 32), labels, kImages + ": holds images of 28 x 32 pixels");
  refuses_mnist(images_file(0), labels, kImages + ": holds no images");
  refuses_mnist(word(0x803) + word(0xFFFFFFFF) + word(28) + word(28), labels,
                "its 4294967295 images take 3367254359296");
  refuses_mnist(images, labels_file({5, 10, 9}), kLabels + ": label 1 is 10, but");
  refuses_mnist(images, labels_file({5, -1, 9}), kLabels + ": label 1 is 255, but");
  refuses_mnist(images, labels_file({5, 9}), kLabels + ": has 2 labels for the 3 images of");
  refuses_mnist(images, images, kLabels + ": begins with 0x00000803, but");
  refuses_mnist(images, labels.substr(0, 9), kLabels + ": has 9 bytes, but its 3 labels take 11");
}

TEST_CASE("a packed file that is cut off or damaged is refused by name") {
  const TemporaryFolder folder;
  folder.write(kImages, images_file(3));
  write_packed(folder, kLabels + ".gz", labels_file(std::string(20'000, 3)));
  const std::filesystem::path packed = folder.path() / (kLabels + ".gz");
  const auto size = std::filesystem::file_size(packed);
  std::filesystem::resize_file(packed, size - 10);
  CHECK_THROWS_WITH(open(folder, "mnist"), Catch::Contains(".gz: the gzip file ends early"));
  write_packed(folder, kLabels + ".gz", labels_file(std::string(20'000, 3)));
  std::fstream(packed, std::ios::in | std::ios::out | std::ios::binary).seekp(20) << "damaged!";
  CHECK_THROWS_WITH(open(folder, "mnist"), Catch::Contains(".gz: the gzip file is damaged"));
}

TEST_CASE("CIFAR-10 is read, from its folder or the one around it") {
  const TemporaryFolder folder;
  folder.write("test_batch.bin", record(3, 0, '\x7F', '\xFF') + record(9, 1, 2, 3));
  const auto dataset = open(folder, "cifar10");
  REQUIRE(dataset->size() == 2);
  CHECK(dataset->shape() == SampleShape{3, 32, 32, 0, 1, 10});
  const Sample sample = read_sample(*dataset, 0);
  CHECK(sample.targets[0] == 3);
  CHECK(sample.values[0] == Approx(-0.4914 / 0.2470));
  CHECK(sample.values[1024] == Approx((127 / 255.0 - 0.4822) / 0.2435));
  CHECK(sample.values[3071] == Approx((1 - 0.4465) / 0.2616));
  CHECK(read_sample(*dataset, 1).targets[0] == 9);

  std::filesystem::create_directory(folder.path() / "cifar-10-batches-bin");
  for (int batch = 1; batch <= 5; ++batch)
    folder.write("cifar-10-batches-bin/data_batch_" + std::to_string(batch) + ".bin",
                 record(batch, 0, 0, 0));
  const auto train = open(folder, "cifar10", Split::kTrain);
  REQUIRE(train->size() == 5);
  for (std::int64_t i = 0; i < 5; ++i) CHECK(read_sample(*train, i).targets[0] == i + 1);
}

TEST_CASE("CIFAR-10 files that are not what they should be are refused by name") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(open(folder, "cifar10"), Catch::Contains("test_batch.bin: there is no such"));
  folder.write("test_batch.bin", record(3, 0, 0, 0).substr(1));
  CHECK_THROWS_WITH(open(folder, "cifar10"),
                    Catch::Contains("test_batch.bin: has 3072 bytes, which is no whole number"));
  folder.write("test_batch.bin", "");
  CHECK_THROWS_WITH(open(folder, "cifar10"), Catch::Contains("test_batch.bin: has 0 bytes"));
  folder.write("test_batch.bin", record(3, 0, 0, 0) + record(10, 0, 0, 0));
  CHECK_THROWS_WITH(open(folder, "cifar10"),
                    Catch::Contains("test_batch.bin: the label of record 1 is 10, but"));
}

TEST_CASE("a path that no folder can have is refused like one that is not there") {
  for (const char* name : {"mnist", "cifar10"}) {
    CHECK_THROWS_AS(open_dataset({.name = name, .path = std::string(5000, 'x')}),
                    trainscope::InputError);
    CHECK_THROWS_AS(open_dataset({.name = name, .path = "/dev/null"}), trainscope::InputError);
  }
}
