#include "cuda/plugin/chain_compiler.h"

#include <cuda_runtime.h>

#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "cuda/device/chain_text.h"
#include "cuda/plugin/handles.h"

namespace trainscope::cuda {
namespace {

using OwnedLibrary = Owned<cudaLibrary_t, cudaLibraryUnload>;

// Code that is loaded, in every context that uses it.
class LoadedChain : public ChainModule {
 public:
  LoadedChain(OwnedLibrary library, std::map<std::string, cudaKernel_t, std::less<>> kernels)
      : library_(std::move(library)), kernels_(std::move(kernels)) {}

  // Now, and not when it is first started: that may be timed, or captured.
  void load() override {
    cudaFuncAttributes unused{};
    for (const auto& [name, kernel] : kernels_)
      if (cudaFuncGetAttributes(&unused, static_cast<const void*>(kernel)) != cudaSuccess)
        cudaGetLastError();
  }

  void start(const char* name, kernels::Stream stream, const kernels::Shape& shape,
             void** arguments) override {
    const auto found = kernels_.find(std::string_view(name));
    if (found == kernels_.end()) throw Error(Fault::kInternal, std::string("no kernel ") + name);
    const auto size = [](const kernels::Blocks& all) { return dim3(all.x, all.y, all.z); };
    kernels::require_launched(
        name, cudaLaunchKernel(static_cast<const void*>(found->second), size(shape.blocks),
                               size(shape.threads), arguments, shape.shared_bytes,
                               kernels::handle_of(stream)));
  }

 private:
  OwnedLibrary library_;
  std::map<std::string, cudaKernel_t, std::less<>> kernels_;
};

std::unique_ptr<ChainModule> loaded(const std::string& code, const std::string& text) {
  cudaLibrary_t library = nullptr;
  if (cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) !=
      cudaSuccess)
    return nullptr;
  OwnedLibrary owned(library);
  std::map<std::string, cudaKernel_t, std::less<>> kernels;
  for (const std::string& name : entries_of(text)) {
    cudaKernel_t kernel = nullptr;
    if (cudaLibraryGetKernel(&kernel, library, name.c_str()) != cudaSuccess) return nullptr;
    kernels.emplace(name, kernel);
  }
  return std::make_unique<LoadedChain>(std::move(owned), std::move(kernels));
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// TRAINSCOPE_CHAINS=read: to measure what compiling them gains.
bool are_wanted() {
  const char* word = std::getenv("TRAINSCOPE_CHAINS");
  return !word || std::string_view(word) != "read";
}

}  // namespace

std::unique_ptr<ChainModule> RunTimeCompiler::compile(const std::string& text) {
  const std::lock_guard held(mutex_);
  if (!are_wanted()) return refused("TRAINSCOPE_CHAINS says so");
  if (!nvrtc_) nvrtc_ = std::make_unique<Nvrtc>();
  if (!nvrtc_->why_not().empty()) return refused(nvrtc_->why_not());
  const Compiled compiled = nvrtc_->compile(text, capability_);
  if (compiled.code.empty())
    return refused("NVRTC does not compile one of them: " + first_line(compiled.log));
  std::unique_ptr<ChainModule> module = loaded(compiled.code, text);
  if (module) return module;
  return refused("the driver does not load what NVRTC compiled (" +
                 std::string(cudaGetErrorString(cudaGetLastError())) + ")");
}

std::string RunTimeCompiler::why_not() const {
  const std::lock_guard held(mutex_);
  return why_not_;
}

std::unique_ptr<ChainModule> RunTimeCompiler::refused(const std::string& why) {
  if (why_not_.empty())
    why_not_ =
        "fused kernels read their steps, which takes several times as long as compiled "
        "code: " +
        why;
  return nullptr;
}

}  // namespace trainscope::cuda
