// What every kernel and its callers are written against: CUDA, or the emulator in its place; or
// CUDA as NVRTC has it, which compiles kernels while the program runs and launches none; or, for
// callers alone that include CUDA's headers while their kernels run in the emulator
// (TRAINSCOPE_STAND_IN), both.
//
// A launch takes a stream first. Pointers are to device memory unless said otherwise; nothing is
// allocated and nothing waited for. A launch that the device refuses throws an Error that names the
// kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

// TRAINSCOPE_ONE_AT_A_TIME: the loop that follows is not to be unrolled. TRAINSCOPE_UNROLLED: it
// is, to its end; TRAINSCOPE_UNROLLED_BY_8, _16: by so many, for as many loads under way.
// TRAINSCOPE_OUT_OF_LINE: the function is called, not copied into its callers.
#ifdef TRAINSCOPE_EMULATED
#include "kernels/emulator/language.h"
#include "kernels/emulator/stream.h"
#define TRAINSCOPE_ONE_AT_A_TIME
#define TRAINSCOPE_UNROLLED
#define TRAINSCOPE_UNROLLED_BY_8
#define TRAINSCOPE_UNROLLED_BY_16
#define TRAINSCOPE_OUT_OF_LINE
#else
#ifdef __CUDACC_RTC__
#include "kernels/nvrtc/language.h"
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#ifdef TRAINSCOPE_STAND_IN
#include "kernels/emulator/stream.h"
#endif
#endif
#define TRAINSCOPE_ONE_AT_A_TIME _Pragma("unroll 1")
#define TRAINSCOPE_UNROLLED _Pragma("unroll")
#define TRAINSCOPE_UNROLLED_BY_8 _Pragma("unroll 8")
#define TRAINSCOPE_UNROLLED_BY_16 _Pragma("unroll 16")
#define TRAINSCOPE_OUT_OF_LINE __noinline__
#endif

namespace trainscope::kernels {

using Half = __half;
using Bfloat16 = __nv_bfloat16;

// A matrix that lies row by row.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t size() const { return rows * columns; }
};

// A parameter's gradient is written, or added to what is there (gradient accumulation).
enum class Into { kReplace, kAdd };

#if defined(TRAINSCOPE_EMULATED) || defined(TRAINSCOPE_STAND_IN)

using Stream = emulator::Stream;
using Blocks = emulator::Size3;

#elif defined(__CUDACC_RTC__)

using Stream = void*;
using Blocks = dim3;

#else

using Stream = cudaStream_t;
using Blocks = dim3;

#endif

#if defined(TRAINSCOPE_STAND_IN)

// Puts a grid on a stream of what stands in for the CUDA runtime, which has this function.
void put_on_stream(void* stream, const emulator::Grid& grid, std::function<void()> thread);

inline Stream stream_of(cudaStream_t handle) {
  return {0, &put_on_stream, handle};
}
inline cudaStream_t handle_of(Stream stream) {
  return static_cast<cudaStream_t>(stream.queue);
}

#elif !defined(TRAINSCOPE_EMULATED) && !defined(__CUDACC_RTC__)

inline Stream stream_of(cudaStream_t handle) {
  return handle;
}
inline cudaStream_t handle_of(Stream stream) {
  return stream;
}

#endif

#if !defined(TRAINSCOPE_EMULATED) && !defined(__CUDACC_RTC__)

// Throws unless `status` is success.
void require_launched(const char* kernel, cudaError_t status);

#endif

struct Shape {
  Blocks blocks;
  Blocks threads;
  std::size_t shared_bytes = 0;  // dynamic shared memory of a block
};

#if !defined(__CUDACC_RTC__) && !defined(TRAINSCOPE_STAND_IN)

// kernel<<<shape.blocks, shape.threads, shape.shared_bytes, stream>>>(arguments...)
template <typename... Parameters, typename... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), Stream stream, const Shape& shape,
            const Arguments&... arguments) {
#ifdef TRAINSCOPE_EMULATED
  const emulator::Grid grid{name, shape.blocks, shape.threads, shape.shared_bytes, stream.seed};
  if (!stream.put) return emulator::run(grid, [&] { kernel(arguments...); });
  stream.put(stream.queue, grid, [kernel, parameters = std::tuple<Parameters...>(arguments...)] {
    std::apply(kernel, parameters);
  });
#else
  // Beyond this a kernel must ask for shared memory (CUDA C++ Programming Guide, "Shared Memory").
  constexpr std::size_t kUnasked = 48 << 10;
  const void* entry = reinterpret_cast<const void*>(kernel);
  const auto set = [&](cudaFuncAttribute attribute, int value) {
    require_launched(name, cudaFuncSetAttribute(entry, attribute, value));
  };
  if (shape.shared_bytes > kUnasked)
    set(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared_bytes));
  // As many blocks an SM as its shared memory has room for: less of it is then L1.
  if (shape.shared_bytes > 0)
    set(cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
  std::tuple<Parameters...> parameters(arguments...);
  std::apply(
      [&](auto&... parameter) {
        void* addresses[] = {&parameter...};
        require_launched(name, cudaLaunchKernel(entry, shape.blocks, shape.threads, addresses,
                                                shape.shared_bytes, stream));
      },
      parameters);
#endif
}

#endif

}  // namespace trainscope::kernels
