#include "cuda/device/compiled_chains.h"

#include "cuda/device/chain_text.h"
#include "kernels/compiled_chain.h"

namespace trainscope::cuda {
namespace {

struct Start {
  kernels::StartKernel start;
  float* room;

  bool operator()(const kernels::Chain& chain) const {
    kernels::start_chain(chain, start);
    return true;
  }
  bool operator()(const kernels::NormChain& chain) const {
    return kernels::start_norm_chain(chain, start);
  }
  bool operator()(const SummedChain& sum) const {
    kernels::start_column_chain(sum.shape, sum.chain, room, start);
    return true;
  }
};

}  // namespace

void CompiledChains::prepare(const FusedKernel& chain) {
  const std::string key = key_of(chain);
  const std::lock_guard held(mutex_);
  if (!modules_.contains(key)) modules_[key] = compiler_.compile(text_of(chain));
  if (ChainModule* module = modules_[key].get()) module->load();
}

bool CompiledChains::launch(const FusedKernel& chain, kernels::Stream stream, float* room) {
  ChainModule* module = find(key_of(chain));
  if (!module) return false;
  const auto start = [&](const char* name, const kernels::Shape& shape, void** arguments) {
    module->start(name, stream, shape, arguments);
  };
  return std::visit(Start{start, room}, chain);
}

ChainModule* CompiledChains::find(const std::string& key) {
  const std::lock_guard held(mutex_);
  const auto found = modules_.find(key);
  return found == modules_.end() ? nullptr : found->second.get();
}

}  // namespace trainscope::cuda
