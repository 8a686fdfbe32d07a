#include "base/error.h"

namespace trainscope {

std::string describe(const SourcePlace& place) {
  std::string text = place.file;
  if (place.line > 0) text += ":" + std::to_string(place.line);
  if (place.line > 0 && place.column > 0) text += ":" + std::to_string(place.column);
  return text.empty() ? text : text + ": ";
}

}  // namespace trainscope
