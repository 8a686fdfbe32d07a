#include "program/listing_difference.h"

#include <algorithm>
#include <cstdint>

namespace trainscope::program {

std::vector<bool> lines_only_in(const std::vector<std::string>& a,
                                const std::vector<std::string>& b) {
  constexpr std::size_t kMost = 4'000'000;  // cells of the table
  std::vector<bool> only(a.size(), false);
  if (a.size() * b.size() > kMost) return only;
  const std::size_t width = b.size() + 1;
  std::vector<std::uint32_t> common((a.size() + 1) * width, 0);
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i * width + j] =
          a[i] == b[j] ? common[(i + 1) * width + j + 1] + 1
                       : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
  std::size_t i = 0, j = 0;
  while (i < a.size()) {
    if (j < b.size() && a[i] == b[j]) {
      ++i, ++j;
    } else if (j < b.size() && common[i * width + j + 1] >= common[(i + 1) * width + j]) {
      ++j;
    } else {
      only[i++] = true;
    }
  }
  return only;
}

}  // namespace trainscope::program
