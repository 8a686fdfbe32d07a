// The part of CUDA C++ that our kernels use, in plain C++: compiled against this in place of CUDA's
// headers, a kernel runs on the processor (grid.h).
//
// Names, meaning and units are those of the CUDA C++ Programming Guide. What is not here a kernel
// may not use: add it here first, with a test in tests/kernels/emulator_test.cpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "host/float_types.h"
#include "kernels/emulator/grid.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __grid_constant__
// Blocks follow one another, so one copy serves all. Kernels stand in unnamed namespaces: there the
// address sanitizer guards a template's static variables too.
#define __shared__ static

#define threadIdx (::trainscope::emulator::running_place->thread)
#define blockIdx (::trainscope::emulator::running_place->block)
#define blockDim (::trainscope::emulator::running_place->threads)
#define gridDim (::trainscope::emulator::running_place->blocks)

inline constexpr int warpSize = 32;

// ---- barriers

inline void __syncthreads(
    trainscope::emulator::Source source = trainscope::emulator::Source::current()) {
  trainscope::emulator::barrier(false, source);
}

inline int __syncthreads_or(
    int holds, trainscope::emulator::Source source = trainscope::emulator::Source::current()) {
  return trainscope::emulator::barrier(holds != 0, source) != 0 ? 1 : 0;
}

inline int __syncthreads_count(
    int holds, trainscope::emulator::Source source = trainscope::emulator::Source::current()) {
  return trainscope::emulator::barrier(holds != 0, source);
}

inline void __syncwarp(unsigned mask = 0xffffffffU, trainscope::emulator::Source source =
                                                        trainscope::emulator::Source::current()) {
  trainscope::emulator::exchange({trainscope::emulator::Exchange::kBallot, mask, 0, 0, source});
}

inline void __threadfence() {}

// ---- exchanges within a warp

namespace trainscope::emulator {

// A lane outside its section of `width` lanes reads its own value, as on a device.
template <typename T>
T read_lane(unsigned mask, T value, int from, const Source& source) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = exchange({Exchange::kRead, mask, bits, from, source});
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace trainscope::emulator

template <typename T>
T __shfl_sync(unsigned mask, T value, int from,
              trainscope::emulator::Source source = trainscope::emulator::Source::current()) {
  return trainscope::emulator::read_lane(mask, value, from % warpSize, source);
}

template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned by,
                 trainscope::emulator::Source source = trainscope::emulator::Source::current()) {
  const int own = trainscope::emulator::lane();
  const int from = own - static_cast<int>(by);
  return trainscope::emulator::read_lane(mask, value, from < 0 ? own : from, source);
}

template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned by,
                   trainscope::emulator::Source source = trainscope::emulator::Source::current()) {
  const int own = trainscope::emulator::lane();
  const int from = own + static_cast<int>(by);
  return trainscope::emulator::read_lane(mask, value, from >= warpSize ? own : from, source);
}

template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int by,
                  trainscope::emulator::Source source = trainscope::emulator::Source::current()) {
  return trainscope::emulator::read_lane(mask, value, trainscope::emulator::lane() ^ by, source);
}

inline unsigned __ballot_sync(
    unsigned mask, int holds,
    trainscope::emulator::Source source = trainscope::emulator::Source::current()) {
  return static_cast<unsigned>(trainscope::emulator::exchange(
      {trainscope::emulator::Exchange::kBallot, mask, holds != 0 ? 1U : 0U, 0, source}));
}

inline int __any_sync(
    unsigned mask, int holds,
    trainscope::emulator::Source source = trainscope::emulator::Source::current()) {
  return __ballot_sync(mask, holds, source) != 0 ? 1 : 0;
}

inline int __all_sync(
    unsigned mask, int holds,
    trainscope::emulator::Source source = trainscope::emulator::Source::current()) {
  return __ballot_sync(mask, holds, source) == mask ? 1 : 0;
}

// ---- atomics: one thread runs at a time, so they are plain

template <typename T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  const T before = *address;
  *address = before + value;
  return before;
}

template <typename T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  const T before = *address;
  if (value > before) *address = value;
  return before;
}

template <typename T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  const T before = *address;
  if (before == expected) *address = value;
  return before;
}

// ---- bits and fast functions, here as exact as the plain ones

inline unsigned __float_as_uint(float value) {
  return std::bit_cast<unsigned>(value);
}
inline float __uint_as_float(unsigned bits) {
  return std::bit_cast<float>(bits);
}
inline float __expf(float value) {
  return std::exp(value);
}
// A product that a device adds to nothing: it fuses other multiplications with additions.
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fdividef(float above, float below) {
  return above / below;
}

[[noreturn]] inline void __trap(
    trainscope::emulator::Source source = trainscope::emulator::Source::current()) {
  trainscope::emulator::fail("stopped by __trap()", source);
}

// ---- cuda_fp16.h and cuda_bf16.h

using __half = trainscope::host::Float16;
using __nv_bfloat16 = trainscope::host::Bfloat16;

inline float __half2float(__half value) {
  return to_float(value);
}
inline __half __float2half_rn(float value) {
  return trainscope::host::to_float16(value);
}
inline float __bfloat162float(__nv_bfloat16 value) {
  return to_float(value);
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return trainscope::host::to_bfloat16(value);
}
