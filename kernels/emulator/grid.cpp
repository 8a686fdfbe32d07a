#include "kernels/emulator/grid.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kernels/emulator/block.h"

namespace trainscope::emulator {
namespace {

// The block that the calling thread of the processor runs, so that a kernel's calls find it.
constinit thread_local Block* running_block = nullptr;

constinit thread_local std::uint64_t grids = 0;

class Running {
 public:
  explicit Running(Block& block) : before_(std::exchange(running_block, &block)) {}
  ~Running() {
    running_block = before_;
    running_place = nullptr;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Block* before_;
};

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": what 7.5 and later
// all have.
constexpr std::size_t kMostThreads = 1024;
constexpr unsigned kMostDeep = 64;       // threads in z
constexpr unsigned kMostBlocks = 65535;  // in y and z
constexpr std::size_t kMostShared = 65536;

void require_fit(const Grid& grid) {
  const auto refuse = [&](const char* what) {
    throw Error(Fault::kInternal, fmt::format("kernel {}: {}", grid.kernel, what));
  };
  const std::size_t threads = grid.threads.volume();
  if (threads == 0 || threads > kMostThreads || grid.threads.z > kMostDeep) {
    refuse("a block has 1 to 1024 threads, at most 64 deep");
  }
  if (grid.blocks.volume() == 0) refuse("a grid has at least one block");
  if (grid.blocks.x > 0x7fffffffU || grid.blocks.y > kMostBlocks || grid.blocks.z > kMostBlocks) {
    refuse("a grid has at most 2147483647 blocks in x, 65535 in y and z");
  }
  if (grid.shared_bytes > kMostShared) refuse("a block has at most 64 KiB of shared memory");
}

std::vector<std::size_t> block_order(std::size_t count, Order& order) {
  std::vector<std::size_t> blocks(count);
  std::iota(blocks.begin(), blocks.end(), std::size_t{0});
  for (std::size_t i = 0; i < count; ++i) std::swap(blocks[i], blocks[i + order.pick(count - i)]);
  return blocks;
}

}  // namespace

void run(const Grid& grid, const std::function<void()>& thread) {
  require_fit(grid);
  ++grids;
  Order order(grid.seed);
  Block block(grid, thread, order);
  const Running running(block);
  for (const std::size_t number : block_order(grid.blocks.volume(), order)) {
    const std::size_t row = number / grid.blocks.x;
    block.run({static_cast<unsigned>(number % grid.blocks.x),
               static_cast<unsigned>(row % grid.blocks.y),
               static_cast<unsigned>(row / grid.blocks.y)});
  }
}

std::uint64_t grids_run() {
  return grids;
}

void* dynamic_shared() {
  return running_block->shared();
}

int barrier(bool holds, const Source& source) {
  return running_block->barrier(holds, source);
}

std::uint64_t exchange(const WarpCall& call) {
  return running_block->exchange(call);
}

int lane() {
  return running_block->lane();
}

std::uint64_t tick() {
  return running_block->tick();
}

void fail(const char* what, const Source& source) {
  throw Error(Fault::kInternal, fmt::format("{}: {}", running_block->where(source), what));
}

}  // namespace trainscope::emulator
