// Bytes that move in pieces: how many have moved by a time, and what is where at it. Built once,
// then asked in logarithmic time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace trainscope::analysis {

// Pieces in any order, also overlapping ones. Inside a piece bytes move evenly; a piece whose start
// is its end moves at once.
class ByteSeries {
 public:
  struct Piece {
    Nanos start = 0;
    Nanos end = 0;
    std::int64_t bytes = 0;
    std::uint32_t owner = 0;   // what the caller likes: here, the copy it belongs to
    std::uint32_t number = 0;  // of the owner's pieces, from 0
  };

  void add(const Piece& piece) { pieces_.push_back(piece); }
  // After the last piece; the queries need it.
  void seal();

  bool empty() const { return pieces_.empty(); }
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::int64_t total() const { return sums_.empty() ? 0 : sums_.back(); }
  std::int64_t moved_by(Nanos time) const;
  // Pieces under way, by start: those with start <= time < end.
  std::vector<Piece> under_way(Nanos time) const;
  // The first piece that starts after the time.
  std::optional<Piece> next_after(Nanos time) const;

 private:
  std::size_t begun_by(Nanos time) const;

  std::vector<Piece> pieces_;       // by start once sealed
  std::vector<std::int64_t> sums_;  // of the bytes up to and with each piece
  std::vector<Nanos> latest_;       // the latest end so far
};

// The bytes of a piece that have moved by a time.
std::int64_t moved_of(const ByteSeries::Piece& piece, Nanos time);

// Things that stay somewhere from one time to another; who is there at a time.
class Stays {
 public:
  struct Stay {
    Nanos in = 0;
    Nanos out = 0;
    std::uint32_t who = 0;
  };

  void add(const Stay& stay) { stays_.push_back(stay); }
  void seal();
  // Those with in <= time < out, by `in`.
  std::vector<std::uint32_t> present(Nanos time) const;

 private:
  std::vector<Stay> stays_;
  std::vector<Nanos> latest_;
};

}  // namespace trainscope::analysis
