#include "trace/python_frame.h"

#include "base/text.h"

namespace trainscope::trace {

bool is_frame_of_file(std::string_view name) {
  const auto end = name.find("): ");
  const auto line = name.substr(0, end).rfind('(');
  if (end == name.npos || line == name.npos || line == 0 || line + 1 == end) return false;
  return name.substr(line + 1, end - line - 1).find_first_not_of("0123456789") == name.npos;
}

bool is_python_frame(std::string_view name) {
  return name.starts_with("<built-in ") || name.starts_with("nn.Module: ") ||
         is_frame_of_file(name);
}

}  // namespace trainscope::trace
