// What kernels read that is not CUDA C++: dynamic shared memory by its type, clocks, the SM.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

#ifdef TRAINSCOPE_EMULATED

inline float* dynamic_floats() {
  return static_cast<float*>(emulator::dynamic_shared());
}

// The emulator's clock counts how often it is read; its device has one SM.
inline std::uint64_t nanoseconds() {
  return emulator::tick();
}
inline std::uint64_t nanoseconds_after(int) {
  return emulator::tick();
}
inline unsigned sm_number() {
  return 0;
}

#else

// The block's dynamic shared memory, as long as the launch says.
inline __device__ float* dynamic_floats() {
  extern __shared__ __align__(16) float dynamic_memory[];
  return dynamic_memory;
}

// The device's clock. Its step belongs to device and driver: from 32 ns to a microsecond.
inline __device__ std::uint64_t nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

// The clock once the barrier that returned `count`, which is not 0, has opened: a read that did not
// depend on the barrier's result would be made when its warp arrives there.
inline __device__ std::uint64_t nanoseconds_after(int count) {
  unsigned long long now = 0;
  asm volatile(
      "{\n\t.reg .pred opened;\n\tsetp.ne.s32 opened, %1, 0;\n\t@opened mov.u64 %0, "
      "%%globaltimer;\n\t}"
      : "+l"(now)
      : "r"(count)
      : "memory");
  return now;
}

inline __device__ unsigned sm_number() {
  unsigned number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

#endif

}  // namespace trainscope::kernels
