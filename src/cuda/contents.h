// What a program's buffers hold before it begins: its initial values; batches that nothing loads,
// of a run of which only times are wanted, hold noise.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/device_calls.h"
#include "host/initial_values.h"
#include "program/program.h"

namespace trainscope::cuda {

// Values as a buffer of that type stores them.
std::vector<char> stored_as(program::ElementType type, host::Values values);

class Contents {
 public:
  // Both must outlive it.
  Contents(const program::Program& program, DeviceCalls& device);

  // Fills the memory of a buffer; on the stream, where it lies on a device.
  void fill(program::Index buffer, void* memory, StreamHandle stream) const;

 private:
  bool is_made_up(const program::Buffer& buffer) const;
  std::vector<char> initial(program::Index buffer) const;
  void repeat(const std::vector<char>& part, const program::Buffer& what, void* memory,
              StreamHandle stream) const;

  const program::Program& program_;
  DeviceCalls& device_;
  const host::InitialValues initial_;
  std::int64_t classes_ = 1;  // whole numbers of a made up batch are below
};

}  // namespace trainscope::cuda
