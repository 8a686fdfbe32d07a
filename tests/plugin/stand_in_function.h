// A function of the plug-in's library, which is loaded and has those that stand in in it.
#pragma once

#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "cuda/plugin_loader.h"

namespace trainscope::test {

template <typename Function>
Function* stand_in_function(const char* name) {
  const auto file = cuda::plugin_folder() / cuda::kPluginFile;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(library);
  auto* function = reinterpret_cast<Function*>(dlsym(library, name));
  dlclose(library);
  REQUIRE(function);
  return function;
}

}  // namespace trainscope::test
