// `trainscope sampler`: the indices that one rank reads in one epoch, one a line or as JSON.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "data/sampler.h"

namespace trainscope::cli {
namespace {

constexpr std::int64_t kLongest = 100'000'000;
constexpr std::int64_t kMostReplicas = 1'000'000;

void check_range(std::string_view option, std::int64_t value, std::int64_t least,
                 std::int64_t most) {
  if (value < least || value > most)
    throw InputError(
        fmt::format("{} is {}; give a number from {} to {}", option, value, least, most));
}

data::DistributedSampler sampler_of(const SamplerOptions& options) {
  if (options.length > kLongest)
    throw InputError(fmt::format(
        "--length is {}; give a number from 1 to {}, whose order and one rank's part of it take up "
        "to 1.6 GB of memory",
        options.length, kLongest));
  check_range("--length", options.length, 1, kLongest);
  check_range("--replicas", options.num_replicas, 1, kMostReplicas);
  if (options.num_replicas == 1 && options.rank != 0)
    throw InputError(
        fmt::format("--rank is {}, but one replica has rank 0 alone; say how many "
                    "there are with --replicas",
                    options.rank));
  check_range("--rank", options.rank, 0, options.num_replicas - 1);
  check_range("--epoch", options.epoch, 0, 1'000'000'000);
  data::DistributedSampler sampler({.length = options.length,
                                    .num_replicas = options.num_replicas,
                                    .rank = options.rank,
                                    .shuffle = !options.no_shuffle,
                                    .seed = options.seed,
                                    .drop_last = options.drop_last});
  sampler.set_epoch(options.epoch);
  return sampler;
}

// A part of them at a time. Between two stands `between`.
void print_all(std::span<const std::int64_t> indices, std::string_view between) {
  constexpr std::size_t kAtOnce = 1 << 16;
  while (!indices.empty() && std::cout) {
    const auto some = indices.first(std::min(kAtOnce, indices.size()));
    indices = indices.subspan(some.size());
    fmt::memory_buffer text;
    fmt::format_to(std::back_inserter(text), "{}", fmt::join(some, between));
    if (!indices.empty()) text.append(between);
    std::cout.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
}

void print_json(const SamplerOptions& options, std::span<const std::int64_t> indices) {
  std::cout << fmt::format(
      R"({{"length": {}, "replicas": {}, "rank": {}, "seed": {}, "epoch": {}, "shuffle": {}, )"
      R"("drop_last": {}, "indices": [)",
      options.length, options.num_replicas, options.rank, options.seed, options.epoch,
      !options.no_shuffle, options.drop_last);
  print_all(indices, ", ");
  std::cout << "]}\n";
}

void print_lines(std::span<const std::int64_t> indices) {
  print_all(indices, "\n");
  if (!indices.empty()) std::cout << "\n";
}

}  // namespace

int sampler_command(const SamplerOptions& options) {
  const std::vector<std::int64_t> indices = sampler_of(options).indices();
  if (options.json) {
    print_json(options, indices);
  } else {
    print_lines(indices);
  }
  return 0;
}

}  // namespace trainscope::cli
