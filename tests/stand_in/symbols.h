// The functions of a library by their names, as dlsym finds them.
#pragma once

#include <map>
#include <string>

namespace trainscope::stand_in {

using Symbols = std::map<std::string, void*>;

Symbols cublas_symbols();
Symbols cudnn_symbols();
Symbols cupti_symbols();
Symbols nccl_symbols();
Symbols nvrtc_symbols();

}  // namespace trainscope::stand_in

#define TRAINSCOPE_SYMBOL(function) {#function, reinterpret_cast<void*>(&(function))}
