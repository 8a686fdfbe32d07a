// Carries out a grid of blocks of threads on the processor, one thread at a time.
//
// Blocks follow one another. A thread of a block runs until it ends or waits for others (a barrier,
// an exchange within its warp); then another goes on. So a run is deterministic. A seed puts blocks
// and threads in another order, also after every barrier: a kernel that forgets one gives other
// results then.
//
// What a device would leave undefined is an error here, a trainscope::Error that names the kernel,
// the place in the source and the thread: a barrier that some threads of the block do not reach or
// reach at another line, a warp's exchange that a named lane never joins or reads from a lane not
// named, a vector load that is not aligned, more threads or shared memory than a block may have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>

namespace trainscope::emulator {

struct Index3 {
  unsigned x = 0;
  unsigned y = 0;
  unsigned z = 0;
};

struct Size3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  std::size_t volume() const { return std::size_t{x} * y * z; }
};

using Source = std::source_location;

struct Grid {
  const char* kernel;
  Size3 blocks;
  Size3 threads;  // of a block
  std::size_t shared_bytes = 0;
  std::uint64_t seed = 0;  // of the order; 0 is the order of the indices
};

// Calls `thread` once for each thread of the grid.
void run(const Grid& grid, const std::function<void()>& thread);

// How many grids were run by the calling thread of the processor.
std::uint64_t grids_run();

// For kernels, what the language gives them (language.h). Each speaks of the thread that runs.

struct Place {
  Index3 thread;
  Index3 block;
  Size3 threads;
  Size3 blocks;
};

// The thread that runs now. Set by run(), for the calling thread of the processor alone.
inline constinit thread_local const Place* running_place = nullptr;

// Dynamic shared memory: as long as the launch says, and full of NaNs when a block begins.
void* dynamic_shared();

// What the threads of a block say at a barrier: how many hold.
int barrier(bool holds, const Source& source);

// An exchange within a warp: every lane of `mask` joins with a value.
enum class Exchange { kRead, kBallot };
struct WarpCall {
  Exchange exchange = Exchange::kRead;
  unsigned mask = 0;
  std::uint64_t value = 0;
  int from = 0;  // kRead: the lane whose value is wanted
  Source source;
};
// The wanted value, or a bit for each lane whose value is not 0.
std::uint64_t exchange(const WarpCall& call);

// The number of the running thread in its warp.
int lane();

// A clock: how often it was read in this launch.
std::uint64_t tick();

// Throws what a kernel did wrong, with kernel, thread and place.
[[noreturn]] void fail(const char* what, const Source& source);

}  // namespace trainscope::emulator
