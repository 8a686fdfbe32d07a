// Fused kernels of programs with memory of their own: carried out as one, and as their parts.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cuda/device/operation_kernels.h"
#include "program/program.h"

namespace trainscope::test {

// A training whose kernels are fused.
program::Program program_of(const std::vector<std::string>& settings);

using Place = std::function<void*(program::Index)>;

cuda::KernelCall call_of(const program::Program& program, const program::Operation& operation,
                         const Place& place);

inline void* nowhere(program::Index) {
  return nullptr;
}

// Memory of an operation's buffers, filled alike each time.
class FusedMemory {
 public:
  FusedMemory(const program::Program& program, const program::Operation& operation);

  void* at(program::Index buffer) { return memory_.at(buffer).data(); }
  const std::vector<std::byte>& bytes(program::Index buffer) const { return memory_.at(buffer); }

 private:
  void fill(program::Index buffer);
  template <typename T>
  void put(program::Index buffer, std::size_t i, T value);
  template <typename Other>
  void fill_for(const Other&, const program::Operation&) {}
  void fill_for(const program::Embedding& f, const program::Operation& part);
  void fill_for(const program::BatchNorm& f, const program::Operation& part);
  void fill_for(const program::MaxPooling& f, const program::Operation& part);

  const program::Program& program_;
  std::map<program::Index, std::vector<std::byte>> memory_;
};

// What the operation leaves. `chains`: null, and its kernels read their steps.
FusedMemory carried_out_fused(const program::Program& program, const program::Operation& operation,
                              cuda::CompiledChains* chains = nullptr);
FusedMemory carried_out_in_parts(const program::Program& program,
                                 const program::Operation& operation);

// Few enough values, and blocks with barriers, for the emulator.
bool is_small(const program::Program& program, const program::Operation& operation);

}  // namespace trainscope::test
