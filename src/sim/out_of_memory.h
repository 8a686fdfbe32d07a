// Why a run ended before its program did: an allocation found no room on the device, after the
// allocator had given back all that it could.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/speech.h"
#include "base/time.h"
#include "program/program.h"

namespace trainscope::sim {

struct OutOfMemory {
  struct Holder {
    std::string name;
    program::Role role = program::Role::kWorkspace;
    std::int64_t bytes = 0;  // of its block
  };

  std::string gpu;  // "NVIDIA T4"
  std::string buffer;
  program::Role role = program::Role::kWorkspace;
  Nanos time = 0;
  std::uint16_t line = 0;      // of the listing, from 1; 0: before the program began
  std::int64_t requested = 0;  // by the program
  std::int64_t segment = 0;    // that cudaMalloc could not give
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;
  std::int64_t capacity = 0;    // for the allocator
  std::int64_t context = 0;     // that CUDA's context takes besides
  std::vector<Holder> holders;  // the largest, largest first
};

// "y (batch)", with words about it in the brackets: "conv1.out (activations, 400 MB)". Of a buffer
// that is called after its role "activations (400 MB)".
std::string buffer_words(const std::string& name, program::Role role, const std::string& words = {},
                         const Speech& speech = {});

// The five largest, largest first; equal ones as they stood.
std::vector<OutOfMemory::Holder> largest_of(std::vector<OutOfMemory::Holder> holders);

// "; the largest are ..."; empty without any.
std::string holders_words(const std::vector<OutOfMemory::Holder>& holders,
                          const Speech& speech = {});

// One sentence: the request, what is allocated, reserved and there, the largest holders.
std::string sentence(const OutOfMemory& why, const Speech& speech = {});

}  // namespace trainscope::sim
