#include "stand_in/options.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <thread>

namespace trainscope::stand_in {
namespace {

// CUDA C++ Programming Guide, "CUDA Environment Variables": none behind one that is not there.
std::vector<int> visible(int gpus) {
  std::vector<int> numbers;
  const char* names = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!names) {
    for (int gpu = 0; gpu < gpus; ++gpu) numbers.push_back(gpu);
    return numbers;
  }
  std::istringstream stream(names);
  for (std::string name; std::getline(stream, name, ',');) {
    int number = -1;
    if (!(std::istringstream(name) >> number) || number < 0 || number >= gpus) break;
    numbers.push_back(number);
  }
  return numbers;
}

Options read() {
  Options options;
  const char* words = std::getenv("TRAINSCOPE_STAND_IN");
  std::istringstream stream(words ? words : "");
  for (std::string word; stream >> word;) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "gpus") {
      options.gpus = std::stoi(value);
    } else if (name == "capability") {
      options.capability = std::stoi(value);
    } else if (name == "driver") {
      options.driver = std::stoi(value);
    } else if (name == "profiler") {
      options.profiler = true;
    } else if (name == "cupti") {
      options.cupti = static_cast<unsigned>(std::stoul(value));
    } else if (name == "cut_at") {
      options.cut_at = std::stol(value);
    } else if (name == "memory_mb") {
      options.memory_bytes = static_cast<std::size_t>(std::stoul(value)) << 20;
    } else if (name == "pinned_mb") {
      options.pinned_bytes = static_cast<std::size_t>(std::stoul(value)) << 20;
    } else if (name == "no_peers") {
      options.no_peers = true;
    } else if (name == "nccl") {
      options.nccl = std::stoi(value);
    } else if (name == "no_pools") {
      options.no_pools = true;
    } else if (name == "late") {
      options.late = true;
    } else if (name == "brief") {
      options.brief = true;
    } else if (name == "seed") {
      options.seed = static_cast<unsigned>(std::stoul(value));
    } else if (name == "lost_at") {
      options.lost_at = std::stol(value);
    } else if (name == "dies_at") {
      options.dies_at = std::stol(value);
    } else if (name == "dies_joining") {
      options.dies_joining = true;
    } else if (name == "refuses_joining") {
      options.refuses_joining = true;
    } else if (name == "dies_connecting") {
      options.dies_connecting = true;
    } else if (name == "fixed_sums") {
      options.fixed_sums = true;
    } else if (name == "deaf") {
      options.deaf = true;
    } else if (name == "without") {
      options.without.push_back(value);
    } else {
      std::fprintf(stderr, "TRAINSCOPE_STAND_IN: \"%s\" is not known\n", word.c_str());
      std::abort();
    }
  }
  options.numbers = visible(options.gpus);
  options.gpus = static_cast<int>(options.numbers.size());
  return options;
}

}  // namespace

bool only_takes_time(std::size_t multiplications) {
  constexpr std::size_t kLarge = std::size_t{1} << 22;
  if (!options().brief || multiplications <= kLarge) return false;
  std::this_thread::sleep_for(std::chrono::nanoseconds(2 * multiplications / 10'000));
  return true;
}

const Options& options() {
  static const Options& all = *new Options(read());
  return all;
}

}  // namespace trainscope::stand_in
