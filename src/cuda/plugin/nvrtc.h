// NVIDIA's compiler in a library, loaded when it is first wanted: CUDA C++ in, code for one compute
// capability out. Needs no GPU, no driver and no headers of the toolkit.
#pragma once

#include <string>

#include "cuda/plugin/library.h"

namespace trainscope::cuda {

// What became of one text.
struct Compiled {
  std::string code;  // a cubin; empty: it did not compile
  std::string log;   // what the compiler says; of each kernel its registers and local memory too
};

class Nvrtc {
 public:
  Nvrtc();

  // "NVRTC is missing (...)"; empty: it is there.
  const std::string& why_not() const { return why_not_; }
  // `capability`: 90 for 9.0. The text may include what kernel_headers() has. From any thread.
  Compiled compile(const std::string& text, int capability) const;

 private:
  struct Functions;

  Library library_;
  std::string why_not_;
};

}  // namespace trainscope::cuda
