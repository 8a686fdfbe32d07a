#include "stand_in/collective_numbers.h"

#include <algorithm>
#include <utility>

namespace trainscope::stand_in {

Asked other_side(const Asked& asked) {
  Asked other = asked;
  if (asked.kind == CollectiveKind::kExchange) std::swap(other.count, other.received);
  return other;
}

std::string words_of(const Asked& asked) {
  const std::string numbers = " of " + std::to_string(asked.count) + " numbers" +
                              (asked.type == 0 ? "" : " of type " + std::to_string(asked.type));
  const std::string root = "rank " + std::to_string(asked.root);
  switch (asked.kind) {
    case CollectiveKind::kAllReduce:
      return "an all-reduce" + numbers;
    case CollectiveKind::kAllGather:
      return "an all-gather" + numbers;
    case CollectiveKind::kReduceScatter:
      return "a reduce-scatter" + numbers;
    case CollectiveKind::kBroadcast:
      return "a broadcast" + numbers + " from " + root;
    case CollectiveKind::kReduce:
      return "a reduce" + numbers + " to " + root;
    case CollectiveKind::kExchange:
      return "a send" + numbers + " and a receive of " + std::to_string(asked.received);
  }
  return "something else";
}

std::size_t given_by(const Asked& asked, int rank, int ranks) {
  if (asked.kind == CollectiveKind::kBroadcast && rank != asked.root) return 0;
  const bool of_all = asked.kind == CollectiveKind::kReduceScatter;
  return asked.count * (of_all ? static_cast<std::size_t>(ranks) : 1);
}

std::size_t gotten_by(const Asked& asked, int rank, int ranks) {
  if (asked.kind == CollectiveKind::kReduce && rank != asked.root) return 0;
  if (asked.kind == CollectiveKind::kExchange) return asked.received;
  const bool of_all = asked.kind == CollectiveKind::kAllGather;
  return asked.count * (of_all ? static_cast<std::size_t>(ranks) : 1);
}

namespace {

std::vector<float> sum_of(const Numbers& given) {
  std::vector<float> sum(given.front().size());
  for (const auto& one : given)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
  return sum;
}

std::vector<float> largest_of(const Numbers& given) {
  std::vector<float> largest = given.front();
  for (const auto& one : given)
    for (std::size_t i = 0; i < largest.size(); ++i) largest[i] = std::max(largest[i], one[i]);
  return largest;
}

std::vector<float> joined(const Numbers& given) {
  std::vector<float> all;
  for (const auto& one : given) all.insert(all.end(), one.begin(), one.end());
  return all;
}

}  // namespace

Numbers carry_out(const Asked& asked, const Numbers& given) {
  Numbers gotten(given.size());
  const auto root = static_cast<std::size_t>(asked.root);
  switch (asked.kind) {
    case CollectiveKind::kAllReduce:
      gotten.assign(given.size(), asked.maximum ? largest_of(given) : sum_of(given));
      break;
    case CollectiveKind::kAllGather:
      gotten.assign(given.size(), joined(given));
      break;
    case CollectiveKind::kReduceScatter: {
      const std::vector<float> sum = sum_of(given);
      for (std::size_t rank = 0; rank < gotten.size(); ++rank) {
        const auto from = sum.begin() + static_cast<std::ptrdiff_t>(rank * asked.count);
        gotten[rank].assign(from, from + static_cast<std::ptrdiff_t>(asked.count));
      }
      break;
    }
    case CollectiveKind::kBroadcast:
      gotten.assign(given.size(), given[root]);
      break;
    case CollectiveKind::kReduce:
      gotten[root] = sum_of(given);
      break;
    case CollectiveKind::kExchange:
      gotten = {given[1], given[0]};
      break;
  }
  return gotten;
}

}  // namespace trainscope::stand_in
