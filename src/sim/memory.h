// Device memory in use, as the program allocates and frees it on host time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "program/program.h"
#include "sim/recorder.h"

namespace trainscope::sim {

class Memory {
 public:
  // `capacity` in bytes.
  Memory(const program::Program& program, std::int64_t capacity, std::string gpu,
         Recorder& recorder);

  // Throws InputError when it is allocated already, or when the device is full, naming the largest
  // holders.
  void allocate(Nanos now, program::Index buffer);
  // Throws InputError when it is not allocated.
  void free(Nanos now, program::Index buffer);

 private:
  std::string largest() const;
  void note(Nanos now);

  const program::Program& program_;
  std::int64_t capacity_;
  std::string gpu_;
  Recorder& recorder_;
  std::vector<bool> allocated_;
  std::int64_t in_use_ = 0;
};

}  // namespace trainscope::sim
