// C++ names as their programmers wrote them.
#pragma once

#include <string>

namespace trainscope {

// "void f<float>(int)" of "_Z1fIfEvi"; any other text as it is.
std::string demangled(const std::string& name);

}  // namespace trainscope
