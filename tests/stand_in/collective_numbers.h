// A collective: what ranks call for, and what each gets of what all give, added rank by rank in
// FP32, or the largest of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainscope::stand_in {

enum class CollectiveKind : std::uint32_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kExchange  // of two: what one sends the other receives
};

// What all ranks must call for alike.
struct Asked {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::int32_t root = 0;
  std::uint64_t count = 0;     // as the call has it; of an exchange, what is sent,
  std::uint64_t received = 0;  // and what is received
  std::int32_t type = 0;       // a cudaDataType: 0 is FP32
  bool maximum = false;        // of an all-reduce

  bool operator==(const Asked&) const = default;
};

// What another rank must call for where one calls for this.
Asked other_side(const Asked& asked);

// "an all-reduce of 10 numbers", "a broadcast of 3 numbers from rank 1".
std::string words_of(const Asked& asked);

// Numbers in a rank's buffers; 0: it needs none.
std::size_t given_by(const Asked& asked, int rank, int ranks);
std::size_t gotten_by(const Asked& asked, int rank, int ranks);

// By rank.
using Numbers = std::vector<std::vector<float>>;
Numbers carry_out(const Asked& asked, const Numbers& given);

}  // namespace trainscope::stand_in
