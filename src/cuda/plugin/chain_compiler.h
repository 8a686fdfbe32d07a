// Kernels of chains by NVRTC, for the GPUs of one model.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "cuda/device/compiled_chains.h"
#include "cuda/plugin/nvrtc.h"

namespace trainscope::cuda {

class RunTimeCompiler : public ChainCompiler {
 public:
  // `capability`: 90 for 9.0. NVRTC is looked for when the first text comes.
  explicit RunTimeCompiler(int capability) : capability_(capability) {}

  std::unique_ptr<ChainModule> compile(const std::string& text) override;

  // What keeps chains from being compiled, and what takes its place, in a sentence; empty: nothing
  // so far. From any thread.
  std::string why_not() const;

 private:
  std::unique_ptr<ChainModule> refused(const std::string& why);

  const int capability_;
  mutable std::mutex mutex_;
  std::unique_ptr<Nvrtc> nvrtc_;
  std::string why_not_;
};

}  // namespace trainscope::cuda
