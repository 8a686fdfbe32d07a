// Chains whose kernels are compiled while the program runs, each form once, and are kept.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cuda/device/chains.h"

namespace trainscope::cuda {

// What was compiled from one text.
class ChainModule {
 public:
  virtual ~ChainModule() = default;
  // Loads all of it on the thread's GPU, once on each.
  virtual void load() {}
  // Its entry of this name.
  virtual void start(const char* name, kernels::Stream stream, const kernels::Shape& shape,
                     void** arguments) = 0;
};

class ChainCompiler {
 public:
  virtual ~ChainCompiler() = default;
  // Null: it cannot.
  virtual std::unique_ptr<ChainModule> compile(const std::string& text) = 0;
};

// From any thread.
class CompiledChains {
 public:
  explicit CompiledChains(ChainCompiler& compiler) : compiler_(compiler) {}

  // Takes tenths of a second for a form that is new. Of the thread's GPU.
  void prepare(const FusedKernel& chain);
  // False: the chain was not prepared, or could not be compiled; launch_fused reads its steps.
  bool launch(const FusedKernel& chain, kernels::Stream stream, float* room);

 private:
  ChainModule* find(const std::string& key);

  ChainCompiler& compiler_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<ChainModule>> modules_;  // by key; null: it failed
};

}  // namespace trainscope::cuda
