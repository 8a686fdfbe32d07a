// Numbers for work whose results nobody reads. A device multiplies zeros faster than it would
// numbers, since they take less power (H. He: "Strangely, Matrix Multiplications on GPUs Run Faster
// When Given Predictable Data", 2024).
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"

namespace trainscope::cuda {

// So many bytes of numbers from -1 to 1 as the type stores them, the same every time; of whole
// numbers, from 0 to below `below`.
std::vector<char> noise_of(program::ElementType type, std::int64_t bytes, std::int64_t below = 1);

}  // namespace trainscope::cuda
