#include "train/kernels/cublas_workspaces.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine.h"
#include "train/build.h"

namespace trainscope::train {
namespace {

using program::Index;

program::Program built(const std::vector<std::string>& settings) {
  program::Config config;
  config.set_text("steps=3");
  for (const std::string& word : settings) config.set_text(word);
  return build_program(config, machine_of(config));
}

bool is_workspace(const program::Program& program, Index buffer) {
  return program.buffers[buffer].name.starts_with("cuBLAS: ");
}

// Where one is allocated: on which thread, for which stream.
std::vector<std::pair<std::string, Index>> allocations(const program::Program& program) {
  std::vector<std::pair<std::string, Index>> all;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* alloc = std::get_if<program::Alloc>(&command.action);
          alloc && is_workspace(program, alloc->buffer))
        all.emplace_back(thread.name, alloc->stream);
  return all;
}

// Whether a thread multiplies on a stream that it has no workspace for yet.
bool multiplies_without(const program::Program& program) {
  for (const program::Thread& thread : program.threads) {
    std::vector<bool> there(program.streams.size());
    for (const program::Command& command : thread.commands) {
      if (const auto* alloc = std::get_if<program::Alloc>(&command.action);
          alloc && is_workspace(program, alloc->buffer))
        there[alloc->stream] = true;
      if (const auto* launch = std::get_if<program::Launch>(&command.action);
          launch && program.operations[launch->operation].kernel.starts_with("gemm") &&
          !there[launch->stream])
        return true;
    }
  }
  return false;
}

TEST_CASE("cuBLAS works in 8.125 MiB, on Hopper in 32") {
  const auto bytes = [](const char* machine) {
    program::Config config;
    config.set_text("machine=" + std::string(machine));
    return cublas_workspace_bytes(machine_of(config).gpu);
  };
  CHECK(bytes("t4-1") == 8'519'680);
  CHECK(bytes("a100-sxm-1") == 8'519'680);
  CHECK(bytes("h200-1") == 33'554'432);
}

TEST_CASE("forward's thread and autograd's each have a workspace, for good") {
  const program::Program program = built({});
  const std::vector<std::pair<std::string, Index>> expected{{"host main", 0},
                                                            {"autograd thread", 0}};
  CHECK(allocations(program) == expected);
  CHECK_FALSE(multiplies_without(program));
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* free = std::get_if<program::Free>(&command.action))
        CHECK_FALSE(is_workspace(program, free->buffer));
}

TEST_CASE("a product alone has one workspace") {
  CHECK(allocations(built({"workload=gemm"})).size() == 1);
}

TEST_CASE("what does not multiply has no workspace of cuBLAS") {
  CHECK(allocations(built({"workload=copy"})).empty());
  CHECK(allocations(built({"workload=launch"})).empty());
  CHECK(allocations(built({"device=cpu"})).empty());
}

TEST_CASE("convolutions work in cuDNN's workspace, the last layer in cuBLAS's") {
  const program::Program program = built({"model.name=resnet18", "batch_size=8"});
  CHECK(allocations(program).size() == 2);
  CHECK_FALSE(multiplies_without(program));
}

TEST_CASE("each replica's threads have their workspace on its GPU") {
  const program::Program program =
      built({"parallel.strategy=dp", "parallel.world_size=2", "machine=h200-8", "batch_size=64"});
  CHECK(allocations(program).size() == 4);
  CHECK_FALSE(multiplies_without(program));
  std::vector<int> of_gpu(2);
  for (Index buffer = 0; buffer < program.buffers.size(); ++buffer)
    if (is_workspace(program, buffer))
      ++of_gpu.at(static_cast<std::size_t>(program.buffers[buffer].device));
  CHECK(of_gpu == std::vector{2, 2});
}

}  // namespace
}  // namespace trainscope::train
