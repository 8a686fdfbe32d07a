// In place of src/cuda/plugin/library.cpp: libraries are those that stand in, and no others.

#include <algorithm>

#include "cuda/plugin/library.h"
#include "stand_in/options.h"
#include "stand_in/symbols.h"

namespace trainscope::cuda {
namespace {

const std::map<std::string, stand_in::Symbols>& libraries() {
  static const auto& all = *new std::map<std::string, stand_in::Symbols>{
      {"libcublasLt.so.13", stand_in::cublas_symbols()},
      {"libcudnn.so.9", stand_in::cudnn_symbols()},
      {"libcupti.so.13", stand_in::cupti_symbols()},
      {"libnccl.so.2", stand_in::nccl_symbols()},
      {"libnvrtc.so.13", stand_in::nvrtc_symbols()}};
  return all;
}

}  // namespace

Library::Library(const std::vector<std::string>& names) {
  const auto& without = stand_in::options().without;
  for (const std::string& name : names) {
    const auto found = libraries().find(name);
    if (found != libraries().end() && !std::count(without.begin(), without.end(), name)) {
      handle_ = const_cast<stand_in::Symbols*>(&found->second);
      return;
    }
    if (why_not_.empty()) why_not_ = name + ": nothing stands in for it";
  }
}

void* Library::address(const char* name) const {
  if (!handle_) return nullptr;
  const auto& symbols = *static_cast<const stand_in::Symbols*>(handle_);
  const auto found = symbols.find(name);
  return found == symbols.end() ? nullptr : found->second;
}

}  // namespace trainscope::cuda
