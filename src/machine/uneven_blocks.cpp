#include "machine/uneven_blocks.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

namespace trainscope::machine {
namespace {

template <class Value>
using Earliest = std::priority_queue<Value, std::vector<Value>, std::greater<>>;

// Its blocks get equal shares of it, so that each has had `served` since the first began.
struct Sm {
  double now = 0;
  double served = 0;
  Earliest<double> ends;  // of `served`

  void place(double length) { ends.push(served + length); }
  double next_end() const { return now + (ends.top() - served) * static_cast<double>(ends.size()); }
  void end_one() {
    now = next_end();
    served = ends.top();
    ends.pop();
  }
};

class Blocks {
 public:
  Blocks(std::span<const double> row, std::int64_t repeats)
      : row_(row), left_(static_cast<std::int64_t>(row.size()) * repeats) {}
  bool empty() const { return left_ == 0; }
  double take() {
    --left_;
    const double length = row_[next_];
    next_ = (next_ + 1) % row_.size();
    return length;
  }

 private:
  std::span<const double> row_;
  std::int64_t left_;
  std::size_t next_ = 0;
};

std::vector<Sm> first_blocks(Blocks& blocks, const SmPlaces& places) {
  std::vector<Sm> sms(static_cast<std::size_t>(places.sms));
  for (std::int64_t round = 0; round < places.blocks_each; ++round)
    for (Sm& sm : sms)
      if (!blocks.empty()) sm.place(blocks.take());
  return sms;
}

double placed_time(Blocks blocks, const SmPlaces& places) {
  std::vector<Sm> sms = first_blocks(blocks, places);
  Earliest<std::pair<double, std::size_t>> ends;  // the next of each SM that is at work
  for (std::size_t i = 0; i < sms.size(); ++i)
    if (!sms[i].ends.empty()) ends.emplace(sms[i].next_end(), i);
  double last = 0;
  while (!ends.empty()) {
    const std::size_t i = ends.top().second;
    ends.pop();
    Sm& sm = sms[i];
    sm.end_one();
    last = std::max(last, sm.now);
    if (!blocks.empty()) sm.place(blocks.take());
    if (!sm.ends.empty()) ends.emplace(sm.next_end(), i);
  }
  return last;
}

}  // namespace

double grid_time(std::span<const double> lengths, std::int64_t repeats, const SmPlaces& places) {
  // Enough of them that the end no longer depends on the beginning: within 0.4 % of all blocks.
  constexpr std::int64_t kMostBlocks = 4096;
  const auto row = static_cast<std::int64_t>(lengths.size());
  const std::int64_t placed = std::min(repeats, std::max<std::int64_t>(1, kMostBlocks / row));
  const double length = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  return placed_time(Blocks(lengths, placed), places) +
         static_cast<double>(repeats - placed) * length / static_cast<double>(places.sms);
}

}  // namespace trainscope::machine
