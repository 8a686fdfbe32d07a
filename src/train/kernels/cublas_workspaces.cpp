#include "train/kernels/cublas_workspaces.h"

#include <set>

#include "train/writer.h"

namespace trainscope::train {
namespace {

using program::Command;
using program::Index;

// Convolutions are cuDNN's, also those that its search tries, which have no sides.
bool calls_cublas(const program::Operation& operation) {
  return operation.kind == program::OperationKind::kGemm && operation.k > 0 &&
         !std::holds_alternative<program::Convolution>(operation.function);
}

}  // namespace

// :4096:2:16:8, in KiB, and 32 MiB on Hopper (aten/src/ATen/cuda/CublasHandlePool.cpp of PyTorch
// 2.11; 8,519,680 B on an A10G: pytorch#95668).
std::int64_t cublas_workspace_bytes(const machine::Gpu& gpu) {
  constexpr std::int64_t kKibi = 1024;
  return gpu.compute_capability == 9.0 ? 8 * 4096 * kKibi : (2 * 4096 + 8 * 16) * kKibi;
}

void add_cublas_workspaces(program::Program& program, const machine::Gpu& gpu) {
  for (program::Thread& thread : program.threads) {
    std::set<Index> there;  // by stream
    for (std::size_t i = 0; i < thread.commands.size(); ++i) {
      const Command& command = thread.commands[i];
      const auto* launch = std::get_if<program::Launch>(&command.action);
      if (!launch || !calls_cublas(program.operations[launch->operation])) continue;
      if (!there.insert(launch->stream).second) continue;
      const Index stream = launch->stream;
      const Index space = add_buffer(program, "cuBLAS: " + thread.name, cublas_workspace_bytes(gpu),
                                     program::MemoryKind::kDevice, program::Role::kWorkspace);
      program.buffers[space].device = program.streams[stream].device;
      Command alloc{program::Alloc{space, stream}, program::kNoIndex, command.line, command.phase};
      thread.commands.insert(thread.commands.begin() + static_cast<std::ptrdiff_t>(i),
                             std::move(alloc));
    }
  }
}

}  // namespace trainscope::train
