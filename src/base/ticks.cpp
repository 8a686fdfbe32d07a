#include "base/ticks.h"

#include "base/units.h"

namespace trainscope {

std::string format_tick(double nanos) {
  if (std::abs(nanos) < 0.5) return "0";
  std::string text = format_nanos(nanos);
  const std::size_t end = text.find(' '), point = text.find('.');
  if (point > end) return text;
  std::size_t last = text.find_last_not_of('0', end - 1);
  if (last > point) ++last;
  return text.erase(last, end - last);
}

}  // namespace trainscope
