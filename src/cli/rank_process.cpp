#include "cli/rank_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <utility>

#include "analysis/runs/rank_run.h"
#include "base/error.h"
#include "base/platform.h"
#include "cuda/device_calls.h"
#include "cuda/own_device.h"
#include "train/parallel/parallel.h"

namespace trainscope::cli {
namespace {

// PyTorch's of a process group over NCCL (pytorch/pytorch#110947).
constexpr std::chrono::minutes kTimeOut{10};

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t end = std::min(list.find(',', from), list.size());
    if (end > from) names.push_back(list.substr(from, end - from));
    from = end + 1;
  }
  return names;
}

}  // namespace

std::optional<cuda::ProcessPlace> place_among_processes() {
  auto place = cuda::process_place([](const char* name) { return std::getenv(name); });
  if (place) place->node = platform::host_name();
  return place;
}

std::string visible_gpu(int local_rank, const char* visible) {
  if (!visible) return std::to_string(local_rank);
  const std::vector<std::string> names = names_in(visible);
  const auto index = static_cast<std::size_t>(local_rank);
  if (names.size() == 1) return names.front();
  if (index < names.size()) return names[index];
  throw InputError(
      fmt::format("CUDA_VISIBLE_DEVICES names {} GPUs, and local rank {} wants one more; start one "
                  "process a GPU",
                  names.size(), local_rank));
}

RunsOfRanks measure_among(const cuda::ProcessPlace& place, const Request& request) {
  const auto& sides = request.sides;
  // Before anything of CUDA is loaded, and before any other thread is there.
  platform::set_variable("CUDA_VISIBLE_DEVICES",
                         visible_gpu(place.local_rank, std::getenv("CUDA_VISIBLE_DEVICES")));
  // For both sides, which are compared.
  if (!std::getenv(cuda::kNcclInOrder) && std::ranges::any_of(sides, [](const auto& side) {
        return train::is_hybrid(side.second) || train::is_grid(side.second) ||
               train::trains_in_stages(side.second);
      }))
    platform::set_variable(cuda::kNcclInOrder, "1");
  const cuda::OpenDevice device = cuda::open_own_device(cuda::kSimulateInstead);
  cuda::Store store(place, kTimeOut);
  RunsOfRanks all;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    const auto& [label, config] = sides[side];
    analysis::RankRun one = analysis::rank_run(label, config, *device, place, store);
    if (one.run) all.runs.push_back(std::make_shared<const analysis::Run>(std::move(*one.run)));
    all.ended_early |= one.ended_early;
    if (!one.ended_early || side + 1 == sides.size()) continue;
    if (one.run)
      std::cerr << "trainscope: " << sides[side + 1].first << " was not carried out: " << label
                << " ended early; start all ranks again\n";
    break;
  }
  return all;
}

}  // namespace trainscope::cli
