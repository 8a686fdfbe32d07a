// What holds for every generated data set, and how one is opened.

#include "data/dataset.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "data/samples.h"

using namespace trainscope::data;
using trainscope::test::read_sample;
using trainscope::test::Sample;

namespace {

const std::vector<std::string> kGenerated = {"digits", "spirals", "text"};

std::unique_ptr<Dataset> open(const std::string& name, Split split = Split::kTrain,
                              std::uint64_t seed = 0) {
  return open_dataset({.name = name, .path = "", .split = split, .seed = seed, .seq_len = 32});
}

// FNV-1a, a word at a time, of the first samples.
std::uint64_t hash_of(const Dataset& dataset, std::int64_t samples) {
  std::uint64_t hash = 0xCBF29CE484222325;
  const auto add = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100000001B3; };
  for (std::int64_t i = 0; i < samples; ++i) {
    const Sample sample = read_sample(dataset, i);
    for (const float value : sample.values) add(std::bit_cast<std::uint32_t>(value));
    for (const std::int64_t token : sample.tokens) add(static_cast<std::uint64_t>(token));
    for (const std::int64_t target : sample.targets) add(static_cast<std::uint64_t>(target));
  }
  return hash;
}

}  // namespace

// The numbers are GCC's on x86-64; Clang's, with and without fused multiply-add, are the same.
TEST_CASE("generated samples are the same bits whatever compiles them") {
  CHECK(hash_of(*open("digits"), 1000) == 0xC4F11DF53284B57C);
  CHECK(hash_of(*open("spirals"), 1000) == 0xDF30D384A87DD9AE);
  CHECK(hash_of(*open("text"), 1000) == 0xF12E6A3678C77CED);
}

TEST_CASE("generated samples fit their shape and classes") {
  for (const std::string& name : kGenerated) {
    for (const Split split : {Split::kTrain, Split::kTest}) {
      const auto dataset = open(name, split);
      const SampleShape shape = dataset->shape();
      REQUIRE(dataset->size() > 100);
      for (std::int64_t index = 0; index < dataset->size(); index += 37) {
        const Sample sample = read_sample(*dataset, index);
        for (const float value : sample.values) REQUIRE(std::abs(value) < 10);
        for (const std::int64_t token : sample.tokens) {
          REQUIRE((token >= 0 && token < shape.classes));
        }
        for (const std::int64_t target : sample.targets) {
          REQUIRE((target >= 0 && target < shape.classes));
        }
      }
    }
  }
}

TEST_CASE("the same seed gives the same samples, in whatever order they are read") {
  for (const std::string& name : kGenerated) {
    const auto one = open(name, Split::kTrain, 7), two = open(name, Split::kTrain, 7);
    const Sample last = read_sample(*two, two->size() - 1);
    CHECK(read_sample(*one, 3) == read_sample(*two, 3));
    CHECK(read_sample(*one, one->size() - 1) == last);
  }
}

TEST_CASE("another seed, split or index gives another sample") {
  for (const std::string& name : kGenerated) {
    const auto train = open(name), test = open(name, Split::kTest);
    const auto seeded = open(name, Split::kTrain, 1);
    for (std::int64_t index = 0; index < 20; ++index) {
      const Sample sample = read_sample(*train, index);
      CHECK_FALSE(sample == read_sample(*test, index));
      CHECK_FALSE(sample == read_sample(*seeded, index));
      CHECK_FALSE(sample == read_sample(*train, index + 1));
    }
  }
}

TEST_CASE("a data set that cannot be opened is refused with what to give") {
  CHECK_THROWS_WITH(open("digit"), Catch::Contains("there is no data set digit (did you mean "
                                                   "digits?); take one of digits, spirals"));
  CHECK_THROWS_WITH(open("mnist"), Catch::Contains("name the folder"));
  CHECK_THROWS_WITH(open("cifar10"), Catch::Contains("name the folder"));
  CHECK_THROWS_WITH(open_dataset({.name = "text", .path = "", .seq_len = 0}),
                    Catch::Contains("give a seq_len from 1 to 4096"));
  CHECK_THROWS_WITH(open_dataset({.name = "text", .path = "", .seq_len = 5000}),
                    Catch::Contains("5000 tokens"));
}
