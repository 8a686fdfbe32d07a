// Kernels: of kernels/, which the emulator runs in their turn, and of libraries that are loaded
// from code, which here is the number of a text that tests/cuda/kept_chains.inc keeps.

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "cuda/kept_texts.h"
#include "kernels/device.h"
#include "stand_in/calls.h"
#include "stand_in/machine.h"
#include "stand_in/options.h"

using namespace trainscope;

struct CUlib_st {
  std::unique_ptr<cuda::ChainModule> module;
  std::list<CUkern_st*> kernels;
};
struct CUkern_st {
  CUlib_st* library;
  std::string name;
  std::set<int> gpus = {};  // that it is loaded on
};

namespace {

// Those that were got from a library that is still loaded.
struct Loaded {
  std::mutex mutex;
  std::list<std::unique_ptr<CUkern_st>> kernels;
  CUkern_st* find(const void* kernel) {
    const std::lock_guard held(mutex);
    const auto found = std::find_if(kernels.begin(), kernels.end(),
                                    [&](const auto& one) { return one.get() == kernel; });
    return found == kernels.end() ? nullptr : found->get();
  }
  // On the thread's GPU; false: it is already.
  bool load(CUkern_st& kernel) {
    const std::lock_guard held(mutex);
    return kernel.gpus.insert(stand_in::thread_state().gpu).second;
  }
};
Loaded& loaded() {
  static Loaded& all = *new Loaded;
  return all;
}

}  // namespace

// Launches are calls of the runtime where there is one.
void kernels::put_on_stream(void* stream, const emulator::Grid& grid,
                            std::function<void()> thread) {
  const std::string name = grid.kernel;
  const auto size = [](const emulator::Size3& of) { return std::array{of.x, of.y, of.z}; };
  stand_in::Work work{.kind = stand_in::WorkKind::kKernel,
                      .name = name,
                      .run = {},
                      .blocks = size(grid.blocks),
                      .threads = size(grid.threads),
                      .shared_bytes = grid.shared_bytes};
  if (!stand_in::options().brief)
    work.run = [name, own = emulator::Grid(grid), thread = std::move(thread)] {
      emulator::Grid named = own;
      named.kernel = name.c_str();
      emulator::run(named, thread);
    };
  require_launched(name.c_str(), stand_in::call("cudaLaunchKernel", [&] {
                     return stand_in::machine().put(static_cast<cudaStream_t>(stream),
                                                    std::move(work));
                   }));
}

#define CALL(name, ...) return stand_in::call(name, [&]() -> cudaError_t { __VA_ARGS__ })

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  CALL("cudaLibraryLoadData",
       const auto number = std::strtoul(static_cast<const char*>(code), nullptr, 10);
       auto module = test::kept_module(number); if (!module) return cudaErrorInvalidKernelImage;
       *library = new CUlib_st{std::move(module), {}}; return cudaSuccess;);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  CALL("cudaLibraryGetKernel", const std::lock_guard held(loaded().mutex);
       loaded().kernels.push_back(std::make_unique<CUkern_st>(CUkern_st{library, name}));
       *kernel = loaded().kernels.back().get(); return cudaSuccess;);
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  CALL("cudaLibraryUnload", stand_in::machine().queue().wait_for_all();
       const std::lock_guard held(loaded().mutex);
       loaded().kernels.remove_if([&](const auto& one) { return one->library == library; });
       delete library; return cudaSuccess;);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  CALL("cudaFuncGetAttributes", *attributes = {}; CUkern_st* found = loaded().find(kernel);
       if (!found) return cudaErrorInvalidDeviceFunction; loaded().load(*found);
       return cudaSuccess;);
}

cudaError_t cudaLaunchKernel(const void* entry, dim3 blocks, dim3 threads, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  CUkern_st* kernel = loaded().find(entry);
  if (!kernel) return stand_in::breaks(cudaErrorInvalidDeviceFunction, "there is no such kernel");
  // CUDA C++ Programming Guide, "Lazy Loading": that takes its time, and is no part of a capture.
  if (loaded().load(*kernel))
    stand_in::breaks(cudaSuccess, "a compiled kernel is loaded on a GPU by its launch");
  const auto size = [](dim3 of) { return emulator::Size3{of.x, of.y, of.z}; };
  try {
    kernel->library->module->start(kernel->name.c_str(), kernels::stream_of(stream),
                                   {size(blocks), size(threads), shared_bytes}, arguments);
  } catch (const Error&) {
    return stand_in::thread_state().last;
  }
  return cudaSuccess;
}

}  // extern "C"
