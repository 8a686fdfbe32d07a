#include "base/shortage.h"

#include <new>
#include <system_error>

namespace trainscope {

std::string shortage(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error))
    return "this needs more memory than there is; make it smaller";
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system && system->code() == std::errc::resource_unavailable_try_again)
    return "this system starts no more threads; end other programs, or allow more memory or "
           "processes (ulimit -v, ulimit -u)";
  return "";
}

}  // namespace trainscope
