#include "analysis/steps/byte_series.h"

#include <algorithm>
#include <tuple>

namespace trainscope::analysis {

void ByteSeries::seal() {
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.start, a.end, a.owner, a.number) <
           std::tie(b.start, b.end, b.owner, b.number);
  });
  sums_.clear();
  latest_.clear();
  std::int64_t sum = 0;
  Nanos latest = INT64_MIN;
  for (const Piece& piece : pieces_) {
    sums_.push_back(sum += piece.bytes);
    latest_.push_back(latest = std::max(latest, piece.end));
  }
}

std::size_t ByteSeries::begun_by(Nanos time) const {
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), time,
                       [](Nanos at, const Piece& piece) { return at < piece.start; });
  return static_cast<std::size_t>(after - pieces_.begin());
}

std::int64_t ByteSeries::moved_by(Nanos time) const {
  const std::size_t begun = begun_by(time);
  if (begun == 0) return 0;
  std::int64_t moved = sums_[begun - 1];
  for (std::size_t i = begun; i-- > 0 && latest_[i] > time;)
    moved -= pieces_[i].bytes - moved_of(pieces_[i], time);
  return moved;
}

std::vector<ByteSeries::Piece> ByteSeries::under_way(Nanos time) const {
  std::vector<Piece> found;
  for (std::size_t i = begun_by(time); i-- > 0 && latest_[i] > time;)
    if (pieces_[i].end > time) found.push_back(pieces_[i]);
  std::reverse(found.begin(), found.end());
  return found;
}

std::optional<ByteSeries::Piece> ByteSeries::next_after(Nanos time) const {
  const std::size_t begun = begun_by(time);
  if (begun == pieces_.size()) return std::nullopt;
  return pieces_[begun];
}

std::int64_t moved_of(const ByteSeries::Piece& piece, Nanos time) {
  if (time >= piece.end) return piece.bytes;
  if (time <= piece.start) return 0;
  const double share =
      static_cast<double>(time - piece.start) / static_cast<double>(piece.end - piece.start);
  return static_cast<std::int64_t>(static_cast<double>(piece.bytes) * share);
}

void Stays::seal() {
  std::sort(stays_.begin(), stays_.end(), [](const Stay& a, const Stay& b) {
    return std::tie(a.in, a.out, a.who) < std::tie(b.in, b.out, b.who);
  });
  latest_.clear();
  Nanos latest = INT64_MIN;
  for (const Stay& stay : stays_) latest_.push_back(latest = std::max(latest, stay.out));
}

std::vector<std::uint32_t> Stays::present(Nanos time) const {
  const auto after = std::upper_bound(stays_.begin(), stays_.end(), time,
                                      [](Nanos at, const Stay& stay) { return at < stay.in; });
  std::vector<std::uint32_t> found;
  for (auto i = static_cast<std::size_t>(after - stays_.begin()); i-- > 0 && latest_[i] > time;)
    if (stays_[i].out > time) found.push_back(stays_[i].who);
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace trainscope::analysis
