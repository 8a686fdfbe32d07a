#include "trace/row_chooser.h"

#include <algorithm>
#include <limits>

namespace trainscope::trace::chrome {
namespace {

constexpr Nanos kTakesAll = std::numeric_limits<Nanos>::max();
constexpr Nanos kTakesNone = std::numeric_limits<Nanos>::min();

}  // namespace

std::uint32_t RowChooser::put(Nanos start, Nanos end) {
  close_until(start);
  const auto row = static_cast<std::uint32_t>(first_that_takes(end));
  if (row == open_.size()) {
    open_.emplace_back();
    make_room();
  }
  open_[row].push_back(end);
  ends_.emplace(end, row);
  note(row);
  return row;
}

void RowChooser::close_until(Nanos start) {
  while (!ends_.empty() && ends_.top().first <= start) {
    const std::uint32_t row = ends_.top().second;
    ends_.pop();
    while (!open_[row].empty() && open_[row].back() <= start) open_[row].pop_back();
    note(row);
  }
}

// Writes what the row takes, and the maxima above it. The tree's root is 1, its leaves are the
// second half.
void RowChooser::note(std::uint32_t row) {
  const std::vector<Nanos>& open = open_[row];
  std::size_t at = latest_.size() / 2 + row;
  latest_[at] = open.empty() ? kTakesAll : nests_ ? open.back() : kTakesNone;
  for (at /= 2; at > 0; at /= 2) latest_[at] = std::max(latest_[2 * at], latest_[2 * at + 1]);
}

// The count of rows where none does.
std::size_t RowChooser::first_that_takes(Nanos end) const {
  if (latest_.empty() || latest_[1] < end) return open_.size();
  std::size_t at = 1;
  while (at < latest_.size() / 2) at = latest_[2 * at] >= end ? 2 * at : 2 * at + 1;
  return at - latest_.size() / 2;
}

void RowChooser::make_room() {
  if (open_.size() <= latest_.size() / 2) return;
  latest_.assign(std::max<std::size_t>(2, 2 * latest_.size()), kTakesNone);
  for (std::uint32_t row = 0; row < open_.size(); ++row) note(row);
}

}  // namespace trainscope::trace::chrome
