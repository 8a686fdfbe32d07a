#include "trace/api_name.h"

#include "base/text.h"

namespace trainscope::trace {

bool is_api_name(std::string_view name) {
  return name.starts_with("cuda") || name.starts_with("hip") ||
         (name.starts_with("cu") && name.size() > 2 && name[2] >= 'A' && name[2] <= 'Z');
}

bool asks_for_memory(std::string_view name) {
  return is_api_name(name) && (contains(name, "Malloc") || contains(name, "Free") ||
                               contains(name, "MemAlloc") || contains(name, "HostAlloc"));
}

}  // namespace trainscope::trace
