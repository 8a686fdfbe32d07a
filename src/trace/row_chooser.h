// Which row of a lane a span stands on, where a viewer nests what overlaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/time.h"

namespace trainscope::trace::chrome {

// Spans are put by start, the longer first; each goes to the first row that is free at its start
// or, where spans nest, whose innermost open span covers it. A span costs the logarithm of the
// rows.
class RowChooser {
 public:
  // Work on a stream does not nest: two kernels that overlap stand on two rows.
  explicit RowChooser(bool nests) : nests_(nests) {}

  // The row, counted from 0.
  std::uint32_t put(Nanos start, Nanos end);

 private:
  void close_until(Nanos start);
  void note(std::uint32_t row);
  std::size_t first_that_takes(Nanos end) const;
  void make_room();

  using End = std::pair<Nanos, std::uint32_t>;  // and its row
  bool nests_;
  std::vector<std::vector<Nanos>> open_;  // by row: ends of open spans, outermost first
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<Nanos> latest_;  // a tree of maxima over the rows: the latest end that each takes
};

}  // namespace trainscope::trace::chrome
