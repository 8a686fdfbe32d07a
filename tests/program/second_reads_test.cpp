#include "program/second_reads.h"

#include <catch2/catch.hpp>

using namespace trainscope::program;

namespace {

// Of FP32 images.
double passes(BatchNorm norm) {
  const std::int64_t images = 4 * norm.batch * norm.channels * norm.height * norm.width;
  return second_read(norm, images).bytes / static_cast<double>(images);
}

}  // namespace

TEST_CASE("batch norm reads large images a second time, forward one operand, backward two") {
  BatchNorm norm{32, 64, 56, 56};
  CHECK(passes(norm) == 1);
  norm.part = Part::kInputGradient;
  CHECK(passes(norm) == 2);
  norm.training = false;
  CHECK(passes(norm) == 0);
}

TEST_CASE("log_softmax reads rows of more than a warp's again: twice, and once backward") {
  const auto passes = [](LogSoftmax softmax) {
    const std::int64_t bytes = 4 * softmax.rows * softmax.classes;
    return second_read(softmax, bytes).bytes / static_cast<double>(bytes);
  };
  CHECK(passes({512, 1024}) == 0);
  CHECK(passes({512, 1025}) == 2);
  CHECK(passes({512, 50257, Part::kInputGradient}) == 1);
  CHECK(passes({512, 1024, Part::kInputGradient}) == 0);
}

TEST_CASE("a channel that fits in a block's registers is read once") {
  CHECK(passes({32, 1024, 14, 14}) == 0);
  CHECK(passes({10, 8, 32, 32}) == 0);  // 512 threads of 20 numbers
  CHECK(passes({11, 8, 32, 32}) == 1);
  CHECK(passes({7, 8, 32, 32, false, true, Part::kInputGradient}) == 0);  // of 14
  CHECK(passes({8, 8, 32, 32, false, true, Part::kInputGradient}) == 2);
  const SecondRead half = second_read({20, 8, 32, 32}, 2 * 20 * 8 * 32 * 32);
  CHECK(half.bytes == 0);
}
