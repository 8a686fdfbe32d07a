#include "base/demangled.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace trainscope {

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // "i" alone would be read as the type int
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && plain ? plain.get() : name;
}

}  // namespace trainscope
