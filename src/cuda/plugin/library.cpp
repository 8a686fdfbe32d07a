#include "cuda/plugin/library.h"

#include <dlfcn.h>

namespace trainscope::cuda {

Library::Library(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (handle_) return;
    const char* error = dlerror();
    if (why_not_.empty()) why_not_ = error ? error : name + ": not found";
  }
}

void* Library::address(const char* name) const {
  return handle_ ? dlsym(handle_, name) : nullptr;
}

}  // namespace trainscope::cuda
