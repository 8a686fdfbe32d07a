// What collectives do to numbers. A rank's numbers may lie in pieces, one after another.
//
// Sums add in the order of NCCL's rings (nccl: src/device/all_reduce.h, reduce.h), as if there were
// one channel and one pass over the data. An all-reduce cuts the numbers into as many parts as
// there are ranks: part p leaves rank p + 1, each rank that it comes to adds its own numbers, rank
// p as the last, and the sum goes round again. So parts are rounded in different orders, and all
// ranks hold the same bytes. A reduction goes round once, to its root from the rank behind it. Sums
// of a narrow type are rounded to it by each rank.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "host/cast.h"
#include "host/views.h"
#include "program/program.h"

namespace trainscope::host {

using Pieces = std::vector<Results>;

std::size_t size_of(const Pieces& pieces);

// The sum over ranks, of as many numbers as each rank's pieces have: at least one rank.
void sum_all(NumberFormat format, std::span<const Pieces> ranks, Results sum);
void sum_to(NumberFormat format, std::size_t root, std::span<const Pieces> ranks, Results sum);
// The largest of all ranks' numbers, place by place; a NaN makes a NaN.
void largest_of_all(std::span<const Pieces> ranks, Results largest);

// Carries a collective out: what each rank gives, and where it gets what it is given. The root is
// rank 0. An all-gather gives each rank what all send, rank after rank; a reduce-scatter gives rank
// p part p of the sum, as the first half of an all-reduce leaves it there. Of two ranks that send
// and receive, each gets what the other gives, if it gives anything. `room` holds numbers until the
// next call.
void carry_out(const program::Collective& collective, NumberFormat format,
               std::span<const Pieces> sends, std::span<const Pieces> receives,
               std::vector<float>& room);

}  // namespace trainscope::host
