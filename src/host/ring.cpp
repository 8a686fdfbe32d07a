#include "host/ring.h"

#include <algorithm>

#include "host/elementwise.h"

namespace trainscope::host {
namespace {

// Calls body(piece, place) for the parts of pieces between two places, in order.
template <typename Body>
void for_range(const Pieces& pieces, std::size_t begin, std::size_t end, const Body& body) {
  std::size_t place = 0;
  for (const Results& piece : pieces) {
    const std::size_t from = std::max(begin, place), to = std::min(end, place + piece.size());
    if (from < to) body(piece.subspan(from - place, to - from), from);
    place += piece.size();
  }
}

void copy_range(const Pieces& from, std::size_t begin, std::size_t end, Results to) {
  for_range(from, begin, end, [&](Values piece, std::size_t place) {
    std::copy(piece.begin(), piece.end(), to.begin() + static_cast<std::ptrdiff_t>(place));
  });
}

void add_range(const Pieces& from, std::size_t begin, std::size_t end, Results to) {
  for_range(from, begin, end, [&](Values piece, std::size_t place) {
    for (std::size_t i = 0; i < piece.size(); ++i) to[place + i] += piece[i];
  });
}

// From the rank behind the root, around to it.
void sum_range(NumberFormat format, std::size_t root, std::span<const Pieces> ranks,
               std::size_t begin, std::size_t end, Results sum) {
  copy_range(ranks[(root + 1) % ranks.size()], begin, end, sum);
  for (std::size_t step = 2; step <= ranks.size(); ++step) {
    add_range(ranks[(root + step) % ranks.size()], begin, end, sum);
    cast(format, sum.subspan(begin, end - begin));
  }
}

void spread(Values from, const Pieces& to) {
  for_range(to, 0, from.size(), [&](Results piece, std::size_t place) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(place), piece.size(), piece.begin());
  });
}

// Each of two ranks gets what the other gives, where that gives something.
void exchange(std::span<const Pieces> sends, std::span<const Pieces> receives) {
  for (const std::size_t from : {0, 1}) {
    const Pieces &given = sends[from], &got = receives[1 - from];
    for (std::size_t piece = 0; piece < std::min(given.size(), got.size()); ++piece)
      std::copy(given[piece].begin(), given[piece].end(), got[piece].begin());
  }
}

}  // namespace

std::size_t size_of(const Pieces& pieces) {
  std::size_t size = 0;
  for (const Results& piece : pieces) size += piece.size();
  return size;
}

void sum_all(NumberFormat format, std::span<const Pieces> ranks, Results sum) {
  const std::size_t count = ranks.size();
  for (std::size_t part = 0; part < count; ++part)
    sum_range(format, part, ranks, part * sum.size() / count, (part + 1) * sum.size() / count, sum);
}

void sum_to(NumberFormat format, std::size_t root, std::span<const Pieces> ranks, Results sum) {
  sum_range(format, root, ranks, 0, sum.size(), sum);
}

void largest_of_all(std::span<const Pieces> ranks, Results largest) {
  copy_range(ranks.front(), 0, largest.size(), largest);
  for (const Pieces& rank : ranks.subspan(1))
    for_range(rank, 0, largest.size(), [&](Values piece, std::size_t place) {
      const Results most = largest.subspan(place, piece.size());
      larger(most, piece, most);
    });
}

void carry_out(const program::Collective& collective, NumberFormat format,
               std::span<const Pieces> sends, std::span<const Pieces> receives,
               std::vector<float>& room) {
  using Kind = program::CollectiveKind;
  const Kind kind = collective.kind;
  if (kind == Kind::kSendReceive) return exchange(sends, receives);
  const std::size_t sent = size_of(sends.front());
  const std::size_t count = kind == Kind::kAllGather ? sent * sends.size() : sent;
  if (room.size() < count) room.resize(count);
  const Results result = Results(room).first(count);
  switch (kind) {
    case Kind::kAllReduce:
    case Kind::kReduceScatter:
      collective.maximum ? largest_of_all(sends, result) : sum_all(format, sends, result);
      break;
    case Kind::kReduce:
      sum_to(format, 0, sends, result);
      break;
    case Kind::kBroadcast:
      copy_range(sends.front(), 0, count, result);
      break;
    case Kind::kAllGather:
      for (std::size_t rank = 0; rank < sends.size(); ++rank)
        copy_range(sends[rank], 0, sent, result.subspan(rank * sent, sent));
      break;
    case Kind::kSendReceive:
      break;
  }
  const std::size_t part = count / sends.size();
  for (std::size_t rank = 0; rank < receives.size(); ++rank)
    spread(kind == Kind::kReduceScatter ? result.subspan(rank * part, part) : result,
           receives[rank]);
}

}  // namespace trainscope::host
