#include "train/loop/foreach.h"

#include <algorithm>

#include "train/kernels/kernels.h"
#include "train/kernels/launch_shapes.h"

namespace trainscope::train {
namespace {

constexpr std::int64_t kMostBlocks = 320;
constexpr std::int64_t kMostTensors[] = {110, 64, 48, 36, 30};  // by depth

double bytes_of(const Foreach& op, program::ElementType type, std::int64_t elements) {
  return static_cast<double>(elements * op.touched * program::size_of(type));
}

}  // namespace

std::vector<program::Operation> foreach_launches(const Foreach& op, program::ElementType type,
                                                 const std::vector<std::int64_t>& sizes) {
  std::vector<program::Operation> launches;
  std::int64_t tensors = 0, blocks = 0, elements = 0;
  const auto launch = [&] {
    if (elements == 0) return;
    launches.push_back(pointwise(op.kernel, op.framework, program::OperationKind::kOptimizer,
                                 elements, op.flops_each, bytes_of(op, type, elements)));
    launches.back().type = type;
    launches.back().blocks = blocks;
    launches.back().threads = 512;
    tensors = blocks = elements = 0;
  };
  for (const std::int64_t size : sizes) {
    ++tensors;
    for (std::int64_t done = 0; done < size; done += kForeachChunk) {
      ++blocks;
      elements += std::min(kForeachChunk, size - done);
      const bool last_chunk = done + kForeachChunk >= size;
      if (blocks == kMostBlocks || (last_chunk && tensors == kMostTensors[op.depth - 1])) {
        launch();
        if (!last_chunk) tensors = 1;  // goes on with the rest of this one
      }
    }
  }
  launch();
  return launches;
}

program::Operation launch_of_one(const Foreach& op, program::ElementType type, std::int64_t size) {
  const auto without = [](std::string name, std::string_view prefix) {
    return name.erase(name.find(prefix), prefix.size());
  };
  program::Operation launch =
      pointwise(without(op.kernel, "foreach_"), without(op.framework, "_foreach_"),
                program::OperationKind::kOptimizer, size, op.flops_each, bytes_of(op, type, size));
  launch.type = type;
  return launch;
}

}  // namespace trainscope::train
